// SPDX-License-Identifier: Apache-2.0

public import Ranging

/// Smooths the distance to one peer over a whole recording.
///
/// Runs the filter of `RangeEstimator` forwards, with the acceleration density of the greatest
/// likelihood, and then corrects its estimates by later samples (Rauch-Tung-Striebel). Samples are
/// sorted by time. Some stretches are filtered again: stretches that began with an outlier, and
/// stretches in which the filter detected too late that the peer turned or was moved.
///
/// Allocates: for recordings, not for live measurements.
public struct RangeSmoother: Sendable {
  package let parameters: RangeEstimator.Parameters

  /// Creates a smoother.
  public init(_ parameters: RangeEstimator.Parameters = RangeEstimator.Parameters()) {
    self.parameters = parameters
  }

  /// The filter after one sample.
  private struct Step {
    var index: Int
    var state: RangeState
    /// The state before the sample was used; nil at the start of a stretch.
    var predicted: RangeState?
    var disposition: RangeEstimate.Disposition
    /// The part of the error that samples share.
    var shared = 1.0
  }

  /// Returns the estimate for each sample at its time; nil for invalid samples.
  public func smoothed(_ samples: [RangeSample]) -> [RangeEstimate?] {
    var result = [RangeEstimate?](repeating: nil, count: samples.count)
    var stretch: [Int] = []
    var latest = -Double.infinity
    for (index, sample) in samples.enumerated() where sample.isUsable {
      // If a clock goes back by more than the gap, it was restarted.
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
    var steps = forward(samples, order, motion, noise)
    backward(&steps, motion.accelerationDensity)
    for step in steps {
      result[step.index] = parameters.estimate(
        step.state, step.disposition, shared: step.shared)
    }
  }

  /// Returns the parameters with the acceleration density that predicts the samples best, and the
  /// noise of the samples with it. Of samples that share their error only the first counts:
  /// differences between the others are not movement.
  private func likeliest(
    _ samples: [RangeSample], _ order: [Int]
  ) -> (RangeEstimator.Parameters, RangeNoise) {
    var best = (parameters, RangeNoise())
    best.0.learnsAcceleration = false
    // Later samples decide whether the first one was wrong.
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

  private func forward(
    _ samples: [RangeSample], _ order: [Int], _ calm: RangeEstimator.Parameters,
    _ noise: RangeNoise
  ) -> [Step] {
    var steps: [Step] = []
    steps.reserveCapacity(order.count)
    var estimator = RangeEstimator(calm, noise: noise)
    /// The filter before the first rejected sample.
    var checkpoint = estimator
    /// The sample before which no turn is searched for.
    var turnEnd = 0
    /// The first step since the filter last started, and how many samples since then support it.
    var beginning = 0
    var support = 0
    var firstRejected: Int?
    var position = 0
    while position < order.count {
      let sample = samples[order[position]]
      let before = estimator.state
      if firstRejected == nil { checkpoint = estimator }
      guard let estimate = estimator.update(sample), let state = estimator.state else {
        position += 1
        continue
      }
      switch estimate.disposition {
      case .restartedAfterRejections:
        if support == 1 {
          // All others contradicted the single sample that started the stretch.
          for step in beginning..<steps.count {
            steps[step].disposition = .rejectedAsOutlier
            steps[step].predicted = nil
          }
        }
        // Restart where the samples first agreed with the rejected one.
        let run = firstRejected ?? steps.count
        let again = (run..<steps.count).first {
          agrees(samples[steps[$0].index], with: sample)
        }
        if let again {
          position -= steps.count - again
          steps.removeSubrange(again...)
          estimator = RangeEstimator(calm, noise: estimator.noise)
          beginning = steps.count
          (support, firstRejected) = (0, nil)
          continue
        }
        beginning = steps.count
        (support, firstRejected) = (1, nil)
        steps.append(
          Step(
            index: order[position], state: state, disposition: .restartedAfterRejections,
            shared: estimator.shared))
      case .started, .restartedAfterGap:
        beginning = steps.count
        (support, firstRejected) = (1, nil)
        steps.append(
          Step(
            index: order[position], state: state,
            disposition: steps.isEmpty
              ? .started
              : estimate.disposition == .started
                ? .restartedAfterRejections : estimate.disposition,
            shared: estimator.shared))
      default:
        // An unused sample does not advance the filter.
        let predicted = before.map {
          $0.advanced(max(0, sample.time - $0.time), calm.accelerationDensity)
        }
        let isIn = estimate.isAccepted
        support += isIn ? 1 : 0
        if isIn { firstRejected = nil }
        if estimate.disposition == .rejectedAsOutlier, firstRejected == nil {
          firstRejected = steps.count
        }
        steps.append(
          Step(
            index: order[position], state: isIn ? state : predicted ?? state,
            predicted: predicted, disposition: estimate.disposition, shared: estimator.shared))
        if let first = firstRejected, support > 1, position >= turnEnd,
          isTurn(steps[first...], samples)
        {
          // Three rejected samples in a row that agree are a turn: filter them again.
          steps.removeSubrange(first...)
          estimator = checkpoint
          estimator.inflateVelocity()
          turnEnd = position + 3
          position -= 2
          firstRejected = nil
          continue
        }
      }
      position += 1
    }
    return steps
  }

  private func isTurn(_ steps: ArraySlice<Step>, _ samples: [RangeSample]) -> Bool {
    steps.count == 3
      && zip(steps, steps.dropFirst()).allSatisfy {
        $0.disposition == .rejectedAsOutlier && $1.disposition == .rejectedAsOutlier
          && agrees(samples[$0.index], with: samples[$1.index])
      }
  }

  private func agrees(_ sample: RangeSample, with later: RangeSample) -> Bool {
    let noise = sample.standardDeviation + later.standardDeviation
    let movement = parameters.initialVelocity * abs(later.time - sample.time)
    return abs(sample.distance - later.distance) <= parameters.gate * noise + movement
  }

  private func backward(_ steps: inout [Step], _ density: Double) {
    guard steps.count > 1 else { return }
    // From each state to the previous one. After a rejected sample `predicted` starts from the last
    // accepted one; the chain of predictions is exact as well.
    for index in (0..<steps.count - 1).reversed() {
      let next = steps[index + 1]
      guard let predicted = next.predicted else {
        if steps[index].disposition == .rejectedAsOutlier { carryBack(&steps, index, density) }
        continue
      }
      let own = steps[index].state
      let dt = predicted.time - own.time
      // P·Fᵀ·inverse of the predicted covariance.
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

  /// Sets the state of an outlier before a restart: the next state, extrapolated back in time.
  private func carryBack(_ steps: inout [Step], _ index: Int, _ density: Double) {
    guard steps[index].predicted == nil else { return }
    let next = steps[index + 1].state
    let dt = steps[index].state.time - next.time
    guard -dt <= parameters.gap else { return }
    // Backwards, acceleration adds to the uncertainty as it does forwards.
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
