// SPDX-License-Identifier: Apache-2.0

/// JSON text as UTF-8, appended piece by piece. Nothing is allocated except for the array itself.
extension [UInt8] {
  /// Appends a text with its quotation marks.
  package mutating func appendJSON(_ text: String) {
    // Most texts need no escapes.
    guard text.utf8.allSatisfy({ 0x20...0x7E ~= $0 && $0 != 0x22 && $0 != 0x5C }) else {
      return self += "\(JSON.string(text))".utf8
    }
    append(UInt8(ascii: "\""))
    self += text.utf8
    append(UInt8(ascii: "\""))
  }

  /// Appends ASCII characters unchanged.
  package mutating func append(_ text: StaticString) {
    unsafe append(
      contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  /// Appends the decimal digits of a number.
  ///
  /// - Parameter width: The least number of digits, at most 20; zeros come first.
  package mutating func appendDigits(_ number: UInt64, width: Int = 1) {
    var digits = InlineArray<20, UInt8>(repeating: UInt8(ascii: "0"))
    var (rest, first) = (number, digits.count)
    while rest > 0 {
      first -= 1
      digits[first] += UInt8(truncatingIfNeeded: rest % 10)
      rest /= 10
    }
    first = Swift.min(first, digits.count - width)
    unsafe digits.span.withUnsafeBufferPointer { unsafe append(contentsOf: $0[first...]) }
  }
}
