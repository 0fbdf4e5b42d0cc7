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

  func figures(_ id: String, _ quantity: String) -> [AccuracyFigure] {
    let ways: [(limit: Double, word: String, aim: AccuracyFigure.Aim)] = [
      (1, "one stated deviation", .range(60...76, limits: 55...80)),
      (2, "two", .range(91...98, limits: 88...99)),
    ]
    return ways.map { limit, word, aim in
      func share(_ values: [Double]) -> Double {
        100 * Double(values.count { abs($0) <= limit }) / Double(max(1, values.count))
      }
      return AccuracyFigure(
        id: id, quantity: "\(quantity): errors within \(word)", unit: "%",
        value: share(parts.flatMap { $0 }), parts: parts.map(share), aim: aim)
    }
  }
}
