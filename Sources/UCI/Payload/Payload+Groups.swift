// SPDX-License-Identifier: Apache-2.0

// Groups of octets that many layouts have. Every count is checked against what is there before
// anything is allocated for it.
extension PayloadReader {
  /// Octets behind an octet with their number.
  mutating func counted(_ field: String) throws(PayloadError) -> [UInt8] {
    try octets(Int(try u8("\(field) length")), field)
  }

  /// Octets behind two octets with their number.
  mutating func longCounted(_ field: String) throws(PayloadError) -> [UInt8] {
    try octets(Int(try u16("\(field) length")), field)
  }

  /// A little-endian number of at most eight octets.
  mutating func number(octets count: Int, _ field: String) throws(PayloadError) -> UInt64 {
    try octets(count, field).reversed().reduce(0) { $0 << 8 | UInt64($1) }
  }

  /// Numbers of four octets, little-endian: as many as are there, but not more than `limit`.
  mutating func u32s(atMost limit: Int, _ field: String) throws(PayloadError) -> [UInt32] {
    var list: [UInt32] = []
    while list.count < limit, remaining >= 4 { list.append(try u32(field)) }
    return list
  }

  /// Four octets, little-endian, two's complement.
  mutating func i32(_ field: String) throws(PayloadError) -> Int32 {
    Int32(bitPattern: try u32(field))
  }
}

extension PayloadWriter {
  /// Octets behind an octet with their number. More than 255 are a programming error.
  mutating func counted(_ values: [UInt8]) {
    u8(UInt8(values.count))
    octets(values)
  }

  /// Octets behind two octets with their number. More than 65535 are a programming error.
  mutating func longCounted(_ values: [UInt8]) {
    u16(UInt16(values.count))
    octets(values)
  }

  /// A little-endian number of at most eight octets.
  mutating func number(_ value: UInt64, octets count: Int) {
    octets((0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) })
  }

  /// Four octets, little-endian, two's complement.
  mutating func i32(_ value: Int32) { u32(UInt32(bitPattern: value)) }

  /// An angle with its figure of merit.
  mutating func angle(_ angle: Angle) {
    i16(angle.raw)
    u8(angle.figureOfMerit)
  }
}
