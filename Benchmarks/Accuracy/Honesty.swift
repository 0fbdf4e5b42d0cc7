// SPDX-License-Identifier: Apache-2.0

/// The shares of errors within one and within two stated deviations. For normal errors and correct
/// deviations, these are 68 and 95 in a hundred. Smaller shares mean that the deviations are too
/// small.
struct Honesty {
  private(set) var parts: [[Double]] = []

  /// Adds errors as multiples of the stated deviations.
  mutating func add(_ part: [Double]) { parts.append(part.filter(\.isFinite)) }

  mutating func add(_ other: Honesty) { parts += other.parts }

  /// Returns the root mean square of these multiples: the factor by which the deviations are too
  /// small.
  func ratio(_ id: String, _ quantity: String) -> AccuracyFigure {
    AccuracyFigure(
      id: id, quantity: quantity, unit: "", value: Errors.rms(parts.flatMap { $0 }),
      parts: parts.map(Errors.rms), aim: .between(1 / 1.2, 1.2))
  }

  /// Returns the share of errors within a multiple of the stated deviations, in percent.
  private static func share(_ values: [Double], within limit: Double) -> Double {
    100 * Double(values.count { abs($0) <= limit }) / Double(max(1, values.count))
  }

  /// - Parameters:
  ///   - other: another method and its errors, for comparison.
  ///   - chance: the standard error of the share within one deviation, by which the limits of a
  ///     short recording are widened.
  ///   - least: the lower limit of the share within two deviations.
  func figures(
    _ id: String, _ quantity: String, beside other: (name: String, Honesty)? = nil,
    chance: Double = 0, least: Double = 88
  ) -> [AccuracyFigure] {
    let ways = [
      (
        limit: 1.0, word: "one stated deviation", range: 60.0...76,
        limits: 55 - chance...80 + chance
      ),
      (limit: 2.0, word: "two", range: 91...98, limits: least...99),
    ]
    return ways.map { way in
      AccuracyFigure(
        id: id, quantity: "\(quantity): errors within \(way.word)", unit: "%",
        textbook: other.map { ($0.name, Self.share($0.1.parts.flatMap { $0 }, within: way.limit)) },
        value: Self.share(parts.flatMap { $0 }, within: way.limit),
        parts: parts.map { Self.share($0, within: way.limit) },
        aim: .range(way.range, limits: way.limits))
    }
  }

  /// Returns the share of positions within r95. The errors have to be multiples of r95.
  func places(_ id: String, _ quantity: String) -> AccuracyFigure {
    AccuracyFigure(
      id: id, quantity: "\(quantity): places within r95", unit: "%",
      value: Self.share(parts.flatMap { $0 }, within: 1),
      parts: parts.map { Self.share($0, within: 1) }, aim: .range(91...98, limits: 88...99))
  }
}
