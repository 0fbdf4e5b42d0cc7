// SPDX-License-Identifier: Apache-2.0

/// Reads the little-endian fields of a payload, one after another, never past its end.
public struct PayloadReader: ~Escapable {
  @usableFromInline let bytes: RawSpan
  /// How many bytes have been read.
  public private(set) var offset = 0

  /// Starts at the first byte of `bytes`.
  @_lifetime(copy bytes)
  public init(_ bytes: RawSpan) {
    self.bytes = bytes
  }

  /// Bytes that have not been read.
  public var remaining: Int { bytes.byteCount - offset }

  /// The next byte without reading it; nil at the end.
  public var peek: UInt8? {
    remaining > 0 ? unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self) : nil
  }

  private mutating func take<T: BitwiseCopyable>(
    _ field: String, as type: T.Type
  ) throws(PayloadError) -> T {
    let size = MemoryLayout<T>.size
    guard remaining >= size else {
      throw PayloadError.tooShort(field: field, needed: size, available: remaining)
    }
    defer { offset += size }
    // Sound: the bounds were checked, and every T used here is a plain integer.
    return unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: T.self)
  }

  /// One byte.
  public mutating func u8(_ field: String) throws(PayloadError) -> UInt8 {
    try take(field, as: UInt8.self)
  }
  /// Two bytes, little-endian.
  public mutating func u16(_ field: String) throws(PayloadError) -> UInt16 {
    UInt16(littleEndian: try take(field, as: UInt16.self))
  }
  /// Two bytes, little-endian, two's complement.
  public mutating func i16(_ field: String) throws(PayloadError) -> Int16 {
    Int16(littleEndian: try take(field, as: Int16.self))
  }
  /// Four bytes, little-endian.
  public mutating func u32(_ field: String) throws(PayloadError) -> UInt32 {
    UInt32(littleEndian: try take(field, as: UInt32.self))
  }
  /// Eight bytes, little-endian.
  public mutating func u64(_ field: String) throws(PayloadError) -> UInt64 {
    UInt64(littleEndian: try take(field, as: UInt64.self))
  }

  /// `count` bytes in the order given.
  public mutating func bytes(_ count: Int, _ field: String) throws(PayloadError) -> [UInt8] {
    guard count >= 0, remaining >= count else {
      throw PayloadError.tooShort(field: field, needed: count, available: remaining)
    }
    defer { offset += count }
    return unsafe bytes.extracting(offset..<offset + count).withUnsafeBytes { unsafe Array($0) }
  }

  /// Passes over `count` bytes.
  public mutating func skip(_ count: Int, _ field: String) throws(PayloadError) {
    guard count >= 0, remaining >= count else {
      throw PayloadError.tooShort(field: field, needed: count, available: remaining)
    }
    offset += count
  }

  /// A little-endian number of `width` bytes.
  mutating func integer<T: FixedWidthInteger & BitwiseCopyable>(
    _ field: StaticString, width: Int
  ) throws(PayloadError) -> T {
    guard remaining >= width else {
      throw PayloadError.tooShort(field: "\(field)", needed: width, available: remaining)
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

  /// Everything that has not been read.
  public mutating func rest() -> [UInt8] {
    defer { offset = bytes.byteCount }
    return unsafe bytes.extracting(offset..<bytes.byteCount).withUnsafeBytes { unsafe Array($0) }
  }
}
