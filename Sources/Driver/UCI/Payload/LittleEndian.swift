// SPDX-License-Identifier: Apache-2.0

extension FixedWidthInteger {
  /// The bytes in the order of the wire: the least significant first.
  package var littleEndianBytes: [UInt8] {
    (0..<Self.bitWidth / 8).map { UInt8(truncatingIfNeeded: self >> (8 * $0)) }
  }

  /// Creates a number from bytes in the order of the wire. Bytes beyond its width are ignored.
  package init(littleEndianBytes bytes: some Collection<UInt8>) {
    self = 0
    for (index, byte) in bytes.prefix(Self.bitWidth / 8).enumerated() {
      self |= Self(truncatingIfNeeded: byte) << (8 * index)
    }
  }
}
