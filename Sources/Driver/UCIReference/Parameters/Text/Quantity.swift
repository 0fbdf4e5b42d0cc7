// SPDX-License-Identifier: Apache-2.0

import UCI

/// A number in text, with or without a unit after it.
struct Quantity {
  /// The digits without the point.
  var digits: UInt64
  /// The number of digits after the decimal point.
  var decimals: Int
  /// The text after the number, in lower case.
  var unit: String

  /// Reads `2400`, `0x960`, `2ms`, `2.5 ms`; nil for anything else.
  init?(_ text: String) {
    let lower = text.lowercased()
    if lower.hasPrefix("0x") {
      guard let value = UInt64(hexDigits: lower.dropFirst(2)) else { return nil }
      (digits, decimals, unit) = (value, 0, "")
      return
    }
    var rest = lower[...]
    let whole = rest.prefix { $0.isASCII && $0.isNumber }
    rest = rest.dropFirst(whole.count)
    var fraction: Substring = ""
    if rest.first == "." {
      fraction = rest.dropFirst().prefix { $0.isASCII && $0.isNumber }
      guard !fraction.isEmpty else { return nil }
      rest = rest.dropFirst(1 + fraction.count)
    }
    guard !whole.isEmpty, fraction.count <= 9, let value = UInt64(String(whole + fraction)) else {
      return nil
    }
    (digits, decimals) = (value, fraction.count)
    unit = String(rest.drop { $0 == " " })
  }

  /// Reads a whole number without a unit; nil for anything else.
  static func number(_ text: some StringProtocol) -> UInt64? {
    guard let quantity = Quantity(trimmed(text)), quantity.decimals == 0, quantity.unit.isEmpty
    else { return nil }
    return quantity.digits
  }

  /// Returns the number in a unit; nil when it is not a whole number of units, or too large.
  ///
  /// - Parameters:
  ///   - own: the size of the number's unit, in multiples of the smallest measure.
  ///   - wanted: the size of the wanted unit, in the same measure.
  func whole(from own: UInt64, to wanted: UInt64) -> UInt64? {
    var scale: UInt64 = 1
    for _ in 0..<decimals { scale *= 10 }
    let (divisor, tooSmall) = wanted.multipliedReportingOverflow(by: scale)
    let product = digits.multipliedFullWidth(by: own)
    guard !tooSmall, divisor > product.high else { return nil }
    let (quotient, remainder) = divisor.dividingFullWidth(product)
    return remainder == 0 ? quotient : nil
  }
}

/// A unit of parameters, or a unit that users may write instead.
struct Unit: Sendable {
  enum Dimension: Sendable { case time, length, angle, count }
  var dimension: Dimension
  /// The size of the unit in thirds of a nanosecond, millimetres or degrees. RSTU and milliseconds
  /// are whole numbers of these thirds.
  var size: UInt64

  init(_ dimension: Dimension, _ size: UInt64) {
    self.dimension = dimension
    self.size = size
  }

  /// The units by their notation in lower case. Any other unit is a count.
  ///
  /// An RSTU is 416 chips at 499.2 MHz: 2500 thirds of a nanosecond.
  static let named: [String: Unit] = [
    "rstu": Unit(.time, 2_500), "ns": Unit(.time, 3), "us": Unit(.time, 3_000),
    "µs": Unit(.time, 3_000), "μs": Unit(.time, 3_000), "ms": Unit(.time, 3_000_000),
    "s": Unit(.time, 3_000_000_000), "min": Unit(.time, 180_000_000_000),
    "h": Unit(.time, 10_800_000_000_000),
    "mm": Unit(.length, 1), "cm": Unit(.length, 10), "m": Unit(.length, 1_000),
    "0.25 m": Unit(.length, 250), "°": Unit(.angle, 1), "deg": Unit(.angle, 1),
  ]
}
