// SPDX-License-Identifier: Apache-2.0

/// The lines of `uwbctl range --role dl-tdoa-tag --format json` of one tag, as differences of
/// distances.
package struct DownlinkLines: Sendable {
  private var rounds = DownlinkRounds()
  private var anchors: [String] = []
  /// Anchors beyond this many are ignored: a source may invent ever new ones.
  private static let mostAnchors = 256

  package init() {}

  /// Adds a line.
  ///
  /// - Parameters:
  ///   - device: the tag.
  ///   - field: the value of a key; nil for a missing one.
  /// - Returns: the differences of the rounds that the line completes; nil for a line of another
  ///   kind.
  package mutating func add(
    device: String?, _ field: (String) -> RangeLine.Field?
  ) throws(RangeLine.Problem) -> [RangeLine]? {
    guard field("kind") == .text("downlink") else { return nil }
    guard let device else {
      throw RangeLine.Problem(
        field: "device", reason: "is missing; BOARD=SOURCE names the tag at this end")
    }
    guard case .number(let time)? = field("time_s"), case .text(let peer)? = field("peer") else {
      throw RangeLine.Problem(field: "peer", reason: "is missing, or time_s")
    }
    guard let message = message(from: peer, field) else { return [] }
    return rounds.add(message).flatMap { arrivals in
      let first = arrivals.entries[0]
      return arrivals.entries.dropFirst().map { entry in
        let variance = first.deviation * first.deviation + entry.deviation * entry.deviation
        return RangeLine(
          time: time, tag: device, from: anchors[first.anchor], to: anchors[entry.anchor],
          difference: entry.metres - first.metres, deviation: variance.squareRoot())
      }
    }
  }

  /// Returns the message of a line; nil for one that was not received, or that lacks a stamp.
  private mutating func message(
    from peer: String, _ field: (String) -> RangeLine.Field?
  ) -> AnchorStamp? {
    func number(_ key: String) -> Double? {
      guard case .number(let value)? = field(key), value.isFinite, abs(value) < 0x1p63 else {
        return nil
      }
      return value
    }
    guard case .text(let word)? = field("message"),
      let kind = ["poll": AnchorStamp.Kind.poll, "response": .response, "final": .final][word],
      number("status_code") == 0, let block = number("block"), let round = number("round"),
      0...255 ~= round,
      let sent = number("tx_ticks"), let received = number("rx_ticks"), sent >= 0, received >= 0,
      let index = index(of: peer)
    else { return nil }
    var message = AnchorStamp(
      anchor: index, kind, block: Int(block), round: Int(round), sent: UInt64(sent),
      received: UInt64(received))
    message.bits = (bits(number("tx_bits")), bits(number("rx_bits")))
    message.reply = number("responder_reply_ticks") ?? 0
    message.carrier = number("cfo_ppm").map { $0 * 1e-6 }
    message.anchorOffset = number("anchor_cfo_ppm").map { $0 * 1e-6 }
    message.flight = number("tof_ticks")
    return message
  }

  private func bits(_ value: Double?) -> Int { value.map { $0 == 64 ? 64 : 40 } ?? 40 }

  private mutating func index(of anchor: String) -> Int? {
    if let index = anchors.firstIndex(of: anchor) { return index }
    guard anchors.count < Self.mostAnchors else { return nil }
    anchors.append(anchor)
    return anchors.count - 1
  }
}
