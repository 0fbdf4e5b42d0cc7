// SPDX-License-Identifier: Apache-2.0

/// The share of errors within the stated deviation, and within twice the deviation. For normal
/// errors these are 68 and 95 in a hundred; a smaller share shows that the stated deviation is too
/// small.
struct Honesty {
  private(set) var parts: [[Double]] = []

  /// Errors as multiples of the stated deviation.
  mutating func add(_ part: [Double]) { parts.append(part.filter(\.isFinite)) }

  mutating func add(_ other: Honesty) { parts += other.parts }

  /// The root mean square of these multiples: the factor by which a deviation is too small.
  func ratio(_ id: String, _ quantity: String) -> AccuracyFigure {
    AccuracyFigure(
      id: id, quantity: quantity, unit: "", value: Errors.rms(parts.flatMap { $0 }),
      parts: parts.map(Errors.rms), aim: .between(1 / 1.2, 1.2))
  }

  /// The share of errors within a multiple of the stated deviation, in percent.
  private static func share(_ values: [Double], within limit: Double) -> Double {
    100 * Double(values.count { abs($0) <= limit }) / Double(max(1, values.count))
  }

  /// - Parameters:
  ///   - other: another method and its errors, for comparison.
  ///   - chance: the standard error of the share within one deviation in a short recording, by
  ///     which its limits are wider.
  func figures(
    _ id: String, _ quantity: String, beside other: (name: String, Honesty)? = nil,
    chance: Double = 0
  ) -> [AccuracyFigure] {
    let ways = [
      (
        limit: 1.0, word: "one stated deviation", range: 60.0...76,
        limits: 55 - chance...80 + chance
      ),
      (limit: 2.0, word: "two", range: 91...98, limits: 88...99),
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

  /// The share of places within r95, whose distances are given as multiples of it.
  func places(_ id: String, _ quantity: String) -> AccuracyFigure {
    AccuracyFigure(
      id: id, quantity: "\(quantity): places within r95", unit: "%",
      value: Self.share(parts.flatMap { $0 }, within: 1),
      parts: parts.map { Self.share($0, within: 1) }, aim: .range(91...98, limits: 88...99))
  }
}
