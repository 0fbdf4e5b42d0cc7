// SPDX-License-Identifier: Apache-2.0

/// A downlink-TDoA measurement of a SESSION_INFO_NTF, at a tag, in its second version (measurement
/// type 6, FiRa 3.0). Only one family of implementations is known to use it.
public struct DownlinkTDoAMeasurementV2: DownlinkTDoAMessage, Hashable, Sendable {
  /// What a measurement holds: the message control field.
  public struct Control: RawRepresentable, Hashable, Sendable {
    /// The field on the wire.
    public let rawValue: UInt32
    /// Any value.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The TX timestamp is in the time base common to all anchors, not in the anchor's own.
    public var isCommonTimeBase: Bool { rawValue & 1 != 0 }
    /// Active ranging rounds are listed.
    public var hasActiveRounds: Bool { rawValue & 2 != 0 }
    /// The location of the anchor is given.
    public var hasLocation: Bool { rawValue & 4 != 0 }
    /// The cluster of clusters to which the anchor belongs is given.
    public var hasSuperclusterID: Bool { rawValue & 8 != 0 }
  }

  /// Bytes of the measurement, these two included, as announced. Some encoders announce too few.
  public var announcedLength: UInt16
  /// The anchor.
  public var peer: MACAddress
  /// Whether it was measured, and if not, why.
  public var status: Status
  /// 0 poll, 1 response, 2 final.
  public var messageType: UInt8
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
  /// When the tag received the message, in ticks, as it came: at most 255 bytes, little-endian.
  public var rxTimestampBytes: [UInt8]
  /// What is there. The fields below have to agree with it.
  public var control: Control
  /// When the anchor sent the message, in ticks, as it came: at most 255 bytes, little-endian.
  public var txTimestampBytes: [UInt8]
  /// Indexes of the rounds in which the anchor is active; nil where they are not listed.
  public var activeRounds: [UInt8]?
  /// The location of the anchor as it came, its type in the first byte; nil where it is not given.
  public var location: [UInt8]?
  /// The cluster of clusters to which the anchor belongs; nil where it is not given.
  public var superclusterID: UInt8?
  /// Bytes of unknown meaning between the fields and the announced end.
  public var unknownBytes: [UInt8]

  /// When the tag received the message, in ticks; nil where that is not known or longer than 64 bits.
  public var rxTimestamp: UInt64? { TLV(0, rxTimestampBytes).integer }
  /// When the anchor sent the message, in ticks; nil where that is not known or longer than 64 bits.
  public var txTimestamp: UInt64? { TLV(0, txTimestampBytes).integer }

  /// Reads one measurement; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, extendedAddress: Bool) throws(PayloadError) {
    let start = reader.offset
    announcedLength = try reader.u16("measurement size")
    peer = try reader.address(extended: extendedAddress)
    status = Status(rawValue: try reader.u8("status"))
    messageType = try reader.u8("message type")
    blockIndex = try reader.u16("block index")
    roundIndex = try reader.u8("round index")
    lineOfSight = LineOfSight(rawValue: try reader.u8("NLoS"))
    azimuth = try reader.angle("azimuth")
    elevation = try reader.angle("elevation")
    rawRSSI = try reader.u8("RSSI")
    rawAnchorClockOffset = try reader.i16("anchor CFO")
    rawClockOffset = try reader.i16("CFO")
    initiatorReplyTime = try reader.u32("initiator reply time")
    responderReplyTime = try reader.u32("responder reply time")
    timeOfFlight = try reader.u16("initiator-responder ToF")
    rxTimestampBytes = try reader.counted("RX timestamp")
    control = Control(rawValue: try reader.u32("message control"))
    txTimestampBytes = try reader.counted("TX timestamp")
    activeRounds = control.hasActiveRounds ? try reader.counted("active rounds") : nil
    location = control.hasLocation ? try reader.counted("anchor location") : nil
    superclusterID = control.hasSuperclusterID ? try reader.u8("supercluster id") : nil
    let rest = Int(announcedLength) - (reader.offset - start)
    unknownBytes = rest > 0 ? try reader.bytes(rest, "measurement") : []
  }

  /// Writes one measurement.
  public func encode(into writer: inout PayloadWriter) {
    writer.u16(announcedLength)
    writer.bytes(peer.bytes)
    writer.u8(status.rawValue)
    writer.u8(messageType)
    writer.u16(blockIndex)
    writer.u8(roundIndex)
    writer.u8(lineOfSight.rawValue)
    writer.angle(azimuth)
    writer.angle(elevation)
    writer.u8(rawRSSI)
    writer.i16(rawAnchorClockOffset)
    writer.i16(rawClockOffset)
    writer.u32(initiatorReplyTime)
    writer.u32(responderReplyTime)
    writer.u16(timeOfFlight)
    writer.counted(rxTimestampBytes)
    writer.u32(control.rawValue)
    writer.counted(txTimestampBytes)
    if let activeRounds { writer.counted(activeRounds) }
    if let location { writer.counted(location) }
    if let superclusterID { writer.u8(superclusterID) }
    writer.bytes(unknownBytes)
  }

  /// Reads `count` measurements; nil when they do not fit.
  static func list(
    _ reader: inout PayloadReader, count: UInt8, extended: Bool
  ) -> [DownlinkTDoAMeasurementV2]? {
    var attempt = reader
    var list: [DownlinkTDoAMeasurementV2] = []
    for _ in 0..<count {
      guard
        let measurement = try? DownlinkTDoAMeasurementV2(
          from: &attempt, extendedAddress: extended)
      else { return nil }
      list.append(measurement)
    }
    reader = attempt
    return list
  }
}
