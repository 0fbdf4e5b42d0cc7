// SPDX-License-Identifier: Apache-2.0

/// How often an error is within the deviation that was stated for it, and within twice that. Of
/// normal errors it is 68 and 95 in a hundred; a smaller share means that too much is promised.
struct Honesty {
  private(set) var parts: [[Double]] = []

  /// Errors as multiples of what was stated.
  mutating func add(_ part: [Double]) { parts.append(part.filter(\.isFinite)) }

  mutating func add(_ other: Honesty) { parts += other.parts }

  func figures(_ id: String, _ quantity: String) -> [AccuracyFigure] {
    [(1.0, "one stated deviation", 60.0, 80.0), (2, "two", 90, 99)].map { limit, word, low, high in
      func share(_ values: [Double]) -> Double {
        100 * Double(values.count { abs($0) <= limit }) / Double(max(1, values.count))
      }
      return AccuracyFigure(
        id: id, quantity: "\(quantity): errors within \(word)", unit: "%",
        value: share(parts.flatMap { $0 }), parts: parts.map(share), aim: .between(low, high))
    }
  }
}
