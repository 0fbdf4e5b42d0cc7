// SPDX-License-Identifier: Apache-2.0

/// The digits of a number in decimals, and its nearest double.
///
/// The function of the C library is several times slower, and a site reads hundreds of thousands
/// of numbers a second.
struct Decimal {
  /// The number of digits that 64 bits always hold.
  private static let mostDigits = 19
  /// The powers of five that 64 bits hold.
  private static let fives: [UInt64] = (1...27).reduce(into: [1]) { all, _ in
    all.append(5 * (all.last ?? 1))
  }

  var isNegative = false
  /// Whether there is no decimal point.
  var isWhole = true
  var hasExponent = false
  private var digits: UInt64 = 0
  /// The number of digits after leading zeros, and the number after the decimal point.
  private var (count, decimals) = (0, 0)

  init(isNegative: Bool = false) { self.isNegative = isNegative }

  mutating func append(_ digit: UInt8) {
    if count > 0 || digit > 0 { count += 1 }
    if !isWhole { decimals += 1 }
    if count <= Self.mostDigits { digits = digits &* 10 &+ UInt64(digit) }
  }

  /// A whole number of at least 2⁵³, which a double may round.
  var whole: UInt64? {
    guard isWhole, !hasExponent, !isNegative, count <= Self.mostDigits, digits >= 1 << 53 else {
      return nil
    }
    return digits
  }

  /// The nearest double; nil for numbers with many digits or with an exponent.
  var value: Double? {
    guard !hasExponent, count <= Self.mostDigits, decimals < Self.fives.count else { return nil }
    let size = digits == 0 || decimals == 0 ? Double(digits) : quotient(Self.fives[decimals])
    return isNegative ? -size : size
  }

  /// Returns the digits divided by a power of five and the same power of two.
  private func quotient(_ five: UInt64) -> Double {
    let (above, below) = (digits.leadingZeroBitCount, five.leadingZeroBitCount)
    let (number, divisor) = (digits << above, five << below)
    // The quotient has 64 bits, the highest of which is 1.
    let isLarge = number >= divisor
    let high = isLarge ? (number >> 1, number << 63) : (number, 0)
    let (whole, rest) = divisor.dividingFullWidth((high.0, high.1))
    let exponent = below - above - decimals - (isLarge ? 63 : 64)
    // The last bit is far below the rounded ones, and marks that there is a rest.
    return Double(sign: .plus, exponent: exponent, significand: Double(whole | (rest > 0 ? 1 : 0)))
  }
}
