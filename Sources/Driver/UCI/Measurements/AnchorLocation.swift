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

/// Reads numbers in two's complement whose bits need not begin or end at a byte.
private struct LocationBits {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  mutating func signed(_ count: Int) -> Int64 {
    var value: Int64 = 0
    for first in stride(from: 0, to: count, by: 8) {
      // Each byte begins with its most significant bit, and so does an incomplete last byte.
      for shift in (first..<min(first + 8, count)).reversed() {
        value |= Int64(bytes[position / 8] >> UInt8(7 - position % 8) & 1) << Int64(shift)
        position += 1
      }
    }
    return (value << Int64(64 - count)) >> Int64(64 - count)
  }
}

extension DownlinkTDoAMeasurement {
  /// The position of the anchor; nil if the anchor sent none.
  package var anchorLocation: AnchorLocation? {
    switch control.locationType {
    case 1: AnchorLocation(geographic: location)
    case 2: AnchorLocation(relative: location)
    default: nil
    }
  }
}

extension DownlinkTDoAMeasurementV2 {
  /// The position of the anchor; nil if the anchor sent none. The first byte of the location is the
  /// type: 0 WGS-84, 1 relative.
  package var anchorLocation: AnchorLocation? {
    guard let location, let type = location.first else { return nil }
    switch type {
    case 0: return AnchorLocation(geographic: Array(location.dropFirst()))
    case 1: return AnchorLocation(relative: Array(location.dropFirst()))
    default: return nil
    }
  }
}

extension AnchorLocation {
  /// The bytes of a location in a message: 12 for WGS-84, 10 for a relative location. Coordinates
  /// out of range get the nearest value.
  package var bytes: [UInt8] {
    var bits = LocationWriter()
    switch self {
    case .geographic(let latitude, let longitude, let altitude):
      bits.append(latitude * 16_777_216, 33)
      bits.append(longitude * 16_777_216, 33)
      bits.append(altitude * 2_097_152, 30)
    case .relative(let x, let y, let z):
      bits.append(Double(x), 28)
      bits.append(Double(y), 28)
      bits.append(Double(z), 24)
    }
    return bits.bytes
  }

  /// The value of DL_TDOA_ANCHOR_LOCATION: bit 0 for a location, bit 1 for a relative location.
  package var parameter: [UInt8] {
    switch self {
    case .geographic: [0b01] + bytes
    case .relative: [0b11] + bytes
    }
  }

  /// Reads the value of DL_TDOA_ANCHOR_LOCATION; nil without a location.
  package init?(parameter: [UInt8]) {
    let rest = Array(parameter.dropFirst())
    switch parameter.first {
    case 0b01: self.init(geographic: rest)
    case 0b11: self.init(relative: rest)
    default: return nil
    }
  }
}

/// Writes numbers in two's complement in the order that `LocationBits` reads.
private struct LocationWriter {
  private(set) var bytes: [UInt8] = []
  private var count = 0

  /// Appends the nearest number of `width` bits; 0 for a value that is not a number.
  mutating func append(_ value: Double, _ width: Int) {
    let limit = Double(Int64(1) << Int64(width - 1))
    let rounded = value.isNaN ? 0 : min(max(value.rounded(), -limit), limit - 1)
    let number = Int64(rounded)
    for first in stride(from: 0, to: width, by: 8) {
      for shift in (first..<min(first + 8, width)).reversed() {
        if count % 8 == 0 { bytes.append(0) }
        bytes[count / 8] |= UInt8(number >> Int64(shift) & 1) << UInt8(7 - count % 8)
        count += 1
      }
    }
  }
}
