// SPDX-License-Identifier: Apache-2.0

/// A message of one-way ranging, as a line of `uwbctl range --format json` names it.
package struct OneWayLine: Sendable, Hashable {
  package enum Message: Sendable, Hashable {
    /// A message of an anchor, at a tag of downlink TDoA. The index of the anchor is not set.
    case downlink(AnchorStamp)
    /// A blink of a tag, at an anchor of uplink TDoA.
    case blink(frame: UInt32, Stamp)
    /// A frame of a synchronisation anchor with its time of sending, at an anchor of uplink TDoA.
    case sync(sent: Stamp, Stamp)
    /// A frame of an advertiser.
    case frame
  }

  /// A stamp of a counter.
  package struct Stamp: Sendable, Hashable {
    package var ticks: UInt64
    /// The width of the counter.
    package var bits: Int

    package init(_ ticks: UInt64, bits: Int = 40) { (self.ticks, self.bits) = (ticks, bits) }
  }

  /// The time in seconds by the clock of the source.
  package var time: Double
  /// The name of the receiver.
  package var device: String
  /// The names of the sender, the most certain one first: its own name, then its address.
  package var senders: [String]
  package var message: Message
  /// The direction from the receiver to the sender in radians, positive to the right. Zero is the
  /// front of the receiver.
  package var azimuth: Double?
  package var elevation: Double?
  /// The probability that the direct path is blocked.
  package var blocked = 0.0

  package init(time: Double, device: String, senders: [String], _ message: Message) {
    (self.time, self.device, self.senders) = (time, device, senders)
    self.message = message
  }

  /// The assumed probability if a chip reports that the path is blocked.
  package static let reportedBlocked = 0.5
}

extension OneWayLine {
  /// Returns whether the fields belong to a message of one-way ranging.
  package static func isMessage(_ field: (String) -> RangeLine.Field?) -> Bool {
    guard case .text(let kind)? = field("kind") else { return false }
    return ["downlink", "uplink", "angle"].contains(kind)
  }

  /// Reads the fields of a line.
  ///
  /// - Parameter device: the board at this end.
  /// - Returns: nil for a line of another kind, and for a message that was not received.
  package init?(
    device: String?, _ field: (String) -> RangeLine.Field?
  ) throws(RangeLine.Problem) {
    guard Self.isMessage(field) else { return nil }
    guard let device else {
      throw RangeLine.Problem(
        field: "device", reason: "is missing; BOARD=SOURCE names the board at this end")
    }
    guard let time = Self.number("t", field) ?? Self.number("time_s", field) else {
      throw RangeLine.Problem(field: "time_s", reason: "is missing; it is the time in seconds")
    }
    guard case .text(let peer)? = field("peer") else {
      throw RangeLine.Problem(field: "peer", reason: "is missing; it is the address of the sender")
    }
    guard Self.number("status_code", field) == 0, let message = try Self.message(field) else {
      return nil
    }
    var senders = [peer]
    if case .text(let name)? = field("device_id"), !name.isEmpty { senders.insert(name, at: 0) }
    self.init(time: time, device: device, senders: senders, message)
    func angle(_ name: String) -> Double? {
      guard Self.number("\(name)_fom", field) ?? 0 > 0 else { return nil }
      return Self.number("\(name)_deg", field).map { $0 * .pi / 180 }
    }
    (azimuth, elevation) = (angle("azimuth"), angle("elevation"))
    if case .flag(true)? = field("nlos") { blocked = Self.reportedBlocked }
  }

  /// Returns the message of a line; nil for a line without a stamp.
  private static func message(
    _ field: (String) -> RangeLine.Field?
  ) throws(RangeLine.Problem) -> Message? {
    guard case .text(let word)? = field("message") else { return nil }
    switch word {
    case "poll": return downlink(.poll, field).map { .downlink($0) }
    case "response": return downlink(.response, field).map { .downlink($0) }
    case "final": return downlink(.final, field).map { .downlink($0) }
    case "frame": return .frame
    case "blink":
      guard let frame = number("frame", field), let received = stamp("rx", field),
        0...0xFFFF_FFFF ~= frame
      else { return nil }
      return .blink(frame: UInt32(frame), received)
    case "sync":
      guard let received = stamp("rx", field) else { return nil }
      guard let sent = stamp("tx", field) else {
        throw RangeLine.Problem(
          field: "tx_ticks",
          reason: "is missing; the synchronisation anchor has to send its time in its frames")
      }
      return .sync(sent: sent, received)
    default: return nil
    }
  }

  private static func downlink(
    _ kind: AnchorStamp.Kind, _ field: (String) -> RangeLine.Field?
  ) -> AnchorStamp? {
    guard let block = number("block", field), let round = number("round", field),
      0...255 ~= round, let sent = stamp("tx", field), let received = stamp("rx", field)
    else { return nil }
    var message = AnchorStamp(
      anchor: 0, kind, block: Int(block), round: Int(round), sent: sent.ticks,
      received: received.ticks)
    message.bits = (sent.bits, received.bits)
    if case .flag(true)? = field("common_time_base") { message.isCommonTimeBase = true }
    message.reply = number("responder_reply_ticks", field) ?? 0
    message.carrier = number("cfo_ppm", field).map { $0 * 1e-6 }
    message.anchorOffset = number("anchor_cfo_ppm", field).map { $0 * -1e-6 }
    message.flight = number("tof_ticks", field)
    return message
  }

  private static func stamp(_ end: String, _ field: (String) -> RangeLine.Field?) -> Stamp? {
    let ticks: UInt64? =
      switch field("\(end)_ticks") {
      case .whole(let ticks): ticks
      case .number(let ticks) where 0..<0x1p63 ~= ticks: UInt64(ticks)
      case .text(let text): UInt64(text)
      default: nil
      }
    return ticks.map { Stamp($0, bits: number("\(end)_bits", field) == 64 ? 64 : 40) }
  }

  private static func number(_ key: String, _ field: (String) -> RangeLine.Field?) -> Double? {
    let value: Double? =
      switch field(key) {
      case .number(let number): number
      case .whole(let number): Double(number)
      // A cell of a table is text, unlike a number of JSON.
      case .text(let text): Double(text)
      default: nil
      }
    guard let value, value.isFinite, abs(value) < 0x1p63 else { return nil }
    return value
  }
}
