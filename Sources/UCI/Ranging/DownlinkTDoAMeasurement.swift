// SPDX-License-Identifier: Apache-2.0

/// A downlink-TDoA measurement of a SESSION_INFO_NTF, at a tag, in its first version (measurement
/// type 2). Its length depends on what `control` says is there.
public struct DownlinkTDoAMeasurement: DownlinkTDoAMessage, Hashable, Sendable {
  /// What a measurement holds: the message control field.
  public struct Control: WireCode, Hashable {
    /// The field on the wire.
    public let rawValue: UInt16
    /// Any value.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The TX timestamp is in the time base common to all anchors, not in the anchor's own.
    public var isCommonTimeBase: Bool { rawValue & 1 != 0 }
    /// Bytes of the TX timestamp: 5 or 8.
    public var txTimestampLength: Int { Self.timestampLength(rawValue >> 1) }
    /// Bytes of the RX timestamp: 5 or 8.
    public var rxTimestampLength: Int { Self.timestampLength(rawValue >> 3) }
    /// How the location of the anchor is given: 0 not at all, 1 WGS-84, 2 relative.
    public var locationType: UInt8 { UInt8(rawValue >> 5 & 3) }
    /// Bytes of the location; nil for the reserved code.
    public var locationLength: Int? { [0, 12, 10, nil][Int(locationType)] }
    /// How many active ranging rounds are listed, 0…15.
    public var activeRoundCount: Int { Int(rawValue >> 7 & 15) }

    // Reserved codes are read like 40 bits: test vectors of AOSP use them so.
    private static func timestampLength(_ code: UInt16) -> Int { code & 3 == 1 ? 8 : 5 }
  }

  /// The anchor.
  public var peer = MACAddress(0)
  /// Whether it was measured, and if not, why.
  public var status = Status.ok
  /// 0 poll, 1 response, 2 final.
  public var messageType: UInt8 = 0
  /// What is there and how long it is. The fields below have to agree with it.
  public var control = Control(rawValue: 0)
  /// The block of the message.
  public var blockIndex: UInt16 = 0
  /// The ranging round of the message.
  public var roundIndex: UInt8 = 0
  /// The chip's judgement of the path.
  public var lineOfSight = LineOfSight.notDetermined
  /// Where the anchor is, seen from this device.
  public var azimuth = Angle.none
  /// Where the anchor is, seen from this device.
  public var elevation = Angle.none
  /// Received power as an unsigned Q7.1 magnitude: -rawRSSI/2 dBm; 0: not available.
  public var rawRSSI: UInt8 = 0
  /// When the anchor sent the message, in ticks; 40 or 64 bits.
  public var txTimestamp: UInt64 = 0
  /// When the tag received it, in ticks; 40 or 64 bits.
  public var rxTimestamp: UInt64 = 0
  /// Clock offset between the responder and the initiator in Q6.10 ppm.
  public var rawAnchorClockOffset: Int16 = 0
  /// Clock offset measured by the tag in Q6.10 ppm.
  public var rawClockOffset: Int16 = 0
  /// Ticks.
  public var initiatorReplyTime: UInt32 = 0
  /// Ticks.
  public var responderReplyTime: UInt32 = 0
  /// Time of flight between initiator and responder in ticks.
  public var timeOfFlight: UInt16 = 0
  /// The location of the anchor as it came: none, 12 bytes WGS-84 or 10 bytes relative.
  public var location: [UInt8] = []
  /// Indexes of the rounds in which the anchor is active.
  public var activeRounds: [UInt8] = []

  package init() {}
}

extension DownlinkTDoAMeasurement: MeasurementFields {
  package mutating func visit<C: FieldCoder & ~Escapable>(
    _ coder: inout C, isExtended: Bool
  ) throws(PayloadError) {
    try coder.address("mac", &peer, extended: isExtended)
    try coder.code("status", &status)
    try coder.field("message", &messageType)
    try coder.code("message_control", &control)
    try coder.require(
      control.locationLength != nil, "message_control", "the location type is reserved")
    try coder.field("block", &blockIndex)
    try coder.field("round", &roundIndex)
    try coder.code("nlos", &lineOfSight)
    try coder.angle("azimuth", &azimuth)
    try coder.angle("elevation", &elevation)
    try coder.field("rssi", &rawRSSI)
    try coder.integer("tx_timestamp", &txTimestamp, width: control.txTimestampLength) { .plain }
    try coder.integer("rx_timestamp", &rxTimestamp, width: control.rxTimestampLength) { .plain }
    try coder.field("anchor_cfo", &rawAnchorClockOffset)
    try coder.field("cfo", &rawClockOffset)
    try coder.field("initiator_reply_time", &initiatorReplyTime)
    try coder.field("responder_reply_time", &responderReplyTime)
    try coder.field("time_of_flight", &timeOfFlight)
    try coder.bytes("location", &location, .exactly(control.locationLength ?? 0))
    try coder.bytes("active_rounds", &activeRounds, .exactly(control.activeRoundCount))
  }
}
