// SPDX-License-Identifier: Apache-2.0

extension FixedWidthInteger {
  /// The bytes in the order of the wire: the least significant first.
  var littleEndianBytes: [UInt8] {
    (0..<Self.bitWidth / 8).map { UInt8(truncatingIfNeeded: self >> (8 * $0)) }
  }
}
