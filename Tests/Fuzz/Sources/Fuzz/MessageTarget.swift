// SPDX-License-Identifier: Apache-2.0
internal import UCI
internal import UCIReference

/// The codec: a byte for the dialect, then a packet of any length with its header.
enum MessageTarget: Target {
  static let name = "message"

  static func run(_ input: [UInt8]) {
    guard let first = input.first else { return }
    let dialect = Dialect(number: first)
    let packet = Array(input.dropFirst())
    do {
      let message = try Message(packet: packet, dialect: dialect)
      check(message, payload: Array(packet.dropFirst(4)), dialect)
    } catch {
      Properties.printable(error.description)
    }
    // The payload as a reassembled message, whatever length its header has.
    guard let header = try? PacketHeader(parsing: packet.span.bytes) else { return }
    let payload = Array(packet.dropFirst(4))
    check(
      Message(
        type: header.type, opcode: header.opcode, payload: payload.span.bytes, dialect: dialect),
      payload: payload, dialect)
    view(payload, dialect)
  }

  private static func check(_ message: Message, payload: [UInt8], _ dialect: Dialect) {
    if message.payload(dialect: dialect) != payload {
      fail("\(message.type) \(message.opcode) is not encoded as it was")
    }
    Properties.check(message.fields(dialect: dialect), from: payload.count)
    Properties.printable(
      MessageCatalog.name(
        type: message.type, opcode: message.opcode, dialect: dialect))
    _ = message.status?.explanation
  }

  /// The view in place accepts a payload exactly when the value does, and reads the same fields.
  private static func view(_ payload: [UInt8], _ dialect: Dialect) {
    let message = Message(
      type: .notification, opcode: .sessionInfo, payload: payload.span.bytes, dialect: dialect)
    let value: SessionInfo? =
      if case .payload(let info as SessionInfo) = message.content { info } else { nil }
    guard let view = try? SessionInfoView(payload.span.bytes) else {
      if let value, value.type == .twoWay { fail("the view refuses what the value takes") }
      return
    }
    var seen: [TwoWayMeasurement] = []
    view.forEachTwoWayMeasurement { seen.append($0) }
    guard let value, case .twoWay(let list) = value.measurements else { return }
    if list != seen || value.sequenceNumber != view.sequenceNumber
      || value.sessionToken != view.sessionToken
    {
      fail("the view reads something else than the value")
    }
  }

  static func seeds(_ frames: [[UInt8]]) -> [[UInt8]] {
    frames.flatMap { frame in
      [1, 4, 7, 10, 2].map { [$0 as UInt8] + frame }
    }
  }
}
