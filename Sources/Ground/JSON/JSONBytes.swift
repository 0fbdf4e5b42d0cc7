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

  /// Appends the decimal digits of a number.
  ///
  /// - Parameter width: The least number of digits; zeros come first.
  package mutating func appendDigits(_ number: UInt64, width: Int = 1) {
    var (rest, length) = (number / 10, 1)
    while rest > 0 { (rest, length) = (rest / 10, length + 1) }
    self += repeatElement(UInt8(ascii: "0"), count: Swift.max(length, width))
    (rest, length) = (number, count)
    while rest > 0 {
      length -= 1
      self[length] += UInt8(rest % 10)
      rest /= 10
    }
  }
}
