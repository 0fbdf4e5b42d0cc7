// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A measured figure beside its textbook method and its aim.
struct Figure {
  var id: String
  var quantity: String
  var unit: String
  /// The name of the textbook method and its value.
  var textbook: (name: String, value: Double)?
  /// The value of a robust Kalman filter with the same noise.
  var filter: Double?
  var value: Double
  var aim: ClosedRange<Double>?

  var isReached: Bool { aim?.contains(value) ?? true }

  /// Three significant digits.
  static func number(_ value: Double) -> String { String(format: "%.3g", value) }

  /// The aim in words.
  var limits: String? {
    guard let aim else { return nil }
    return aim.lowerBound <= 0
      ? "at most \(Self.number(aim.upperBound))"
      : "\(Self.number(aim.lowerBound)) to \(Self.number(aim.upperBound))"
  }

  var line: String {
    var line = "\(id.padding(toLength: 4, withPad: " ", startingAt: 0)) \(quantity): "
    line += "\(Self.number(value)) \(unit)"
    if let textbook { line += "  (\(textbook.name): \(Self.number(textbook.value)))" }
    if let filter { line += "  (robust Kalman filter: \(Self.number(filter)))" }
    guard let limits else { return line }
    return line + "  [\(limits): \(isReached ? "reached" : "MISSED")]"
  }
}

/// Errors of one kind.
enum Errors {
  static func mean(_ values: [Double]) -> Double {
    values.reduce(0, +) / Double(max(1, values.count))
  }

  static func rms(_ values: [Double]) -> Double {
    (values.reduce(0) { $0 + $1 * $1 } / Double(max(1, values.count))).squareRoot()
  }

  static func quantile(_ values: [Double], _ part: Double) -> Double {
    let sorted = values.filter { !$0.isNaN }.sorted()
    guard !sorted.isEmpty else { return .nan }
    return sorted[min(sorted.count - 1, Int(part * Double(sorted.count)))]
  }

  /// Returns the share of values within a limit, in percent.
  static func share(_ values: [Double], within limit: Double) -> Double {
    100 * Double(values.count { abs($0) <= limit }) / Double(max(1, values.count))
  }
}
