// SPDX-License-Identifier: Apache-2.0

/// JSON text as UTF-8 to which pieces are appended. Only the memory of the text is allocated.
@safe package struct JSONText: ~Copyable {
  private var memory: UnsafeMutableRawPointer
  private var capacity: Int
  /// The length in bytes.
  package private(set) var count: Int

  /// - Parameter capacity: The expected length in bytes.
  package init(capacity: Int = 32) {
    unsafe memory = .allocate(byteCount: capacity, alignment: 1)
    (self.capacity, count) = (capacity, 0)
  }

  deinit { unsafe memory.deallocate() }

  /// The text as an array.
  package var bytes: [UInt8] { unsafe Array(UnsafeRawBufferPointer(start: memory, count: count)) }
  /// The text as a string.
  package var string: String {
    unsafe String(decoding: UnsafeRawBufferPointer(start: memory, count: count), as: UTF8.self)
  }

  /// Makes room for further bytes.
  private mutating func reserve(_ more: Int) {
    guard capacity - count < more else { return }
    capacity = max(count + more, 2 * capacity)
    let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 1)
    unsafe larger.copyMemory(from: memory, byteCount: count)
    unsafe memory.deallocate()
    unsafe memory = larger
  }

  /// Appends a byte.
  package mutating func append(_ byte: UInt8) {
    reserve(1)
    unsafe memory.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
    count += 1
  }

  private mutating func append(_ bytes: UnsafeRawBufferPointer) {
    reserve(bytes.count)
    guard let start = bytes.baseAddress else { return }
    unsafe (memory + count).copyMemory(from: start, byteCount: bytes.count)
    count += bytes.count
  }

  /// Appends characters unchanged.
  package mutating func append(_ text: StaticString) {
    unsafe append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  /// Appends bytes unchanged.
  package mutating func append(contentsOf bytes: some Collection<UInt8>) {
    let isDone: Void? = bytes.withContiguousStorageIfAvailable {
      unsafe append(UnsafeRawBufferPointer($0))
    }
    if isDone == nil { for byte in bytes { append(byte) } }
  }

  /// Appends a comma, the key of an object's member, and a colon. The key must not need escapes.
  package mutating func appendKey(_ key: StaticString) {
    // An optional key ends with a question mark, which is not part of the text.
    let length = key.utf8CodeUnitCount - (key.isOptionalKey ? 1 : 0)
    reserve(length + 4)
    let start = unsafe memory + count
    unsafe start.storeBytes(of: UInt16(0x222C).littleEndian, as: UInt16.self)
    unsafe (start + 2).copyMemory(from: key.utf8Start, byteCount: length)
    unsafe (start + 2 + length).storeBytes(of: UInt16(0x3A22).littleEndian, as: UInt16.self)
    count += length + 4
  }

  /// Replaces a byte.
  package mutating func replace(at index: Int, by byte: UInt8) {
    precondition(index < count)
    unsafe memory.storeBytes(of: byte, toByteOffset: index, as: UInt8.self)
  }

  /// Appends a text with its quotation marks.
  package mutating func appendJSON(_ text: String) {
    // Most texts need no escapes.
    guard text.utf8.allSatisfy({ 0x20...0x7E ~= $0 && $0 != 0x22 && $0 != 0x5C }) else {
      return append(contentsOf: "\(JSON.string(text))".utf8)
    }
    append(UInt8(ascii: "\""))
    append(contentsOf: text.utf8)
    append(UInt8(ascii: "\""))
  }

  /// Appends the decimal digits of a number.
  ///
  /// - Parameter width: The least number of digits; zeros come first.
  package mutating func appendDigits(_ number: UInt64, width: Int = 1) {
    var (rest, length) = (number / 10, 1)
    while rest > 0 { (rest, length) = (rest / 10, length + 1) }
    length = max(length, width)
    reserve(length)
    rest = number
    for index in stride(from: count + length - 1, through: count, by: -1) {
      let digit = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
      unsafe memory.storeBytes(of: digit, toByteOffset: index, as: UInt8.self)
      rest /= 10
    }
    count += length
  }
}

extension StaticString {
  /// Whether the key ends with a question mark, so that the member may be missing.
  package var isOptionalKey: Bool {
    unsafe utf8CodeUnitCount > 0 && utf8Start[utf8CodeUnitCount - 1] == UInt8(ascii: "?")
  }
}
