// SPDX-License-Identifier: Apache-2.0

/// A range between two anchors, as a board reported it.
package struct RangeReading: Sendable, Hashable {
  package var from: String
  package var to: String
  package var distance: Double
  /// The standard deviation of a distance that is a summary already, as from a tape measure.
  package var deviation: Double?
  /// The probability that the direct path was blocked.
  package var blocked: Double?

  package init(
    from: String, to: String, distance: Double, deviation: Double? = nil, blocked: Double? = nil
  ) {
    (self.from, self.to, self.distance) = (from, to, distance)
    (self.deviation, self.blocked) = (deviation, blocked)
  }
}

/// The distance of two anchors, from the ranges in both directions.
package struct PairRange: Sendable, Hashable {
  /// The indices of the anchors, of which `first` is the smaller.
  package var first: Int
  package var second: Int
  package var distance: Double
  package var deviation: Double
  /// The number of ranges.
  package var count = 1

  package init(first: Int, second: Int, distance: Double, deviation: Double, count: Int = 1) {
    (self.first, self.second, self.count) = (first, second, count)
    (self.distance, self.deviation) = (distance, deviation)
  }

  func other(_ anchor: Int) -> Int { anchor == first ? second : first }
  func has(_ anchor: Int) -> Bool { anchor == first || anchor == second }
}

/// The distances of all pairs of anchors, and the pairs that were left out.
package struct PairRanges: Sendable, Hashable {
  package enum Reason: Sendable, Hashable {
    /// There are too few ranges to estimate their spread.
    case few(Int)
    /// The path is probably blocked. The value is the mean probability.
    case blocked(Double)
  }

  package struct Dropped: Sendable, Hashable {
    package let first: Int
    package let second: Int
    package let reason: Reason
  }

  /// Two directions of a pair whose distances differ by more than their spread explains.
  package struct Conflict: Sendable, Hashable {
    package let first: Int
    package let second: Int
    package let forward: Double
    package let backward: Double
  }

  package var names: [String]
  package var pairs: [PairRange] = []
  package var dropped: [Dropped] = []
  package var conflicts: [Conflict] = []

  /// The least number of ranges from which the spread is estimated.
  static let fewest = 5
  /// The least deviation of a pair: reflections and delays do not average out.
  static let floor = 0.03

  package init(names: [String], pairs: [PairRange]) {
    (self.names, self.pairs) = (names, pairs)
  }

  /// Summarises readings by pair. `names` are the first anchors of the result, in this order.
  package init(_ readings: [RangeReading], names known: [String] = []) {
    names = known
    var index: [String: Int] = [:]
    for (position, name) in known.enumerated() { index[name] = position }
    for name in readings.flatMap({ [$0.from, $0.to] }) where index[name] == nil {
      index[name] = names.count
      names.append(name)
    }
    var groups: [[Int]: [RangeReading]] = [:]
    for reading in readings where reading.from != reading.to {
      guard let from = index[reading.from], let to = index[reading.to] else { continue }
      groups[[min(from, to), max(from, to)], default: []].append(reading)
    }
    for (key, group) in groups.sorted(by: { ($0.key[0], $0.key[1]) < ($1.key[0], $1.key[1]) }) {
      add(group, key[0], key[1])
    }
  }

  private mutating func add(_ group: [RangeReading], _ first: Int, _ second: Int) {
    let blocked = group.compactMap(\.blocked)
    let mean = blocked.isEmpty ? 0 : blocked.reduce(0, +) / Double(blocked.count)
    if mean > 0.9 {
      dropped.append(Dropped(first: first, second: second, reason: .blocked(mean)))
    } else if let summary = Self.summary(group) {
      pairs.append(
        PairRange(
          first: first, second: second, distance: summary.distance, deviation: summary.deviation,
          count: group.count))
      addConflict(group, first, second)
    } else {
      dropped.append(Dropped(first: first, second: second, reason: .few(group.count)))
    }
  }

  private mutating func addConflict(_ group: [RangeReading], _ first: Int, _ second: Int) {
    let ways = [first, second].map { start in group.filter { $0.from == names[start] } }
    guard let forward = Self.summary(ways[0]), let backward = Self.summary(ways[1]) else { return }
    let difference = abs(forward.distance - backward.distance)
    let spread = max(forward.deviation, backward.deviation)
    guard difference > max(6 * spread, 0.3) else { return }
    conflicts.append(
      Conflict(
        first: first, second: second, forward: forward.distance, backward: backward.distance))
  }

  /// Returns the lower quartile with the spread; nil for too few ranges.
  ///
  /// The quartile is more robust than the median: a blocked path only makes ranges longer.
  static func summary(_ group: [RangeReading]) -> (distance: Double, deviation: Double)? {
    guard group.count >= fewest else { return best(group) }
    let sorted = group.map(\.distance).sorted()
    let quartile = quantile(sorted, 0.25)
    // The spread is taken from the lower half, since the upper half may consist of detours.
    let spread = (quantile(sorted, 0.5) - quantile(sorted, 0.1)) / 1.2816
    return (quartile, max(floor, spread))
  }

  /// Returns the weighted mean of distances with deviations; nil if a distance has no deviation.
  private static func best(_ group: [RangeReading]) -> (distance: Double, deviation: Double)? {
    let stated = group.compactMap(\.deviation)
    guard stated.count == group.count, !group.isEmpty else { return nil }
    let weights = stated.map { 1 / max($0 * $0, 1e-6) }
    let total = weights.reduce(0, +)
    let sum = zip(group, weights).reduce(0) { $0 + $1.0.distance * $1.1 }
    return (sum / total, (1 / total).squareRoot())
  }

  /// Returns a quantile of sorted values by linear interpolation.
  static func quantile(_ sorted: [Double], _ share: Double) -> Double {
    guard let last = sorted.last else { return .nan }
    let place = share * Double(sorted.count - 1)
    let below = Int(place)
    guard below + 1 < sorted.count else { return last }
    return sorted[below] + (place - Double(below)) * (sorted[below + 1] - sorted[below])
  }
}
