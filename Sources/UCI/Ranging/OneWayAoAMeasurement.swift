// SPDX-License-Identifier: Apache-2.0

/// A one-way angle of arrival of a SESSION_INFO_NTF, at an observer: 13 bytes on the wire with a
/// short address, 19 with an extended one.
public struct OneWayAoAMeasurement: Hashable, Sendable {
  /// The advertiser.
  public var peer: MACAddress
  /// Whether it was measured, and if not, why.
  public var status: Status
  /// The chip's judgement of the path.
  public var lineOfSight: LineOfSight
  /// Counts the advertiser's frames.
  public var frameSequenceNumber: UInt8
  /// The block of the frame.
  public var blockIndex: UInt16
  /// Where the advertiser is, seen from this device.
  public var azimuth: Angle
  /// Where the advertiser is, seen from this device.
  public var elevation: Angle

  /// From the fields on the wire.
  public init(
    peer: MACAddress, status: Status, lineOfSight: LineOfSight, frameSequenceNumber: UInt8,
    blockIndex: UInt16, azimuth: Angle, elevation: Angle
  ) {
    self.peer = peer
    self.status = status
    self.lineOfSight = lineOfSight
    self.frameSequenceNumber = frameSequenceNumber
    self.blockIndex = blockIndex
    self.azimuth = azimuth
    self.elevation = elevation
  }

  /// Reads one measurement; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, extendedAddress: Bool) throws(PayloadError) {
    peer = try reader.address(extended: extendedAddress)
    status = Status(rawValue: try reader.u8("status"))
    lineOfSight = LineOfSight(rawValue: try reader.u8("NLoS"))
    frameSequenceNumber = try reader.u8("frame sequence number")
    blockIndex = try reader.u16("block index")
    azimuth = try reader.angle("azimuth")
    elevation = try reader.angle("elevation")
  }

  /// Writes one measurement.
  public func encode(into writer: inout PayloadWriter) {
    writer.bytes(peer.bytes)
    writer.u8(status.rawValue)
    writer.u8(lineOfSight.rawValue)
    writer.u8(frameSequenceNumber)
    writer.u16(blockIndex)
    writer.angle(azimuth)
    writer.angle(elevation)
  }
}
