// SPDX-License-Identifier: Apache-2.0
public import Ranging
internal import UCI

/// The content of `AccessoryMessage.regionChanged`: the phone has entered, left or stayed in a
/// region of the accessory.
///
/// It has 8 bytes and the name of the region. Numbers are little-endian:
///
/// | offset | bytes | field |
/// |---|---|---|
/// | 0 | 1 | identifier: 0x40 |
/// | 1 | 1 | 1: entered, 2: left, 3: stayed |
/// | 2 | 4 | distance in millimetres, signed |
/// | 6 | 2 | its standard deviation in millimetres; 65535: that or more |
/// | 8 | 1…32 | name of the region: letters, digits, dots, hyphens and underscores of ASCII |
public struct RegionNotice: Sendable, Hashable {
  /// The kind of change.
  public let kind: RegionChange.Kind
  /// The name of the region.
  public let region: String
  /// The last distance in metres, in steps of a millimetre.
  public let distance: Double
  /// The standard deviation of the distance in metres, in steps of a millimetre.
  public let standardDeviation: Double

  static let identifier: UInt8 = 0x40
  private static let kinds: [RegionChange.Kind] = [.entered, .left, .dwelled]

  package init(_ change: RegionChange) {
    kind = change.kind
    region = change.region.name
    distance = (change.estimate.distance * 1_000).rounded() / 1_000
    standardDeviation = (change.estimate.standardDeviation * 1_000).rounded() / 1_000
  }

  /// Decodes the message with its identifier.
  init(_ bytes: [UInt8]) throws(AccessoryError) {
    guard 9...40 ~= bytes.count, 1...Self.kinds.count ~= Int(bytes[1]),
      let name = RegionRules.Region.name(bytes[8...])
    else { throw AccessoryError(.damagedMessage(Self.identifier)) }
    kind = Self.kinds[Int(bytes[1]) - 1]
    region = name
    distance = Double(Int32(littleEndianBytes: bytes[2...])) / 1_000
    standardDeviation = Double(UInt16(littleEndianBytes: bytes[6...])) / 1_000
  }

  var bytes: [UInt8] {
    let rounded = (distance * 1_000).rounded()
    let millimetres = Int32(max(-0x8000_0000, min(0x7FFF_FFFF, rounded)))
    let deviation = UInt16(max(0, min(65_535, (standardDeviation * 1_000).rounded())))
    let kind = Self.kinds.firstIndex(of: kind).map { UInt8($0 + 1) } ?? 0
    return [Self.identifier, kind] + millimetres.littleEndianBytes + deviation.littleEndianBytes
      + region.utf8
  }
}
