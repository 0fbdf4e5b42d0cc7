// SPDX-License-Identifier: Apache-2.0

package import Ranging

/// A distance measured where the truth is known.
package struct KnownRange: Sendable, Hashable {
  /// The measured distance in metres, without any correction.
  package var measured: Double
  /// The true distance in metres, from antenna to antenna.
  package var truth: Double
  /// The received level in dBm; nil if it is unknown.
  package var power: Double?
  /// The index of the pair of boards, counted from 0.
  package var pair: Int

  /// Creates a range.
  package init(measured: Double, truth: Double, power: Double? = nil, pair: Int = 0) {
    self.measured = measured
    self.truth = truth
    self.power = power
    self.pair = pair
  }
}

/// The delay of each pair of boards and the bias at each received level. Both are fitted together
/// to distances with known truth.
package struct RangeBiasFit: Sendable {
  /// The least spacing of the table in dB. It is wider if there are few data.
  private static let spacing = 1.0
  /// The change of the slope within a decibel, in metres per decibel, one standard deviation. The
  /// tables of vendors have 1 to 3 mm/dB².
  private static let bend = 0.004
  /// The standard deviations beyond which residuals have less weight (Huber's loss).
  private static let tail = 1.5
  /// The difference from the median, in metres, beyond which an exchange counts as corrupt.
  private static let grossError = 5.0

  /// The metres that both antennas of each pair add to distances at the mean level of all
  /// measurements.
  package let delays: [Double]
  /// The metres that the level adds to the delay; empty if levels are unknown.
  package let powerBias: PowerBias
  /// Residuals of the used measurements, in metres.
  package let residuals: FitResiduals
  /// The average number of positions at which a pair was measured.
  package let positions: Int
  /// The deviation of the mean errors of single positions, in metres.
  package let positionDeviation: Double

  /// Fits delays and table. Returns nil if a pair has no usable measurement.
  package init?(_ ranges: [KnownRange]) {
    let finite = ranges.filter {
      $0.measured.isFinite && $0.truth.isFinite && ($0.power ?? 0).isFinite && $0.pair >= 0
    }
    guard let pairs = finite.map(\.pair).max().map({ $0 + 1 }), pairs <= 4096 else { return nil }
    let middle = (0..<pairs).map { pair in
      finite.filter { $0.pair == pair }.map { $0.measured - $0.truth }.quantile(0.5)
    }
    let used = finite.filter {
      abs($0.measured - $0.truth - middle[$0.pair]) <= Self.grossError
    }
    guard Set(used.map(\.pair)).count == pairs else { return nil }

    let powers = used.compactMap(\.power)
    let knots = Self.knots(powers.count == used.count ? powers : [])
    let terms = used.map { Self.terms(of: $0, knots: knots, pairs: pairs) }
    guard
      let (solution, remaining) = Self.fit(
        used.map { $0.measured - $0.truth }, terms, pairs: pairs, knots: knots)
    else { return nil }
    // Only the sum of delay and table is determined. The mean of the table is therefore set to 0.
    let mean =
      knots.isEmpty
      ? 0
      : terms.reduce(0.0) { sum, terms in
        sum + terms.dropFirst().reduce(0) { $0 + $1.coefficient * solution[$1.index] }
      } / Double(used.count)
    delays = solution[..<pairs].map { $0 + mean }
    powerBias = PowerBias(
      zip(knots, solution[pairs...]).map { PowerBias.Knot(power: $0, bias: $1 - mean) })
    residuals = FitResiduals(remaining)
    let means = Self.means(remaining, used, pairs: pairs)
    positions = max(1, means.count / pairs)
    positionDeviation = RangingCalibration.positionDeviation(
      FitResiduals(means), unknowns: pairs)
  }

  /// Returns the mean of the remaining errors at each position of each pair.
  private static func means(
    _ remaining: [Double], _ used: [KnownRange], pairs: Int
  ) -> [Double] {
    let byPair = Dictionary(grouping: used.indices) { used[$0].pair }
    return (0..<pairs).flatMap { pair in
      let own = byPair[pair] ?? []
      return placements(own.map { used[$0].truth }).map { indices in
        robustMean(indices.map { remaining[own[$0]] }).mean
      }
    }
  }

  /// Returns delays, table and remaining errors. Measurements with larger errors have less weight.
  private static func fit(
    _ errors: [Double], _ terms: [[Term]], pairs: Int, knots: [Double]
  ) -> (solution: [Double], remaining: [Double])? {
    var weights = [Double](repeating: 1, count: errors.count)
    var solution = [Double](repeating: 0, count: pairs + knots.count)
    var remaining = errors
    var noise = 0.05
    for _ in 0..<25 {
      var equations = NormalEquations(count: solution.count)
      for (index, error) in errors.enumerated() {
        equations.observe(terms[index], error, weights[index])
      }
      if knots.count >= 2 {
        // The priors: the table is smooth, and is 0 at levels without data.
        equations.smooth(
          pairs..<solution.count, step: knots[1] - knots[0], bend: bend, noise: noise)
        for index in pairs..<solution.count { equations.add(index, index, noise * noise) }
      }
      guard let next = equations.solved() else { return nil }
      solution = next
      for index in errors.indices {
        remaining[index] =
          errors[index] - terms[index].reduce(0) { $0 + $1.coefficient * next[$1.index] }
      }
      noise = max(1e-4, 1.4826 * remaining.map { abs($0) }.quantile(0.5))
      let limit = tail * noise
      for index in errors.indices {
        weights[index] = abs(remaining[index]) <= limit ? 1 : limit / abs(remaining[index])
      }
    }
    return (solution, remaining)
  }

  /// Returns the levels of the table, which are evenly spaced over 99 % of the measurements.
  private static func knots(_ powers: [Double]) -> [Double] {
    let (low, high) = (powers.quantile(0.005), powers.quantile(0.995))
    let width = high - low
    guard width >= spacing else { return [] }
    let intervals = max(1, min(30, Int(width / spacing)))
    return (0...intervals).map { low + width * Double($0) / Double(intervals) }
  }

  private typealias Term = (index: Int, coefficient: Double)

  private static func terms(of range: KnownRange, knots: [Double], pairs: Int) -> [Term] {
    let own = (index: range.pair, coefficient: 1.0)
    guard let power = range.power, let low = knots.first, let high = knots.last else {
      return [own]
    }
    let step = (high - low) / Double(knots.count - 1)
    let position = min(max(0, (power - low) / step), Double(knots.count - 1))
    let index = min(Int(position), knots.count - 2)
    let part = position - Double(index)
    return [own, (pairs + index, 1 - part), (pairs + index + 1, part)]
  }
}
