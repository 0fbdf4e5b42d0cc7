// SPDX-License-Identifier: Apache-2.0

/// An anchor's own position, read from the bytes of a location.
///
/// The bits are packed without gaps, beginning with the most significant bit of the first byte. A
/// coordinate has its least significant byte first; the bits that do not fill a byte come last and
/// are the most significant. One family of implementations uses this layout.
public enum AnchorLocation: Hashable, Sendable {
  /// Latitude and longitude in degrees, altitude in metres (WGS-84); 12 bytes.
  case geographic(latitude: Double, longitude: Double, altitude: Double)
  /// Coordinates in a system of the anchors' own; 10 bytes. The unit is probably a millimetre.
  case relative(x: Int32, y: Int32, z: Int32)

  /// Reads the 12 bytes of a location in WGS-84; nil for any other number of bytes.
  package init?(geographic bytes: [UInt8]) {
    guard bytes.count == 12 else { return nil }
    var bits = LocationBits(bytes)
    let latitude = bits.signed(33)
    let longitude = bits.signed(33)
    let altitude = bits.signed(30)
    self = .geographic(
      latitude: Double(latitude) / 16_777_216, longitude: Double(longitude) / 16_777_216,
      altitude: Double(altitude) / 2_097_152)
  }

  /// Reads the 10 bytes of a relative location; nil for any other number of bytes.
  package init?(relative bytes: [UInt8]) {
    guard bytes.count == 10 else { return nil }
    var bits = LocationBits(bytes)
    let x = bits.signed(28)
    let y = bits.signed(28)
    let z = bits.signed(24)
    self = .relative(x: Int32(x), y: Int32(y), z: Int32(z))
  }
}

/// Reads numbers in two's complement that do not begin or end with a byte.
private struct LocationBits {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  mutating func signed(_ count: Int) -> Int64 {
    var value: Int64 = 0
    for first in stride(from: 0, to: count, by: 8) {
      // Each byte begins with its most significant bit, also the last one, which is incomplete.
      for shift in (first..<min(first + 8, count)).reversed() {
        value |= Int64(bytes[position / 8] >> UInt8(7 - position % 8) & 1) << Int64(shift)
        position += 1
      }
    }
    return (value << Int64(64 - count)) >> Int64(64 - count)
  }
}

extension DownlinkTDoAMeasurement {
  /// The position of the anchor; nil where it sent none.
  public var anchorLocation: AnchorLocation? {
    switch control.locationType {
    case 1: AnchorLocation(geographic: location)
    case 2: AnchorLocation(relative: location)
    default: nil
    }
  }
}
