// SPDX-License-Identifier: Apache-2.0

/// Writes the little-endian fields of a payload, the mirror of `PayloadReader`.
package struct PayloadWriter {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  package mutating func u8(_ value: UInt8) { bytes.append(value) }
  package mutating func u16(_ value: UInt16) { integer(value, width: 2) }
  package mutating func u32(_ value: UInt32) { integer(value, width: 4) }
  /// Writes bytes in the order given.
  package mutating func bytes(_ values: some Sequence<UInt8>) { bytes.append(contentsOf: values) }

  /// Writes the lower `width` bytes of a number, little-endian.
  mutating func integer(_ value: some FixedWidthInteger, width: Int) {
    var rest = value
    for _ in 0..<width {
      bytes.append(UInt8(truncatingIfNeeded: rest))
      rest >>= 8
    }
  }
}
