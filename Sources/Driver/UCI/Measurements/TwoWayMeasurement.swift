// SPDX-License-Identifier: Apache-2.0

/// The chip's judgement of whether the direct path was seen.
public struct LineOfSight: RawRepresentable, Hashable, Sendable, WireCode {
  /// The byte on the wire.
  public let rawValue: UInt8
  /// Creates a code from any byte.
  @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The direct path was seen.
  public static let lineOfSight = LineOfSight(rawValue: 0x00)
  /// The direct path is blocked.
  public static let nonLineOfSight = LineOfSight(rawValue: 0x01)
  /// The chip does not determine the path; Qorvo's QM33 and DW3000 never do.
  public static let notDetermined = LineOfSight(rawValue: 0xFF)
}

/// An angle of arrival with the chip's figure of merit.
public struct Angle: Hashable, Sendable {
  /// Degrees in Q9.7: 128 a degree.
  public var raw: Int16
  /// 0…100 percent, 100 best; 0: there is no estimate.
  public var figureOfMerit: UInt8

  /// No estimate.
  static let none = Angle(raw: 0, figureOfMerit: 0)

  /// Creates an angle from the fields on the wire.
  @inlinable package init(raw: Int16, figureOfMerit: UInt8) {
    self.raw = raw
    self.figureOfMerit = figureOfMerit
  }

  /// Degrees; azimuth -180…180, elevation -90…90.
  ///
  /// A degree has 128 steps, as specified. Google's pica sends whole degrees instead. A few values
  /// cannot show which of the two a chip sends: small numbers may be small angles.
  @inlinable public var degrees: Double { Double(raw) / 128 }
}

/// One two-way-ranging result of a SESSION_INFO_NTF: 31 bytes on the wire for short and extended
/// addresses alike.
public struct TwoWayMeasurement: MeasurementFields, Hashable, Sendable {
  /// Bytes on the wire.
  @inlinable package static var length: Int { 31 }

  /// The peer.
  public var peer: MACAddress
  /// OK if the peer was measured, or else the reason of the failure.
  public var status: Status
  /// The chip's judgement of the path.
  public var lineOfSight: LineOfSight
  /// The distance in centimetres; 0xFFFF: none. With status 0x1B the magnitude of a negative
  /// distance.
  public var rawDistance: UInt16
  /// The azimuth of the peer, seen from this device.
  public var azimuth: Angle
  /// The elevation of the peer, seen from this device.
  public var elevation: Angle
  /// The azimuth of this device, seen from the peer and reported by the peer.
  public var destinationAzimuth: Angle
  /// The elevation of this device, seen from the peer and reported by the peer.
  public var destinationElevation: Angle
  /// On failure the slot in which the error was detected, otherwise 0.
  public var slotIndex: UInt8
  /// Received power as an unsigned Q7.1 magnitude: -rawRSSI/2 dBm; 0 and 255: not available.
  /// Reserved in FiRa 1.x.
  public var rawRSSI: UInt8

  /// Creates a measurement from the fields on the wire.
  @inlinable
  package init(
    peer: MACAddress, status: Status, lineOfSight: LineOfSight = .notDetermined,
    rawDistance: UInt16 = 0xFFFF, azimuth: Angle = Angle(raw: 0, figureOfMerit: 0),
    elevation: Angle = Angle(raw: 0, figureOfMerit: 0),
    destinationAzimuth: Angle = Angle(raw: 0, figureOfMerit: 0),
    destinationElevation: Angle = Angle(raw: 0, figureOfMerit: 0), slotIndex: UInt8 = 0,
    rawRSSI: UInt8 = 0
  ) {
    self.peer = peer
    self.status = status
    self.lineOfSight = lineOfSight
    self.rawDistance = rawDistance
    self.azimuth = azimuth
    self.elevation = elevation
    self.destinationAzimuth = destinationAzimuth
    self.destinationElevation = destinationElevation
    self.slotIndex = slotIndex
    self.rawRSSI = rawRSSI
  }

  /// The distance in centimetres with its sign; nil when the round failed or the chip reported
  /// none.
  @inlinable public var distanceCentimetres: Int? {
    guard status.isSuccess, rawDistance != 0xFFFF else { return nil }
    return status == .okNegativeDistance ? -Int(rawDistance) : Int(rawDistance)
  }

  /// Received power in dBm; nil when the chip reported none.
  @inlinable public var rssiDBm: Double? {
    rawRSSI == 0 || rawRSSI == 0xFF ? nil : -Double(rawRSSI) / 2
  }

  package init() { self.init(peer: MACAddress(0), status: .ok) }

  package mutating func visit<C: FieldCoder & ~Escapable>(
    _ coder: inout C, isExtended: Bool
  ) throws(PayloadError) {
    try coder.address("mac", &peer, extended: isExtended)
    try coder.code("status", &status)
    try coder.code("nlos", &lineOfSight)
    try coder.field("distance", &rawDistance)
    try coder.angle("azimuth", &azimuth)
    try coder.angle("elevation", &elevation)
    try coder.angle("destination_azimuth", &destinationAzimuth)
    try coder.angle("destination_elevation", &destinationElevation)
    try coder.field("slot", &slotIndex)
    try coder.field("rssi", &rawRSSI)
  }
}
