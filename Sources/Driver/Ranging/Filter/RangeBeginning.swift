// SPDX-License-Identifier: Apache-2.0

/// The first samples of a filter, one of which may be wrong.
///
/// A wrong sample after a right one looks like a peer that moves fast; the third sample decides.
/// All samples of the first half second, or the first three within a second, are compared with one
/// straight line. The weights of the samples make it the line that most of them agree with. Samples
/// within a sixteenth of a second share their errors, so only the first of them counts.
struct RangeBeginning: Sendable, Hashable {
  private typealias Lanes = SIMD8<Double>

  private var times: Lanes
  private var distances: Lanes
  /// The noise variance of each sample.
  private var variances: Lanes
  private var count = 1
  /// The learned noise before the first sample.
  let noise: RangeNoise

  init(_ sample: RangeSample, variance: Double, _ noise: RangeNoise) {
    times = Lanes(repeating: sample.time)
    distances = Lanes(repeating: sample.distance)
    variances = Lanes(repeating: variance)
    self.noise = noise
  }

  /// Returns whether a sample at this time still belongs to the beginning.
  func includes(_ time: Double) -> Bool {
    count < Lanes.scalarCount && time - times[0] <= (count < 3 ? 1 : 0.5)
  }

  /// Adds a sample. Returns whether there are enough samples for a line.
  mutating func add(_ sample: RangeSample, variance: Double) -> Bool {
    guard sample.time - times[count - 1] >= 0.06 else { return false }
    times[count] = sample.time
    distances[count] = sample.distance
    variances[count] = variance
    count += 1
    return count >= 3
  }

  /// Returns distance and velocity at the last sample, on the line that most samples agree with.
  /// Also returns whether the last sample agrees with it. Returns nil if all samples do.
  ///
  /// The fit begins at the median and iterates with the weights of Student's t-distribution.
  func line(_ parameters: RangeEstimator.Parameters) -> (state: RangeState, fits: Bool)? {
    let (time, gate) = (times[count - 1], parameters.gate * parameters.gate)
    let freedom = min(parameters.tailFreedom, 1e6)
    let initial = parameters.initialVelocity * parameters.initialVelocity
    var state = RangeState(time: time, r: median, rr: 0, vv: 0)
    for _ in 0..<8 {
      // Weighted sums of times and distances. The prior of the velocity has the deviation of the
      // velocity at the start.
      var (w, wt, wtt, wd, wtd) = (0.0, 0.0, 1 / initial, 0.0, 0.0)
      for lane in 0..<count {
        let weight = 1 / (variances[lane] * (1 + normalised(lane, state) / freedom))
        let (t, d) = (times[lane] - time, distances[lane])
        w += weight
        wt += weight * t
        wtt += weight * t * t
        wd += weight * d
        wtd += weight * t * d
      }
      let determinant = w * wtt - wt * wt
      guard determinant > 0, determinant.isFinite else { return nil }
      (state.r, state.v) = ((wtt * wd - wt * wtd) / determinant, (w * wtd - wt * wd) / determinant)
      (state.rr, state.rv, state.vv) = (wtt / determinant, -wt / determinant, w / determinant)
    }
    var farthest = 0.0
    for lane in 0..<count { farthest = max(farthest, normalised(lane, state)) }
    guard farthest > gate else { return nil }
    return (state, normalised(count - 1, state) <= gate)
  }

  /// Returns the squared difference of a sample from a line, in units of its variance.
  private func normalised(_ lane: Int, _ state: RangeState) -> Double {
    let rest = distances[lane] - state.r - state.v * (times[lane] - state.time)
    return rest * rest / variances[lane]
  }

  private var median: Double {
    var sorted = distances
    for lane in 1..<count {
      var place = lane
      while place > 0, sorted[place - 1] > sorted[place] {
        (sorted[place - 1], sorted[place]) = (sorted[place], sorted[place - 1])
        place -= 1
      }
    }
    return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2
  }
}
