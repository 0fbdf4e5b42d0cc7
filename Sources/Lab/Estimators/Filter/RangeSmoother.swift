// SPDX-License-Identifier: Apache-2.0

package import Ranging

/// Smooths the distance to one peer over a whole recording.
///
/// The filter of `RangeEstimator` runs forwards with the most likely acceleration density. Later
/// samples then correct its estimates (Rauch-Tung-Striebel). Samples are sorted by time. Two kinds
/// of stretches are filtered again. One began with an outlier. In the other, the filter detected
/// too late that the peer turned or was moved.
///
/// It allocates, so it is for recordings rather than live measurements.
package struct RangeSmoother: Sendable {
  package let parameters: RangeEstimator.Parameters
  /// The number of samples that are smoothed together.
  package var block = 50_000
  /// The number of later samples used for a block. The effect of samples after them is negligible.
  package var overlap = 10_000

  /// Creates a smoother.
  package init(_ parameters: RangeEstimator.Parameters = RangeEstimator.Parameters()) {
    self.parameters = parameters
  }

  /// Returns the estimate at the time of each sample; nil for invalid samples.
  package func smoothed(_ samples: [RangeSample]) -> [RangeEstimate?] {
    var result = [RangeEstimate?](repeating: nil, count: samples.count)
    var stretch: [Int] = []
    var latest = -Double.infinity
    for (index, sample) in samples.enumerated() where sample.isUsable {
      // A clock that goes back by more than the gap was restarted.
      if sample.time < latest - parameters.gap {
        smooth(samples, stretch, &result)
        stretch.removeAll(keepingCapacity: true)
        latest = -.infinity
      }
      latest = max(latest, sample.time)
      stretch.append(index)
    }
    smooth(samples, stretch, &result)
    return result
  }

  private func smooth(
    _ samples: [RangeSample], _ unordered: [Int], _ result: inout [RangeEstimate?]
  ) {
    let order =
      zip(unordered, unordered.dropFirst()).allSatisfy {
        samples[$0].time <= samples[$1].time
      }
      ? unordered
      : unordered.sorted { (samples[$0].time, $0) < (samples[$1].time, $1) }
    let (motion, noise) = likeliest(samples, order)
    let estimator = RangeEstimator(motion, noise: noise)
    var pass = ForwardPass(samples, order, parameters, estimator)
    while !pass.isAtEnd {
      pass.run(upTo: pass.steps.count + block)
      var steps = pass.steps
      backward(&steps, motion.accelerationDensity)
      let count = pass.isAtEnd ? steps.count : max(0, min(pass.settled, steps.count - overlap))
      for step in steps.prefix(count) {
        result[step.index] = parameters.estimate(
          step.state, step.disposition, shared: step.shared, doubt: step.doubt)
      }
      pass.removeFirst(count)
    }
  }

  /// Returns the parameters with the acceleration density under which the samples are most likely,
  /// and the noise learned with it.
  ///
  /// Only the first of several samples that share their error counts, because the differences
  /// between them are not movement.
  private func likeliest(
    _ samples: [RangeSample], _ order: [Int]
  ) -> (RangeEstimator.Parameters, RangeNoise) {
    var best = (parameters, RangeNoise())
    best.0.learnsAcceleration = false
    // Later samples reveal whether the first one was wrong, so it needs no doubt.
    best.0.initialDoubt = 0
    guard parameters.learnsAcceleration else { return best }
    var last = -Double.infinity
    var distinct: [RangeSample] = []
    for index in order where samples[index].time - last >= 0.99 * parameters.correlationTime {
      last = samples[index].time
      distinct.append(samples[index])
      if distinct.count == 10_000 { break }
    }
    var most = -Double.infinity
    for multiple in [0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300] {
      var one = best.0
      one.accelerationDensity = parameters.accelerationDensity * multiple
      var estimator = RangeEstimator(one)
      for sample in distinct { estimator.update(sample) }
      if estimator.logLikelihood > most {
        (most, best) = (estimator.logLikelihood, (one, estimator.noise))
      }
    }
    return best
  }

  private func backward(_ steps: inout [Step], _ density: Double) {
    guard steps.count > 1 else { return }
    // The next state corrects each state. After rejected samples, `predicted` starts from the last
    // accepted sample, so the predictions form an unbroken chain.
    for index in (0..<steps.count - 1).reversed() {
      let next = steps[index + 1]
      guard let predicted = next.predicted else {
        if steps[index].disposition == .rejectedAsOutlier { carryBack(&steps, index, density) }
        continue
      }
      let own = steps[index].state
      let dt = predicted.time - own.time
      // The gain is P·Fᵀ times the inverse of the predicted covariance.
      let (a, b, c) = (predicted.rr, predicted.rv, predicted.vv)
      let determinant = a * c - b * b
      guard determinant > 1e-24, determinant.isFinite else { continue }
      let (p0, p1) = (own.rr + own.rv * dt, own.rv)
      let (q0, q1) = (own.rv + own.vv * dt, own.vv)
      let (g00, g01) = ((p0 * c - p1 * b) / determinant, (p1 * a - p0 * b) / determinant)
      let (g10, g11) = ((q0 * c - q1 * b) / determinant, (q1 * a - q0 * b) / determinant)
      let (dr, dv) = (next.state.r - predicted.r, next.state.v - predicted.v)
      let (d00, d01, d11) = (
        next.state.rr - a, next.state.rv - b, next.state.vv - c
      )
      var state = own
      state.r += g00 * dr + g01 * dv
      state.v += g10 * dr + g11 * dv
      state.rr += g00 * g00 * d00 + 2 * g00 * g01 * d01 + g01 * g01 * d11
      state.rv += g00 * g10 * d00 + (g00 * g11 + g01 * g10) * d01 + g01 * g11 * d11
      state.vv += g10 * g10 * d00 + 2 * g10 * g11 * d01 + g11 * g11 * d11
      state.rr = max(state.rr, 1e-12)
      state.vv = max(state.vv, 1e-12)
      steps[index].state = state
    }
  }

  /// Extrapolates the next state back in time, as the state at an outlier before a restart.
  private func carryBack(_ steps: inout [Step], _ index: Int, _ density: Double) {
    guard steps[index].predicted == nil else { return }
    let next = steps[index + 1].state
    let dt = steps[index].state.time - next.time
    guard -dt <= parameters.gap else { return }
    // Acceleration also adds to the uncertainty in the direction of the past.
    var state = next
    state.v = -state.v
    state.rv = -state.rv
    state = state.advanced(-dt, density)
    state.v = -state.v
    state.rv = -state.rv
    state.time = next.time + dt
    steps[index].state = state
  }
}

/// The state of the filter after one sample.
private struct Step {
  var index: Int
  var state: RangeState
  /// The state predicted for the sample; nil at the start of a stretch.
  var predicted: RangeState?
  var disposition: RangeEstimate.Disposition
  /// The factor on the slow variance, as in `RangeEstimator`.
  var shared: Double
  var doubt: Double
}

/// The filter from the first to the last sample, with one step for each. If a later sample shows
/// that the filter was wrong, it removes steps. It continues with the sample of the first removed
/// step.
private struct ForwardPass {
  /// The number of consecutive rejected samples, agreeing with each other, that mean a turn of the
  /// peer.
  private static let turn = 3

  /// The use of recent samples: all accepted, or rejected.
  private enum Phase {
    case following
    /// Samples have been rejected from step `since` on. `before` is the filter before that step.
    case rejecting(since: Int, before: RangeEstimator)
  }

  private let samples: [RangeSample]
  private let order: [Int]
  private let gates: RangeEstimator.Parameters
  /// The steps that have not been removed.
  private(set) var steps: [Step] = []
  private var removed = 0
  private var estimator: RangeEstimator
  private var phase = Phase.following
  /// The first step since the filter was last started, and the number of samples that support it.
  private var (beginning, support) = (0, 0)
  /// The number of steps up to which no further turn is assumed.
  private var turnEnd = 0

  /// - Parameters:
  ///   - order: the indices of the samples in order of time.
  ///   - gates: the parameters that determine whether samples agree.
  init(
    _ samples: [RangeSample], _ order: [Int], _ gates: RangeEstimator.Parameters,
    _ estimator: RangeEstimator
  ) {
    (self.samples, self.order, self.gates) = (samples, order, gates)
    self.estimator = estimator
  }

  var isAtEnd: Bool { removed + steps.count == order.count }

  /// Filters until there are `count` steps, or to the last sample.
  mutating func run(upTo count: Int) {
    while steps.count < count, !isAtEnd { useNext() }
  }

  /// The number of steps that later samples cannot change.
  var settled: Int {
    let began = support == 1 ? beginning : steps.count
    return if case .rejecting(let first, _) = phase { min(first, began) } else { began }
  }

  /// Removes settled steps.
  mutating func removeFirst(_ count: Int) {
    steps.removeFirst(count)
    removed += count
    (beginning, turnEnd) = (beginning - count, turnEnd - count)
    if case .rejecting(let first, let before) = phase {
      phase = .rejecting(since: first - count, before: before)
    }
  }

  private mutating func useNext() {
    let index = order[removed + steps.count]
    let before = estimator
    guard let estimate = estimator.update(samples[index]), let state = estimator.state else {
      preconditionFailure("a usable sample starts the filter")
    }
    var step = Step(
      index: index, state: state, disposition: estimate.disposition, shared: estimator.shared,
      doubt: estimator.doubt)
    switch estimate.disposition {
    case .restartedAfterRejections: restart(step)
    case .started, .restartedAfterGap:
      if estimate.disposition == .started, removed + steps.count > 0 {
        step.disposition = .restartedAfterRejections
      }
      begin(step)
    default:
      step.predicted = before.state.map {
        $0.advanced(
          max(0, samples[index].time - $0.time), before.parameters.accelerationDensity)
      }
      // A rejected sample does not update the filter.
      if !estimate.isAccepted { step.state = step.predicted ?? state }
      follow(step, isUsed: estimate.isAccepted, before)
    }
  }

  private mutating func begin(_ step: Step) {
    (beginning, support, phase) = (steps.count, 1, .following)
    steps.append(step)
  }

  /// Restarts the filter at the first rejected sample with which this sample agrees.
  private mutating func restart(_ step: Step) {
    if support == 1 {
      // Only one sample supported the filter, and the samples after it contradict it.
      for index in beginning..<steps.count {
        steps[index].disposition = .rejectedAsOutlier
        steps[index].predicted = nil
      }
    }
    guard case .rejecting(let first, _) = phase,
      let again = (first..<steps.count).first(where: { agree(steps[$0], step) })
    else { return begin(step) }
    steps.removeSubrange(again...)
    estimator = RangeEstimator(estimator.parameters, noise: estimator.noise)
    (beginning, support, phase) = (steps.count, 0, .following)
  }

  private mutating func follow(_ step: Step, isUsed: Bool, _ before: RangeEstimator) {
    if isUsed {
      (support, phase) = (support + 1, .following)
    } else if step.disposition == .rejectedAsOutlier, case .following = phase {
      phase = .rejecting(since: steps.count, before: before)
    }
    steps.append(step)
    guard case .rejecting(let first, let before) = phase, support > 1, steps.count > turnEnd,
      isTurn(steps[first...])
    else { return }
    // Rejected samples are filtered a second time, but never a third time.
    turnEnd = steps.count + Self.turn - 1
    steps.removeSubrange(first...)
    (estimator, phase) = (before, .following)
    estimator.inflateVelocity()
  }

  private func isTurn(_ rejected: ArraySlice<Step>) -> Bool {
    rejected.count == Self.turn
      && zip(rejected, rejected.dropFirst()).allSatisfy {
        $0.disposition == .rejectedAsOutlier && $1.disposition == .rejectedAsOutlier
          && agree($0, $1)
      }
  }

  /// Returns whether two samples agree within the noise and the possible movement.
  private func agree(_ step: Step, _ laterStep: Step) -> Bool {
    let (sample, later) = (samples[step.index], samples[laterStep.index])
    let noise = sample.standardDeviation + later.standardDeviation
    let movement = gates.initialVelocity * abs(later.time - sample.time)
    return abs(sample.distance - later.distance) <= gates.gate * noise + movement
  }
}
