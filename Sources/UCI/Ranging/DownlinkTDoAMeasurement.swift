// SPDX-License-Identifier: Apache-2.0

/// A downlink-TDoA measurement of a SESSION_INFO_NTF, at a tag, in its first version (measurement
/// type 2). Its length depends on what `control` says is there.
public struct DownlinkTDoAMeasurement: DownlinkTDoAMessage, Hashable, Sendable {
  /// What a measurement holds: the message control field.
  public struct Control: RawRepresentable, Hashable, Sendable {
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
  public var peer: MACAddress
  /// Whether it was measured, and if not, why.
  public var status: Status
  /// 0 poll, 1 response, 2 final.
  public var messageType: UInt8
  /// What is there and how long it is. The fields below have to agree with it.
  public var control: Control
  /// The block of the message.
  public var blockIndex: UInt16
  /// The ranging round of the message.
  public var roundIndex: UInt8
  /// The chip's judgement of the path.
  public var lineOfSight: LineOfSight
  /// Where the anchor is, seen from this device.
  public var azimuth: Angle
  /// Where the anchor is, seen from this device.
  public var elevation: Angle
  /// Received power as an unsigned Q7.1 magnitude: -rawRSSI/2 dBm; 0: not available.
  public var rawRSSI: UInt8
  /// When the anchor sent the message, in ticks; 40 or 64 bits.
  public var txTimestamp: UInt64
  /// When the tag received it, in ticks; 40 or 64 bits.
  public var rxTimestamp: UInt64
  /// Clock offset between the responder and the initiator in Q6.10 ppm.
  public var rawAnchorClockOffset: Int16
  /// Clock offset measured by the tag in Q6.10 ppm.
  public var rawClockOffset: Int16
  /// Ticks.
  public var initiatorReplyTime: UInt32
  /// Ticks.
  public var responderReplyTime: UInt32
  /// Time of flight between initiator and responder in ticks.
  public var timeOfFlight: UInt16
  /// The location of the anchor as it came: none, 12 bytes WGS-84 or 10 bytes relative.
  public var location: [UInt8]
  /// Indexes of the rounds in which the anchor is active.
  public var activeRounds: [UInt8]

  /// Reads one measurement; throws `PayloadError` where the payload ends, and for a location
  /// of the reserved type, because its length is not known.
  public init(from reader: inout PayloadReader, extendedAddress: Bool) throws(PayloadError) {
    peer = try reader.address(extended: extendedAddress)
    status = Status(rawValue: try reader.u8("status"))
    messageType = try reader.u8("message type")
    control = Control(rawValue: try reader.u16("message control"))
    guard let locationLength = control.locationLength else {
      throw PayloadError.invalid(field: "message control", reason: "the location type is reserved")
    }
    blockIndex = try reader.u16("block index")
    roundIndex = try reader.u8("round index")
    lineOfSight = LineOfSight(rawValue: try reader.u8("NLoS"))
    azimuth = try reader.angle("azimuth")
    elevation = try reader.angle("elevation")
    rawRSSI = try reader.u8("RSSI")
    txTimestamp = try reader.number(bytes: control.txTimestampLength, "TX timestamp")
    rxTimestamp = try reader.number(bytes: control.rxTimestampLength, "RX timestamp")
    rawAnchorClockOffset = try reader.i16("anchor CFO")
    rawClockOffset = try reader.i16("CFO")
    initiatorReplyTime = try reader.u32("initiator reply time")
    responderReplyTime = try reader.u32("responder reply time")
    timeOfFlight = try reader.u16("initiator-responder ToF")
    location = try reader.bytes(locationLength, "anchor location")
    activeRounds = try reader.bytes(control.activeRoundCount, "active rounds")
  }

  /// Writes one measurement.
  public func encode(into writer: inout PayloadWriter) {
    writer.bytes(peer.bytes)
    writer.u8(status.rawValue)
    writer.u8(messageType)
    writer.u16(control.rawValue)
    writer.u16(blockIndex)
    writer.u8(roundIndex)
    writer.u8(lineOfSight.rawValue)
    writer.angle(azimuth)
    writer.angle(elevation)
    writer.u8(rawRSSI)
    writer.number(txTimestamp, bytes: control.txTimestampLength)
    writer.number(rxTimestamp, bytes: control.rxTimestampLength)
    writer.i16(rawAnchorClockOffset)
    writer.i16(rawClockOffset)
    writer.u32(initiatorReplyTime)
    writer.u32(responderReplyTime)
    writer.u16(timeOfFlight)
    writer.bytes(location)
    writer.bytes(activeRounds)
  }
}
