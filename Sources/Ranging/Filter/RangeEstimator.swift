// SPDX-License-Identifier: Apache-2.0

/// The distance to one peer over time.
///
/// Kalman filters on distance and velocity whose noise is white acceleration, in the order
/// validate, gate, weigh, filter:
///
/// - a sample further than `gate` standard deviations from the prediction is rejected;
/// - the others count less the further away they are, as if the noise had heavy tails;
/// - a sample without line of sight counts as if it were noisier;
/// - a run of rejected samples, or a long gap, begins again: the peer was moved, or the first
///   sample was wrong.
///
/// How much the peer accelerates and how noisy the samples are it learns from the samples.
///
/// Fixed size, a value, and no allocation: keep one for each peer.
public struct RangeEstimator: Sendable, Hashable {
  /// How the estimator behaves.
  public let parameters: Parameters
  /// Samples rejected as outliers since the last accepted one.
  public private(set) var rejections = 0
  /// What is known of the samples' noise.
  private(set) var noise: RangeNoise

  private var motion: RangeMotion?
  /// The last sample that was looked at, to recognise its repetition.
  private var lastTime = 0.0
  private var lastDistance = 0.0
  /// Samples that support the state, up to two.
  private var support = 0
  /// The logarithm of how likely the samples were, less what is the same for all parameters.
  private(set) var evidence = 0.0

  /// Lets the peer go any way from where it is.
  mutating func forgetVelocity() {
    motion?.vv += parameters.initialVelocity * parameters.initialVelocity
  }

  /// Distance and velocity after the last sample that was used.
  var state: RangeState? { motion.map(shown) }

  /// An estimator that has not seen anything.
  public init(_ parameters: Parameters = Parameters()) {
    self.init(parameters, noise: RangeNoise())
  }

  init(_ parameters: Parameters, noise: RangeNoise) {
    self.parameters = parameters
    self.noise = noise
  }

  /// Takes a sample in.
  ///
  /// - Returns: the estimate at the time of the sample; for one that is out of order, repeated or
  ///   invalid the last estimate. nil only when no valid sample has come yet.
  @discardableResult
  public mutating func update(_ sample: RangeSample) -> RangeEstimate? {
    guard sample.isUsable else { return motion.map { estimate($0, .invalid) } }
    guard let known = motion else { return begin(sample, .started) }
    let dt = sample.time - known.time
    if dt < 0 || sample.time < lastTime {
      let back = max(known.time, lastTime) - sample.time
      if back > parameters.gap { return begin(sample, .restartedAfterGap) }
      return estimate(known, .outOfOrder)
    }
    if sample.time == lastTime, sample.distance == lastDistance {
      return estimate(known, .duplicate)
    }
    if dt > parameters.gap { return begin(sample, .restartedAfterGap) }
    let interval = sample.time - lastTime
    (lastTime, lastDistance) = (sample.time, sample.distance)
    // How much a sample says that comes so soon after another one.
    let part =
      interval < parameters.correlationTime
      ? max(interval / parameters.correlationTime, 0.01) : 1

    var next = known
    if parameters.learnsAcceleration { next.mix(min(dt / parameters.movementTime, 0.5)) }
    next.advance(dt, densities)
    let own = variance(of: sample)
    let variance = own * noise.factor
    let surprise = sample.distance - next.r
    let total = next.rr + variance
    let normalised = surprise * surprise / total
    let likelihood = logarithms(normalised, total)
    if isOutlier(normalised, total, next.weight) {
      rejections += 1
      // As likely as `isOutlier` supposes that a sample is wrong.
      evidence -= part * parameters.gate * parameters.gate / 2
      // One against one: what is wrong by much is too long, a corrupt stamp or a detour.
      if support < 2, sample.distance < shown(next).r {
        return begin(sample, .restartedAfterRejections)
      }
      let limit =
        support < 2 ? parameters.unconfirmedRejectionLimit : parameters.rejectionLimit
      if rejections >= limit { return begin(sample, .restartedAfterRejections) }
      return estimate(next, .rejectedAsOutlier)
    }
    evidence += part * likelihood[0]
    if parameters.learnsAcceleration { weigh(&next, likelihood, part) }
    if parameters.learnsNoise, sample.nonLineOfSight != true {
      // Without what a single sample that hardly fits would say.
      let excess = pointwiseMin(normalised, RangeMotion.Lanes(repeating: 9)) * total - next.rr
      noise.take(
        (next.weight * excess).sum() / own,
        of: (next.weight * total).sum() / own)
    }
    let tails = 1 + normalised / parameters.tailFreedom
    next.join(surprise, noise: tails * (variance / part))
    motion = next
    rejections = 0
    support = 2
    return estimate(next, .accepted)
  }

  /// What is expected at `time` (seconds): not before the last accepted sample. nil when no valid
  /// sample has come yet.
  public func prediction(at time: Double) -> RangeEstimate? {
    motion.map {
      // Beyond a day nothing is left to predict.
      let dt = min(max(0, time - $0.time), 86_400)
      var next = $0
      next.advance(dt, densities)
      return estimate(next, .predicted)
    }
  }

  /// Forgets everything.
  public mutating func reset() { self = RangeEstimator(parameters) }

  private mutating func begin(
    _ sample: RangeSample, _ disposition: RangeEstimate.Disposition
  ) -> RangeEstimate {
    let motion = RangeMotion(
      RangeState(
        time: sample.time, r: sample.distance, rr: variance(of: sample) * noise.factor,
        vv: parameters.initialVelocity * parameters.initialVelocity))
    self.motion = motion
    (lastTime, lastDistance) = (sample.time, sample.distance)
    rejections = 0
    support = 1
    return estimate(motion, disposition)
  }

  private func variance(of sample: RangeSample) -> Double {
    let inflation = sample.nonLineOfSight == true ? parameters.nonLineOfSightInflation : 1
    let deviation = sample.standardDeviation * inflation
    return deviation * deviation
  }

  // MARK: lanes

  /// The densities of acceleration that are supposed: sixteen times each other.
  private var densities: RangeMotion.Lanes {
    parameters.learnsAcceleration
      ? RangeMotion.Lanes(0.02, 0.3, 5, 80) * parameters.accelerationDensity
      : RangeMotion.Lanes(repeating: parameters.accelerationDensity)
  }

  private func shown(_ motion: RangeMotion) -> RangeState {
    parameters.learnsAcceleration ? motion.mixture : motion.first
  }

  /// The logarithm of how likely a sample is in each lane: Student's t.
  private func logarithms(
    _ normalised: RangeMotion.Lanes, _ total: RangeMotion.Lanes
  ) -> RangeMotion.Lanes {
    // Where the freedom is infinite: as good as normal.
    let freedom = min(parameters.tailFreedom, 1e6)
    var result = RangeMotion.Lanes.zero
    for lane in 0..<(parameters.learnsAcceleration ? 4 : 1) {
      result[lane] =
        -(freedom + 1) / 2 * Functions.logarithm(1 + normalised[lane] / freedom)
        - Functions.logarithm(total[lane]) / 2
    }
    return result
  }

  /// Whether a sample is less likely than one at the gate would be; with several lanes, than one at
  /// the gate of a filter that knows the distance to a metre, which is as likely as it is that one
  /// in fifty ranges is wrong by anything up to 100 m. Behind rejected samples movement becomes the
  /// likelier reason.
  private func isOutlier(
    _ normalised: RangeMotion.Lanes, _ total: RangeMotion.Lanes, _ weight: RangeMotion.Lanes
  ) -> Bool {
    let gate = parameters.gate * parameters.gate
    guard parameters.learnsAcceleration else { return normalised[0] > gate }
    guard normalised.max() > gate else { return false }
    var likelihood = 0.0
    let impatience = Double(1 << min(rejections, 20))
    for lane in 0..<4 {
      likelihood +=
        impatience * weight[lane] * Functions.exponential((gate - normalised[lane]) / 2)
        / total[lane].squareRoot()
    }
    return likelihood < 1
  }

  private func weigh(
    _ motion: inout RangeMotion, _ likelihood: RangeMotion.Lanes, _ part: Double
  ) {
    let most = likelihood.max()
    for lane in 0..<4 {
      motion.weight[lane] *= Functions.exponential(part * (likelihood[lane] - most))
    }
    motion.weight = pointwiseMax(motion.weight, RangeMotion.Lanes(repeating: 1e-9))
    motion.weight /= motion.weight.sum()
  }

  private func estimate(
    _ motion: RangeMotion, _ disposition: RangeEstimate.Disposition
  ) -> RangeEstimate {
    parameters.estimate(shown(motion), disposition)
  }
}
