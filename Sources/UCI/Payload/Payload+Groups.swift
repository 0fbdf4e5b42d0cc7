// SPDX-License-Identifier: Apache-2.0

// For the vendors' tails, which are read by hand. Every count is checked against what is there
// before anything is allocated for it.
extension PayloadReader {
  /// Bytes behind a byte with their number.
  mutating func counted(_ field: String) throws(PayloadError) -> [UInt8] {
    try bytes(Int(try u8("\(field) length")), field)
  }

  /// Bytes behind two bytes with their number.
  mutating func longCounted(_ field: String) throws(PayloadError) -> [UInt8] {
    try bytes(Int(try u16("\(field) length")), field)
  }

  /// Four bytes, little-endian, two's complement.
  mutating func i32(_ field: String) throws(PayloadError) -> Int32 {
    Int32(bitPattern: try u32(field))
  }
}
