// SPDX-License-Identifier: Apache-2.0

internal import UWBSite

/// Appends JSON as UTF-8 without a value in between, which would be too slow for thousands of
/// places a second.
extension [UInt8] {
  mutating func append(json text: String) { self += JSONValue.string(text).description.utf8 }

  mutating func append(key: StaticString) {
    self += #",""#.utf8
    self += "\(key)".utf8
    self += #"":"#.utf8
  }

  /// Appends a number with at most `decimals` decimals; null for a number that is not finite.
  mutating func append(_ value: Double, decimals: Int) {
    var factor = 1.0
    for _ in 0..<decimals { factor *= 10 }
    let scaled = (value * factor).rounded()
    // A double with more than 53 bits has no meaningful decimals.
    guard value.isFinite, abs(scaled) < 9e15 else {
      self += JSONValue.number(value).description.utf8
      return
    }
    var (rest, digits) = (UInt64(abs(scaled)), decimals)
    while digits > 0, rest % 10 == 0 { (rest, digits) = (rest / 10, digits - 1) }
    if scaled < 0 { append(UInt8(ascii: "-")) }
    append(rest, decimals: digits)
  }

  /// Appends digits with a decimal point before the last `decimals` digits.
  private mutating func append(_ number: UInt64, decimals: Int) {
    var length = 1
    var rest = number / 10
    while rest > 0 { (rest, length) = (rest / 10, length + 1) }
    length = Swift.max(length, decimals + 1) + (decimals > 0 ? 1 : 0)
    let start = count
    self += repeatElement(UInt8(ascii: "0"), count: length)
    rest = number
    var index = start + length - 1
    while index >= start {
      if decimals > 0, start + length - 1 - index == decimals {
        self[index] = UInt8(ascii: ".")
      } else {
        self[index] = UInt8(ascii: "0") + UInt8(rest % 10)
        rest /= 10
      }
      index -= 1
    }
  }

  mutating func append(_ values: [Double], decimals: Int) {
    append(UInt8(ascii: "["))
    for (index, value) in values.enumerated() {
      if index > 0 { append(UInt8(ascii: ",")) }
      append(value, decimals: decimals)
    }
    append(UInt8(ascii: "]"))
  }
}
