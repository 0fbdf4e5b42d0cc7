// SPDX-License-Identifier: Apache-2.0

import Glibc

/// Returns the number that is the whole `text`; nil if it is anything else or is not finite.
///
/// Accepts decimal numbers only; the standard library would also accept 0x10, inf and nan.
func decimal(_ text: ArraySlice<UInt8>, mayHaveComma: Bool) -> Double? {
  var hasComma = false
  let isDecimal = text.allSatisfy {
    if $0 == .comma, mayHaveComma, !hasComma {
      hasComma = true
      return true
    }
    return 48...57 ~= $0 || ($0 == .point && !hasComma) || $0 | 0x20 == UInt8(ascii: "e")
      || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+")
  }
  guard isDecimal, !hasComma || !text.contains(.point) else { return nil }
  let number =
    hasComma
    ? Double(String(decoding: text.map { $0 == .comma ? .point : $0 }, as: UTF8.self))
    : Double(String(decoding: text, as: UTF8.self))
  return number.flatMap { $0.isFinite ? $0 : nil }
}

/// Returns the time of a text such as 2026-11-22T18:30:05.25+01:00. A space instead of the T, a
/// decimal comma, and offsets without a colon are accepted, too.
func secondsSince1970(_ text: ArraySlice<UInt8>) -> Double? {
  var rest = text
  func isDigit(_ byte: UInt8?) -> Bool { byte.map { 48...57 ~= $0 } ?? false }
  func take(_ count: Int, _ range: ClosedRange<Int>) -> Int? {
    let digits = rest.prefix(count)
    guard digits.count == count, digits.allSatisfy(isDigit) else { return nil }
    rest = rest.dropFirst(count)
    let number = digits.reduce(0) { 10 * $0 + Int($1 - 48) }
    return range.contains(number) ? number : nil
  }
  func take(_ marks: String) -> UInt8? {
    guard let byte = rest.first, marks.utf8.contains(byte) else { return nil }
    rest = rest.dropFirst()
    return byte
  }

  guard let year = take(4, 1...9999), take("-") != nil, let month = take(2, 1...12),
    take("-") != nil, let day = take(2, 1...31), take("Tt ") != nil,
    let hour = take(2, 0...23), take(":") != nil, let minute = take(2, 0...59)
  else { return nil }
  var seconds = 0.0
  if take(":") != nil {
    // The second 60 is a leap second.
    guard let second = take(2, 0...60) else { return nil }
    seconds = Double(second)
    if take(".,") != nil {
      let digits = rest.prefix(while: isDigit)
      guard !digits.isEmpty else { return nil }
      rest = rest.dropFirst(digits.count)
      seconds += digits.prefix(15).reversed().reduce(0) { ($0 + Double($1 - 48)) / 10 }
    }
  }
  var minutes = 60 * hour + minute
  if let sign = take("+-") {
    guard let hours = take(2, 0...23) else { return nil }
    let hasColon = take(":") != nil
    guard let more = rest.isEmpty && !hasColon ? 0 : take(2, 0...59) else { return nil }
    minutes += (sign == UInt8(ascii: "-") ? 1 : -1) * (60 * hours + more)
  } else {
    _ = take("Zz")
  }
  var date = unsafe tm()
  unsafe date.tm_year = Int32(year - 1900)
  unsafe date.tm_mon = Int32(month - 1)
  unsafe date.tm_mday = Int32(day)
  let midnight = unsafe timegm(&date)
  // The C library converts invalid days, such as 31 April, to another date.
  guard rest.isEmpty, unsafe date.tm_mday == day else { return nil }
  return Double(midnight + 60 * minutes) + seconds
}

extension UInt8 {
  static let comma = UInt8(ascii: ",")
  static let point = UInt8(ascii: ".")
}
