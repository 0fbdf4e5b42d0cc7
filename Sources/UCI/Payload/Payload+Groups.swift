// SPDX-License-Identifier: Apache-2.0

// Groups of bytes that many layouts have. Every count is checked against what is there before
// anything is allocated for it.
extension PayloadReader {
  /// Bytes behind a byte with their number.
  mutating func counted(_ field: String) throws(PayloadError) -> [UInt8] {
    try bytes(Int(try u8("\(field) length")), field)
  }

  /// Bytes behind two bytes with their number.
  mutating func longCounted(_ field: String) throws(PayloadError) -> [UInt8] {
    try bytes(Int(try u16("\(field) length")), field)
  }

  /// A little-endian number of at most eight bytes.
  mutating func number(bytes count: Int, _ field: String) throws(PayloadError) -> UInt64 {
    try bytes(count, field).reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// Numbers of four bytes, little-endian: as many as are there, but not more than `limit`.
  mutating func u32s(atMost limit: Int, _ field: String) throws(PayloadError) -> [UInt32] {
    var list: [UInt32] = []
    while list.count < limit, remaining >= 4 { list.append(try u32(field)) }
    return list
  }

  /// Four bytes, little-endian, two's complement.
  mutating func i32(_ field: String) throws(PayloadError) -> Int32 {
    Int32(bitPattern: try u32(field))
  }
}

extension PayloadWriter {
  /// Bytes behind a byte with their number. More than 255 are a programming error.
  mutating func counted(_ values: [UInt8]) {
    u8(UInt8(values.count))
    bytes(values)
  }

  /// Bytes behind two bytes with their number. More than 65535 are a programming error.
  mutating func longCounted(_ values: [UInt8]) {
    u16(UInt16(values.count))
    bytes(values)
  }

  /// A little-endian number of at most eight bytes.
  mutating func number(_ value: UInt64, bytes count: Int) {
    bytes((0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) })
  }

  /// Four bytes, little-endian, two's complement.
  mutating func i32(_ value: Int32) { u32(UInt32(bitPattern: value)) }

  /// An angle with its figure of merit.
  mutating func angle(_ angle: Angle) {
    i16(angle.raw)
    u8(angle.figureOfMerit)
  }
}
