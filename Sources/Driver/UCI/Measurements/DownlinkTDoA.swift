// SPDX-License-Identifier: Apache-2.0

/// A message of an anchor, received by a tag: the common part of both versions of downlink TDoA.
public struct DownlinkTDoAMessage: Hashable, Sendable {
  /// The anchor.
  public var peer = MACAddress(0)
  /// OK if the message was measured, or else the reason of the failure.
  public var status = Status.ok
  /// 0 poll, 1 response, 2 final.
  public var messageType: UInt8 = 0
  /// The block of the message.
  public var blockIndex: UInt16 = 0
  /// The ranging round of the message.
  public var roundIndex: UInt8 = 0
  /// The chip's judgement of the path.
  public var lineOfSight = LineOfSight.notDetermined
  /// The azimuth of the anchor, seen from this device.
  public var azimuth = Angle.none
  /// The elevation of the anchor, seen from this device.
  public var elevation = Angle.none
  /// Received power as an unsigned Q7.1 magnitude: -rawRSSI/2 dBm; 0 and 255: not
  /// available.
  package var rawRSSI: UInt8 = 0

  package init() {}

  /// Clock offset between the responder and the initiator in Q6.10 ppm, positive if the responder's
  /// clock is slower: the responder measures it as the tag measures its own clock offset.
  ///
  /// Sources of the sign: Apple's header of NIDLTDOAMeasurement (iOS 27), which has the same value,
  /// and Qorvo's examples of single-sided ranging for the DW3000. FiRa's text is not public.
  package var rawAnchorClockOffset: Int16 = 0
  /// Clock offset measured by the tag in Q6.10 ppm.
  package var rawClockOffset: Int16 = 0
  /// The reply time of the initiator in ticks.
  public var initiatorReplyTime: UInt32 = 0
  /// The reply time of the responder in ticks.
  public var responderReplyTime: UInt32 = 0
  /// Time of flight between initiator and responder in ticks.
  public var timeOfFlight: UInt16 = 0

  /// Ticks of timestamps and reply times in a second: 128 · 499.2 MHz, about 15.65 ps each.
  public static var ticksPerSecond: Double { 63_897_600_000 }
  /// Clock offset between the responder and the initiator in ppm, positive if the responder's clock
  /// is slower.
  public var anchorClockOffsetPPM: Double { Double(rawAnchorClockOffset) / 1024 }
  /// Clock offset measured by the tag in ppm, positive if the tag's clock is slower.
  public var clockOffsetPPM: Double { Double(rawClockOffset) / 1024 }
  /// Received power in dBm; nil when the chip reported none.
  public var rssiDBm: Double? { rawRSSI == 0 || rawRSSI == 0xFF ? nil : -Double(rawRSSI) / 2 }
}

/// A downlink-TDoA measurement of a SESSION_INFO_NTF, at a tag, in its first version (measurement
/// type 2). Its length depends on `control`.
@dynamicMemberLookup
package struct DownlinkTDoAMeasurement: MeasurementFields, Hashable, Sendable {
  /// The contents of a measurement: the message control field.
  package struct Control: WireCode, Hashable {
    /// The field on the wire.
    package let rawValue: UInt16
    /// Creates a field from any value.
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Bytes of the TX timestamp: 5 or 8.
    package var txTimestampLength: Int { Self.timestampLength(rawValue >> 1) }
    /// Bytes of the RX timestamp: 5 or 8.
    package var rxTimestampLength: Int { Self.timestampLength(rawValue >> 3) }
    /// The form of the location of the anchor: 0 none, 1 WGS-84, 2 relative.
    package var locationType: UInt8 { UInt8(rawValue >> 5 & 3) }
    /// Bytes of the location; nil for the reserved code.
    package var locationLength: Int? { [0, 12, 10, nil][Int(locationType)] }
    /// The number of listed active ranging rounds, 0…15.
    package var activeRoundCount: Int { Int(rawValue >> 7 & 15) }

    // Reserved codes are read like 40 bits: test vectors of AOSP use them this way.
    private static func timestampLength(_ code: UInt16) -> Int { code & 3 == 1 ? 8 : 5 }
  }

  /// The common part of both versions.
  package var message = DownlinkTDoAMessage()
  /// The optional parts and their lengths. The fields below have to agree with this field.
  package var control = Control(rawValue: 0)
  /// Whether the TX timestamp is in the time base common to all anchors, not in the anchor's own.
  package var isCommonTimeBase: Bool { control.rawValue & 1 != 0 }
  /// The time at which the anchor sent the message, in ticks; 40 or 64 bits.
  package var txTimestamp: UInt64 = 0
  /// The time at which the tag received the message, in ticks; 40 or 64 bits.
  package var rxTimestamp: UInt64 = 0
  /// The raw location of the anchor: none, 12 bytes WGS-84 or 10 bytes relative.
  package var location: [UInt8] = []
  /// Indexes of the rounds in which the anchor is active.
  package var activeRounds: [UInt8] = []

  package init() {}

  /// Returns a field of the common part.
  package subscript<Value>(dynamicMember path: KeyPath<DownlinkTDoAMessage, Value>) -> Value {
    message[keyPath: path]
  }

  package mutating func visit<C: FieldCoder & ~Escapable>(
    _ coder: inout C, isExtended: Bool
  ) throws(PayloadError) {
    try coder.address("mac", &message.peer, extended: isExtended)
    try coder.code("status", &message.status)
    try coder.field("message", &message.messageType)
    try coder.code("message_control", &control)
    try coder.require(
      control.locationLength != nil, "message_control", "the location type is reserved")
    try coder.field("block", &message.blockIndex)
    try coder.field("round", &message.roundIndex)
    try coder.code("nlos", &message.lineOfSight)
    try coder.angle("azimuth", &message.azimuth)
    try coder.angle("elevation", &message.elevation)
    try coder.field("rssi", &message.rawRSSI)
    try coder.integer("tx_timestamp", &txTimestamp, width: control.txTimestampLength) { .plain }
    try coder.integer("rx_timestamp", &rxTimestamp, width: control.rxTimestampLength) { .plain }
    try coder.field("anchor_cfo", &message.rawAnchorClockOffset)
    try coder.field("cfo", &message.rawClockOffset)
    try coder.field("initiator_reply_time", &message.initiatorReplyTime)
    try coder.field("responder_reply_time", &message.responderReplyTime)
    try coder.field("time_of_flight", &message.timeOfFlight)
    try coder.bytes("location", &location, .exactly(control.locationLength ?? 0))
    try coder.bytes("active_rounds", &activeRounds, .exactly(control.activeRoundCount))
  }
}

/// A downlink-TDoA measurement of a SESSION_INFO_NTF, at a tag, in its second version (measurement
/// type 6, FiRa 3.0). Only one family of implementations is known to use it.
@dynamicMemberLookup
package struct DownlinkTDoAMeasurementV2: MeasurementFields, Hashable, Sendable {
  /// The contents of a measurement: the message control field.
  package struct Control: WireCode, Hashable {
    /// The field on the wire.
    package let rawValue: UInt32
    /// Creates a field from any value.
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Whether active ranging rounds are listed.
    package var hasActiveRounds: Bool { rawValue & 2 != 0 }
    /// Whether the location of the anchor is included.
    package var hasLocation: Bool { rawValue & 4 != 0 }
    /// Whether the cluster of clusters to which the anchor belongs is included.
    package var hasSuperclusterID: Bool { rawValue & 8 != 0 }
  }

  /// The common part of both versions.
  package var message = DownlinkTDoAMessage()
  /// The announced length of the measurement in bytes, including these two bytes. Some encoders
  /// announce too few.
  package var announcedLength: UInt16 = 0
  /// The raw time of reception at the tag, in ticks: at most 255 bytes, little-endian.
  package var rxTimestampBytes: [UInt8] = []
  /// The optional parts. The fields below have to agree with this field.
  package var control = Control(rawValue: 0)
  /// Whether the TX timestamp is in the time base common to all anchors, not in the anchor's own.
  package var isCommonTimeBase: Bool { control.rawValue & 1 != 0 }
  /// The raw time of sending at the anchor, in ticks: at most 255 bytes, little-endian.
  package var txTimestampBytes: [UInt8] = []
  /// Indexes of the rounds in which the anchor is active; nil where they are not listed.
  package var activeRounds: [UInt8]?
  /// The raw location of the anchor, its type in the first byte; nil where it is missing.
  package var location: [UInt8]?
  /// The cluster of clusters to which the anchor belongs; nil where it is missing.
  package var superclusterID: UInt8?
  /// Bytes of unknown meaning between the fields and the announced end.
  package var unknownBytes: [UInt8] = []

  /// The time of reception at the tag, in ticks; nil if it is unknown or longer than 64 bits.
  package var rxTimestamp: UInt64? { TLV(0, rxTimestampBytes).integer }
  /// The time of sending at the anchor, in ticks; nil if it is unknown or longer than 64 bits.
  package var txTimestamp: UInt64? { TLV(0, txTimestampBytes).integer }

  package init() {}

  /// Returns a field of the common part.
  package subscript<Value>(dynamicMember path: KeyPath<DownlinkTDoAMessage, Value>) -> Value {
    message[keyPath: path]
  }

  package mutating func visit<C: FieldCoder & ~Escapable>(
    _ coder: inout C, isExtended: Bool
  ) throws(PayloadError) {
    let start = coder.position
    try coder.field("size", &announcedLength)
    try coder.address("mac", &message.peer, extended: isExtended)
    try coder.code("status", &message.status)
    try coder.field("message", &message.messageType)
    try coder.field("block", &message.blockIndex)
    try coder.field("round", &message.roundIndex)
    try coder.code("nlos", &message.lineOfSight)
    try coder.angle("azimuth", &message.azimuth)
    try coder.angle("elevation", &message.elevation)
    try coder.field("rssi", &message.rawRSSI)
    try coder.field("anchor_cfo", &message.rawAnchorClockOffset)
    try coder.field("cfo", &message.rawClockOffset)
    try coder.field("initiator_reply_time", &message.initiatorReplyTime)
    try coder.field("responder_reply_time", &message.responderReplyTime)
    try coder.field("time_of_flight", &message.timeOfFlight)
    try coder.bytes("rx_timestamp", &rxTimestampBytes, .u8)
    try coder.code("message_control", &control)
    try coder.bytes("tx_timestamp", &txTimestampBytes, .u8)
    try coder.optionalBytes("active_rounds", &activeRounds, if: control.hasActiveRounds)
    try coder.optionalBytes("location", &location, if: control.hasLocation)
    try coder.optional("supercluster_id", &superclusterID, if: control.hasSuperclusterID)
    let rest = max(0, Int(announcedLength) - (coder.position - start))
    try coder.bytes("unknown", &unknownBytes, .exactly(rest))
  }
}

extension FieldCoder where Self: ~Escapable {
  @_lifetime(self: copy self)
  fileprivate mutating func optionalBytes(
    _ name: StaticString, _ value: inout [UInt8]?, if isPresent: Bool
  ) throws(PayloadError) {
    try optional(
      name, &value, blank: [], .null, { _ in isPresent }
    ) { c, bytes throws(PayloadError) in try c.bytes(name, &bytes, .u8) }
  }
}
