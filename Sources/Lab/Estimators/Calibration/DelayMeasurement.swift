// SPDX-License-Identifier: Apache-2.0

package import Ranging

/// A distance between two boards, measured where the truth is known.
package struct DelayMeasurement: Sendable, Hashable {
  package var a: BoardAntenna
  package var b: BoardAntenna
  /// The measured distance in metres, including the delays.
  package var measured: Double
  /// The true distance in metres, from antenna to antenna.
  package var truth: Double

  /// Creates a measurement.
  package init(_ a: BoardAntenna, _ b: BoardAntenna, measured: Double, truth: Double) {
    (self.a, self.b) = (a, b)
    (self.measured, self.truth) = (measured, truth)
  }
}

extension AntennaDelayFit.Placement {
  /// Groups measurements by pair and placement.
  static func grouping(_ measurements: [DelayMeasurement]) -> [Self] {
    struct Ends: Hashable {
      var a: BoardAntenna
      var b: BoardAntenna
    }
    var pairs: [Ends: [DelayMeasurement]] = [:]
    for one in measurements {
      guard one.measured.isFinite, 0...1e6 ~= one.truth, abs(one.measured) < 1e6 else { continue }
      pairs[one.a < one.b ? Ends(a: one.a, b: one.b) : Ends(a: one.b, b: one.a), default: []]
        .append(one)
    }
    return pairs.sorted { ($0.key.a, $0.key.b) < ($1.key.a, $1.key.b) }.flatMap { ends, all in
      placements(all.map(\.truth)).map { indices in
        let values = indices.map { all[$0].measured - all[$0].truth }
        let truth = indices.reduce(0) { $0 + all[$1].truth } / Double(indices.count)
        let (mean, spread) = robustMean(values)
        return Self(
          a: ends.a, b: ends.b, truth: (truth * 1000).rounded() / 1000, count: values.count,
          excess: mean, spread: spread)
      }
    }
  }
}

/// Returns the measurements of each placement of one pair, by its known distances in their order.
///
/// At rest, each distance is a placement. Otherwise reflections hardly change within half a metre.
/// Distances closer than 15 cm to each other are therefore one placement up to that length: the
/// jitter of a motion capture, or a walk, however often it passes the place.
func placements(_ truths: [Double]) -> [[Int]] {
  let places = truths.map { ($0 * 100).rounded() }
  var runs: [Double] = []
  var length = 0
  for index in places.indices {
    length += 1
    guard index + 1 == places.count || places[index + 1] != places[index] else { continue }
    runs += Array(repeating: Double(length), count: length)
    length = 0
  }
  let decimetres = Set(truths.map { ($0 * 10).rounded() })
  let range = 1 + (decimetres.max() ?? 0) - (decimetres.min() ?? 0)
  if runs.quantile(0.5) >= 10, Double(decimetres.count) < range / 2 {
    return Dictionary(grouping: truths.indices) { places[$0] }.sorted { $0.key < $1.key }.map(
      \.value)
  }
  var result: [[Int]] = []
  var (first, last) = (-Double.infinity, -Double.infinity)
  for index in truths.indices.sorted(by: { truths[$0] < truths[$1] }) {
    if truths[index] - last > 0.15 || truths[index] - first > 0.5 {
      first = truths[index]
      result.append([])
    }
    last = truths[index]
    result[result.count - 1].append(index)
  }
  return result
}

/// Returns the mean with Huber's loss, and the standard deviation without outliers.
func robustMean(_ values: [Double]) -> (mean: Double, deviation: Double) {
  var mean = values.quantile(0.5)
  let deviation = 1.4826 * values.map { abs($0 - mean) }.quantile(0.5)
  guard deviation > 0 else { return (mean, 0) }
  for _ in 0..<10 {
    var (sum, total) = (0.0, 0.0)
    for value in values {
      let weight = min(1, 1.5 * deviation / max(1e-300, abs(value - mean)))
      sum += weight * value
      total += weight
    }
    mean = sum / total
  }
  return (mean, deviation)
}
