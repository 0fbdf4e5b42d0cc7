// SPDX-License-Identifier: Apache-2.0

/// Writes the little-endian fields of a payload, the mirror of `PayloadReader`.
public struct PayloadWriter {
  /// What has been written.
  public private(set) var octets: [UInt8] = []

  /// Starts empty.
  public init() {}

  /// One octet.
  public mutating func u8(_ value: UInt8) { octets.append(value) }
  /// Two octets, little-endian.
  public mutating func u16(_ value: UInt16) { append(value) }
  /// Two octets, little-endian, two's complement.
  public mutating func i16(_ value: Int16) { append(UInt16(bitPattern: value)) }
  /// Four octets, little-endian.
  public mutating func u32(_ value: UInt32) { append(value) }
  /// Eight octets, little-endian.
  public mutating func u64(_ value: UInt64) { append(value) }
  /// Octets in the order given.
  public mutating func octets(_ values: some Sequence<UInt8>) { octets.append(contentsOf: values) }

  private mutating func append(_ value: some FixedWidthInteger) {
    var rest = value
    for _ in 0..<(value.bitWidth / 8) {
      octets.append(UInt8(truncatingIfNeeded: rest))
      rest >>= 8
    }
  }
}
