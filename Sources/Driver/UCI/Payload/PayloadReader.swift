// SPDX-License-Identifier: Apache-2.0

/// Reads the little-endian fields of a payload, one after another, never past its end.
package struct PayloadReader: ~Escapable {
  private let bytes: RawSpan
  /// The number of bytes that have been read.
  package private(set) var offset = 0

  /// Starts at the first byte of `bytes`.
  @_lifetime(copy bytes)
  package init(_ bytes: RawSpan) {
    self.bytes = bytes
  }

  /// The number of bytes that have not been read.
  package var remaining: Int { bytes.byteCount - offset }

  @_lifetime(self: copy self)
  package mutating func u8(_ field: String) throws(PayloadError) -> UInt8 { try integer(field) }
  @_lifetime(self: copy self)
  package mutating func u16(_ field: String) throws(PayloadError) -> UInt16 { try integer(field) }
  /// Reads two bytes, little-endian, two's complement.
  @_lifetime(self: copy self)
  mutating func i16(_ field: String) throws(PayloadError) -> Int16 { try integer(field) }
  @_lifetime(self: copy self)
  package mutating func u32(_ field: String) throws(PayloadError) -> UInt32 { try integer(field) }
  /// Reads four bytes, little-endian, two's complement.
  @_lifetime(self: copy self)
  mutating func i32(_ field: String) throws(PayloadError) -> Int32 { try integer(field) }

  /// Reads `count` bytes in the order given.
  @_lifetime(self: copy self)
  package mutating func bytes(_ count: Int, _ field: String) throws(PayloadError) -> [UInt8] {
    let start = offset
    try skip(count, field)
    return unsafe bytes.extracting(start..<offset).withUnsafeBytes { unsafe Array($0) }
  }

  /// Skips `count` bytes.
  @_lifetime(self: copy self)
  package mutating func skip(_ count: Int, _ field: String) throws(PayloadError) {
    guard count >= 0, remaining >= count else {
      throw PayloadError.tooShort(field: field, needed: count, available: remaining)
    }
    offset += count
  }

  /// Reads a little-endian number of `width` bytes, by default the size of its type.
  @_lifetime(self: copy self)
  mutating func integer<T: FixedWidthInteger & BitwiseCopyable>(
    _ field: @autoclosure () -> String, width: Int = MemoryLayout<T>.size
  ) throws(PayloadError) -> T {
    guard remaining >= width else {
      throw PayloadError.tooShort(field: field(), needed: width, available: remaining)
    }
    defer { offset += width }
    if width == MemoryLayout<T>.size {
      // Sound: the bounds were checked, and every T is a plain integer.
      return T(littleEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: T.self))
    }
    var value: T = 0
    for index in 0..<width {
      let byte = unsafe bytes.unsafeLoad(fromByteOffset: offset + index, as: UInt8.self)
      value |= T(truncatingIfNeeded: byte) << T(8 * index)
    }
    return value
  }

  /// Reads all remaining bytes.
  package mutating func rest() -> [UInt8] {
    defer { offset = bytes.byteCount }
    return unsafe bytes.extracting(offset..<bytes.byteCount).withUnsafeBytes { unsafe Array($0) }
  }
}

extension PayloadReader {
  /// Reads bytes, whose number is in the two bytes before them.
  @_lifetime(self: copy self)
  mutating func longCounted(_ field: String) throws(PayloadError) -> [UInt8] {
    try bytes(Int(try u16("\(field) length")), field)
  }
}

/// The reason why bytes could not be read as a message.
public enum PayloadError: Error, Hashable, Sendable {
  /// The payload ends before this field does.
  case tooShort(field: String, needed: Int, available: Int)
  /// The field has a value after which the remaining fields cannot be found.
  case invalid(field: String, reason: String)
}

extension PayloadError: CustomStringConvertible {
  /// The cause in one sentence.
  public var description: String {
    switch self {
    case .tooShort(let field, let needed, let available):
      "The payload ends inside \(field): bytes needed \(needed), bytes there \(available)."
    case .invalid(let field, let reason): "\(field) cannot be read: \(reason)."
    }
  }
}
