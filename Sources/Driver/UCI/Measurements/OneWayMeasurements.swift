// SPDX-License-Identifier: Apache-2.0

/// A one-way angle of arrival of a SESSION_INFO_NTF, at an observer: 13 bytes on the wire with a
/// short address, 19 with an extended one.
public struct OneWayAoAMeasurement: MeasurementFields, Hashable, Sendable {
  /// The advertiser.
  public var peer = MACAddress(0)
  /// OK if the frame was measured, or else the reason of the failure.
  public var status = Status.ok
  /// The chip's judgement of the path.
  public var lineOfSight = LineOfSight.notDetermined
  /// The number of the advertiser's frame.
  public var frameSequenceNumber: UInt8 = 0
  /// The block of the frame.
  public var blockIndex: UInt16 = 0
  /// The azimuth of the advertiser, seen from this device.
  public var azimuth = Angle.none
  /// The elevation of the advertiser, seen from this device.
  public var elevation = Angle.none

  package init() {}

  package mutating func visit<C: FieldCoder & ~Escapable>(
    _ coder: inout C, isExtended: Bool
  ) throws(PayloadError) {
    try coder.address("mac", &peer, extended: isExtended)
    try coder.code("status", &status)
    try coder.code("nlos", &lineOfSight)
    try coder.field("frame", &frameSequenceNumber)
    try coder.field("block", &blockIndex)
    try coder.angle("azimuth", &azimuth)
    try coder.angle("elevation", &elevation)
  }
}

/// An uplink-TDoA measurement of a SESSION_INFO_NTF, at an anchor. Its length depends on `control`.
public struct UplinkTDoAMeasurement: MeasurementFields, Hashable, Sendable {
  /// The contents of a measurement: the message control field.
  package struct Control: RawRepresentable, Hashable, Sendable {
    /// The field on the wire; the upper byte is 0 where the field has only one.
    package let rawValue: UInt16
    /// Creates a field from any value.
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Bytes of the device id: 0, 2, 4 or 8.
    package var deviceIDLength: Int { [0, 2, 4, 8][Int(rawValue & 3)] }
    /// Bytes of the TX timestamp: 0, 5 or 8.
    package var txTimestampLength: Int { rawValue & 8 != 0 ? 8 : rawValue & 4 != 0 ? 5 : 0 }
    /// Bytes of the RX timestamp: 5 or 8.
    package var rxTimestampLength: Int { rawValue & 16 != 0 ? 8 : 5 }
  }

  /// The device whose frame was received.
  public var peer = MACAddress(0)
  /// OK if the frame was measured, or else the reason of the failure.
  public var status = Status.ok
  /// The optional parts and their lengths. The fields below have to agree with this field.
  package var control = Control(rawValue: 0)
  /// The length of `control` on the wire in bytes: 1, or 2 on some chips.
  package var controlLength = 1
  /// The sender: 0 a tag, 1 an anchor that synchronises others.
  public var frameType: UInt8 = 0
  /// The chip's judgement of the path.
  public var lineOfSight = LineOfSight.notDetermined
  /// The azimuth of the sender, seen from this device.
  public var azimuth = Angle.none
  /// The elevation of the sender, seen from this device.
  public var elevation = Angle.none
  /// The number of the sender's frame.
  public var frameNumber: UInt32 = 0
  /// The time of reception, in ticks; 40 or 64 bits.
  public var rxTimestamp: UInt64 = 0
  /// The sender's own name: 0, 2, 4 or 8 bytes.
  public var deviceID: [UInt8] = []
  /// The time of sending, in ticks; nil where the measurement has no such field.
  public var txTimestamp: UInt64?

  package init() {}

  /// The width of `rxTimestamp` in bits: 40 or 64.
  public var rxBits: Int { 8 * control.rxTimestampLength }
  /// The width of `txTimestamp` in bits; nil without this field.
  public var txBits: Int? { txTimestamp == nil ? nil : 8 * control.txTimestampLength }

  package mutating func visit<C: FieldCoder & ~Escapable>(
    _ coder: inout C, isExtended: Bool
  ) throws(PayloadError) {
    try coder.address("mac", &peer, extended: isExtended)
    try coder.code("status", &status)
    var control = control.rawValue
    try coder.integer("message_control", &control, width: controlLength) { .plain }
    self.control = Control(rawValue: control)
    try coder.field("frame_type", &frameType)
    try coder.code("nlos", &lineOfSight)
    try coder.angle("azimuth", &azimuth)
    try coder.angle("elevation", &elevation)
    try coder.field("frame", &frameNumber)
    try coder.integer(
      "rx_timestamp", &rxTimestamp, width: self.control.rxTimestampLength
    ) { .plain }
    try coder.bytes("device_id", &deviceID, .exactly(self.control.deviceIDLength))
    let length = self.control.txTimestampLength
    try coder.optional("tx_timestamp", &txTimestamp, if: length > 0, width: length)
  }
}
