// SPDX-License-Identifier: Apache-2.0

/// Returns the finite number that `text` consists of; nil for anything else.
///
/// Only decimal numbers: the standard library also accepts 0x10, inf and nan.
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

/// Reads 2026-11-22T18:30:05.25+01:00 and similar forms: a space for the T, a comma in the
/// fraction, and offsets without a colon are usual, too.
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
    take("-") != nil, let day = take(2, 1...days(in: month, of: year)), take("Tt ") != nil,
    let hour = take(2, 0...23), take(":") != nil, let minute = take(2, 0...59)
  else { return nil }
  var seconds = 0.0
  if take(":") != nil {
    // 60: a leap second.
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
  guard rest.isEmpty else { return nil }
  return 60 * Double(1440 * daysSince1970(year, month, day) + minutes) + seconds
}

private func days(in month: Int, of year: Int) -> Int {
  let isLeapYear = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
  return switch month {
  case 2: isLeapYear ? 29 : 28
  case 4, 6, 9, 11: 30
  default: 31
  }
}

/// Years are counted from March, so that the day of a leap year comes last.
private func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
  let years = month > 2 ? year : year - 1
  let months = (month + 9) % 12
  let leapDays = years / 4 - years / 100 + years / 400
  return 365 * years + leapDays + (153 * months + 2) / 5 + day - 719_469
}

extension UInt8 {
  static let comma = UInt8(ascii: ",")
  static let point = UInt8(ascii: ".")
}
