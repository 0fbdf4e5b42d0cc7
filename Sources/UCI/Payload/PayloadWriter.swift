// SPDX-License-Identifier: Apache-2.0

/// Writes the little-endian fields of a payload, the mirror of `PayloadReader`.
public struct PayloadWriter {
  /// What has been written.
  public private(set) var bytes: [UInt8] = []

  /// Starts empty.
  public init() {}

  /// One byte.
  public mutating func u8(_ value: UInt8) { bytes.append(value) }
  /// Two bytes, little-endian.
  public mutating func u16(_ value: UInt16) { append(value) }
  /// Two bytes, little-endian, two's complement.
  public mutating func i16(_ value: Int16) { append(UInt16(bitPattern: value)) }
  /// Four bytes, little-endian.
  public mutating func u32(_ value: UInt32) { append(value) }
  /// Eight bytes, little-endian.
  public mutating func u64(_ value: UInt64) { append(value) }
  /// Bytes in the order given.
  public mutating func bytes(_ values: some Sequence<UInt8>) { bytes.append(contentsOf: values) }

  private mutating func append(_ value: some FixedWidthInteger) {
    integer(value, width: value.bitWidth / 8)
  }

  /// The lower `width` bytes of a number, little-endian.
  mutating func integer(_ value: some FixedWidthInteger, width: Int) {
    var rest = value
    for _ in 0..<width {
      bytes.append(UInt8(truncatingIfNeeded: rest))
      rest >>= 8
    }
  }
}
