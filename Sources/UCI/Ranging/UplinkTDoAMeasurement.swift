// SPDX-License-Identifier: Apache-2.0

/// An uplink-TDoA measurement of a SESSION_INFO_NTF, at an anchor. Its length depends on what
/// `control` says is there.
public struct UplinkTDoAMeasurement: Hashable, Sendable {
  /// What a measurement holds: the message control field.
  public struct Control: RawRepresentable, Hashable, Sendable {
    /// The field on the wire; the upper byte is 0 where the field has only one.
    public let rawValue: UInt16
    /// Any value.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Bytes of the device id: 0, 2, 4 or 8.
    public var deviceIDLength: Int { [0, 2, 4, 8][Int(rawValue & 3)] }
    /// Bytes of the TX timestamp: 0, 5 or 8.
    public var txTimestampLength: Int { rawValue & 8 != 0 ? 8 : rawValue & 4 != 0 ? 5 : 0 }
    /// Bytes of the RX timestamp: 5 or 8.
    public var rxTimestampLength: Int { rawValue & 16 != 0 ? 8 : 5 }
  }

  /// The device whose frame was received.
  public var peer: MACAddress
  /// Whether it was measured, and if not, why.
  public var status: Status
  /// What is there and how long it is. The fields below have to agree with it.
  public var control: Control
  /// Bytes of `control` on the wire: 1, or 2 on some chips.
  public var controlLength: Int
  /// 0 of a tag, 1 of an anchor that synchronises others.
  public var frameType: UInt8
  /// The chip's judgement of the path.
  public var lineOfSight: LineOfSight
  /// Where the device is, seen from this one.
  public var azimuth: Angle
  /// Where the device is, seen from this one.
  public var elevation: Angle
  /// Counts the device's frames.
  public var frameNumber: UInt32
  /// When the frame was received, in ticks; 40 or 64 bits.
  public var rxTimestamp: UInt64
  /// What the device calls itself: 0, 2, 4 or 8 bytes.
  public var deviceID: [UInt8]
  /// When the frame was sent, in ticks; nil where the measurement has no such field.
  public var txTimestamp: UInt64?

  /// Reads one measurement whose message control has `controlLength` bytes, 1 or 2; throws
  /// `PayloadError` where the payload ends.
  public init(
    from reader: inout PayloadReader, extendedAddress: Bool, controlLength: Int = 1
  ) throws(PayloadError) {
    self.controlLength = controlLength
    peer = try reader.address(extended: extendedAddress)
    status = Status(rawValue: try reader.u8("status"))
    control = Control(
      rawValue: controlLength == 2
        ? try reader.u16("message control") : UInt16(try reader.u8("message control")))
    frameType = try reader.u8("frame type")
    lineOfSight = LineOfSight(rawValue: try reader.u8("NLoS"))
    azimuth = try reader.angle("azimuth")
    elevation = try reader.angle("elevation")
    frameNumber = try reader.u32("frame number")
    rxTimestamp = try reader.number(bytes: control.rxTimestampLength, "RX timestamp")
    deviceID = try reader.bytes(control.deviceIDLength, "device id")
    let length = control.txTimestampLength
    txTimestamp = length == 0 ? nil : try reader.number(bytes: length, "TX timestamp")
  }

  /// Writes one measurement.
  public func encode(into writer: inout PayloadWriter) {
    writer.bytes(peer.bytes)
    writer.u8(status.rawValue)
    if controlLength == 2 {
      writer.u16(control.rawValue)
    } else {
      writer.u8(UInt8(truncatingIfNeeded: control.rawValue))
    }
    writer.u8(frameType)
    writer.u8(lineOfSight.rawValue)
    writer.angle(azimuth)
    writer.angle(elevation)
    writer.u32(frameNumber)
    writer.number(rxTimestamp, bytes: control.rxTimestampLength)
    writer.bytes(deviceID)
    writer.number(txTimestamp ?? 0, bytes: control.txTimestampLength)
  }

  /// Reads `count` measurements. Sources disagree on how long the message control is: what ends
  /// exactly with the payload is taken, else the form the dialect makes likely; nil when neither
  /// fits.
  static func list(
    _ reader: inout PayloadReader, count: UInt8, extended: Bool, dialect: Dialect
  ) -> [UplinkTDoAMeasurement]? {
    let forms = dialect.traits.uplinkControlLengths
    for mustEnd in [true, false] {
      for form in forms {
        var attempt = reader
        guard let list = try? read(&attempt, count, extended, form) else { continue }
        if mustEnd && attempt.remaining > 0 { continue }
        reader = attempt
        return list
      }
    }
    return nil
  }

  private static func read(
    _ reader: inout PayloadReader, _ count: UInt8, _ extended: Bool, _ controlLength: Int
  ) throws(PayloadError) -> [UplinkTDoAMeasurement] {
    var list: [UplinkTDoAMeasurement] = []
    for _ in 0..<count {
      list.append(
        try .init(from: &reader, extendedAddress: extended, controlLength: controlLength))
    }
    return list
  }
}
