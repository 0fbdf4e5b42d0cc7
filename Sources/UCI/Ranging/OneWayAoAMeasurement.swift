// SPDX-License-Identifier: Apache-2.0

/// A one-way angle of arrival of a SESSION_INFO_NTF, at an observer: 13 bytes on the wire with a
/// short address, 19 with an extended one.
public struct OneWayAoAMeasurement: Hashable, Sendable {
  /// The advertiser.
  public var peer = MACAddress(0)
  /// Whether it was measured, and if not, why.
  public var status = Status.ok
  /// The chip's judgement of the path.
  public var lineOfSight = LineOfSight.notDetermined
  /// Counts the advertiser's frames.
  public var frameSequenceNumber: UInt8 = 0
  /// The block of the frame.
  public var blockIndex: UInt16 = 0
  /// Where the advertiser is, seen from this device.
  public var azimuth = Angle.none
  /// Where the advertiser is, seen from this device.
  public var elevation = Angle.none

  package init() {}
}

extension OneWayAoAMeasurement: MeasurementFields {
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
