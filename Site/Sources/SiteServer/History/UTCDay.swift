// SPDX-License-Identifier: Apache-2.0

/// A day of the calendar in UTC. Each day has its own file.
package struct UTCDay: Sendable, Hashable, Comparable, CustomStringConvertible {
  static let milliseconds: Int64 = 86_400_000
  /// The days whose names have four digits for the year.
  private static let named = -719_528...2_932_896

  /// The number of days since 1970-01-01.
  package let number: Int

  init(number: Int) { self.number = number }

  /// Creates the day of a time in milliseconds since 1970; nil beyond the year 9999.
  package init?(of time: Int64) {
    let number = time.quotientDown(Self.milliseconds)
    guard Self.named.contains(Int(number)) else { return nil }
    self.number = Int(number)
  }

  /// Reads a name such as 2026-11-27.
  package init?(_ name: some StringProtocol) {
    let parts = name.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.map(\.utf8.count) == [4, 2, 2],
      parts.allSatisfy({ $0.utf8.allSatisfy { (48...57).contains($0) } }),
      let year = Int(parts[0]), let month = Int(parts[1]), let day = Int(parts[2])
    else { return nil }
    // The year is counted from March, so that a leap day is the last day of its year.
    let shifted = month <= 2 ? year - 1 : year
    let era = shifted.quotientDown(400)
    let monthOfYear = (month + 9) % 12
    let dayOfYear = (153 * monthOfYear + 2) / 5 + day - 1
    let yearOfEra = shifted - 400 * era
    let dayOfEra = 365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    number = era * 146_097 + dayOfEra - 719_468
    // A date such as February 30 leads to a day with another name.
    guard Self.named.contains(number), description == name else { return nil }
  }

  /// The beginning of the day in milliseconds since 1970.
  package var start: Int64 { Int64(number) * Self.milliseconds }

  package var description: String {
    let shifted = number + 719_468
    let era = shifted.quotientDown(146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let month = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * month + 2) / 5 + 1
    let year = yearOfEra + 400 * era + (month >= 10 ? 1 : 0)
    return [(year, 4), ((month + 2) % 12 + 1, 2), (day, 2)]
      .map { Self.digits($0, $1) }.joined(separator: "-")
  }

  package static func < (one: UTCDay, other: UTCDay) -> Bool { one.number < other.number }

  fileprivate static func digits(_ value: Int, _ count: Int) -> String {
    let text = "\(value)"
    return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
  }
}

/// Times of a history, in milliseconds since 1970.
package enum HistoryTime {
  /// Reads a day, a day with a time (2026-11-27T10:30, with seconds or without), or seconds since
  /// 1970.
  package static func read(_ text: String) -> Int64? {
    if let seconds = Double(text) { return milliseconds(seconds) }
    let parts = text.split(separator: "T", maxSplits: 1, omittingEmptySubsequences: false)
    guard let day = UTCDay(parts[0]) else { return nil }
    guard parts.count == 2 else { return day.start }
    let clock = parts[1].hasSuffix("Z") ? parts[1].dropLast() : parts[1]
    let numbers = clock.split(separator: ":", omittingEmptySubsequences: false)
    guard (2...3).contains(numbers.count), numbers.allSatisfy({ $0.first?.isNumber == true }),
      let hour = Int(numbers[0]), let minute = Int(numbers[1]),
      let second = numbers.count == 3 ? Double(numbers[2]) : 0,
      hour < 24, minute < 60, (0..<60).contains(second)
    else { return nil }
    return day.start + Int64(hour * 60 + minute) * 60_000 + Int64((1000 * second).rounded())
  }

  /// Returns a time such as 2026-11-27T10:30:00.250Z.
  package static func text(_ time: Int64) -> String {
    guard let day = UTCDay(of: time) else { return "\(time / 1000)" }
    let rest = Int(time - day.start)
    let clock = [(rest / 3_600_000, 2), (rest / 60_000 % 60, 2), (rest / 1000 % 60, 2)]
      .map { UTCDay.digits($0, $1) }.joined(separator: ":")
    return "\(day)T\(clock).\(UTCDay.digits(rest % 1000, 3))Z"
  }

  /// Converts seconds since 1970; nil beyond the days that have a name.
  static func milliseconds(_ seconds: Double) -> Int64? {
    guard abs(seconds) < 1e12 else { return nil }
    let time = Int64((1000 * seconds).rounded())
    return UTCDay(of: time) == nil ? nil : time
  }
}

extension BinaryInteger {
  /// Returns the quotient, rounded down even for negative numbers.
  fileprivate func quotientDown(_ divisor: Self) -> Self {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
  }
}
