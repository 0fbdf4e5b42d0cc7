// SPDX-License-Identifier: Apache-2.0

import UCI

/// Where messages name their session, and by which name.
///
/// Since FiRa 2.0 the chip names a session; before, its name is the host's own session id, and a
/// host with another id than the recorded one must be told its own.
struct SessionTokens: Sendable {
  /// What the recording calls a session, and what the host of now calls it.
  private var names: [(recorded: UInt32, host: UInt32)] = []

  /// From now on the host's session is the recorded one.
  mutating func rename(_ recorded: UInt32, to host: UInt32) {
    names.removeAll { $0.recorded == recorded || $0.host == host }
    if recorded != host { names.append((recorded, host)) }
  }

  /// A request in the words of the recording.
  func recorded(_ request: Recording.Request) -> Recording.Request {
    guard request.opcode != .sessionInit, let token = request.token,
      let name = names.first(where: { $0.host == token }),
      let offset = Self.offset(type: request.type, opcode: request.opcode)
    else { return request }
    var request = request
    Self.put(name.recorded, into: &request.payload, at: offset)
    return request
  }

  /// A packet of the chip in the words of the host.
  func forHost(_ answer: Recording.Answer) -> [UInt8] {
    guard !names.isEmpty, answer.isFirst,
      let header = try? PacketHeader(parsing: answer.bytes.span.bytes),
      let offset = Self.offset(type: header.type, opcode: header.opcode)
    else { return answer.bytes }
    let payload = Array(answer.bytes[PacketHeader.length...])
    let token = Self.token(type: header.type, opcode: header.opcode, payload: payload)
    guard let name = names.first(where: { $0.recorded == token }) else { return answer.bytes }
    var bytes = answer.bytes
    Self.put(name.host, into: &bytes, at: PacketHeader.length + offset)
    return bytes
  }

  /// The session that a message is about; nil where it names none.
  static func token(type: MessageType, opcode: Opcode, payload: [UInt8]) -> UInt32? {
    guard let offset = offset(type: type, opcode: opcode), payload.count >= offset + 4 else {
      return nil
    }
    return payload[offset..<offset + 4].reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }

  private static func offset(type: MessageType, opcode: Opcode) -> Int? {
    let isSession = opcode.group == .sessionConfig || opcode.group == .sessionControl
    switch type {
    case .command: return isSession && opcode != .sessionGetCount ? 0 : nil
    case .notification: return isSession ? (opcode == .sessionInfo ? 4 : 0) : nil
    case .data: return 0
    default: return nil
    }
  }

  private static func put(_ value: UInt32, into bytes: inout [UInt8], at offset: Int) {
    for index in 0..<4 { bytes[offset + index] = UInt8(truncatingIfNeeded: value >> (8 * index)) }
  }
}
