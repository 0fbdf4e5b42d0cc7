// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Filters the distance to one peer over time.
///
/// The filters are Kalman filters of distance and velocity with white acceleration. Each sample is
/// validated, compared with the prediction, weighted and filtered:
///
/// - a sample further than `gate` standard deviations from the prediction is rejected;
/// - the weight of other samples decreases with their distance from the prediction, as if the noise
///   had heavy tails;
/// - a sample without line of sight has a greater deviation;
/// - a run of rejected samples, or a long gap, restarts the filter: the peer was moved, or the
///   first sample was wrong.
///
/// The acceleration of the peer and the noise of the samples are learned from the samples.
///
/// A value of fixed size that never allocates. Use one for each peer.
public struct RangeEstimator: Sendable, Hashable {
  /// Model parameters.
  public struct Parameters: Sendable, Hashable {
    /// Spectral density of the acceleration in m²/s³: 1 for hands and walking people, 0.01 for a
    /// peer that hardly moves, 10 for a drone.
    public var accelerationDensity = 1.0
    /// Whether the density is learned. Filters with 0.02 to 80 times `accelerationDensity` run in
    /// parallel, weighted by the likelihood of the samples under each.
    public var learnsAcceleration = true
    /// Mean time in seconds after which a peer changes its kind of movement.
    package var movementTime = 60.0
    /// Whether a factor on the standard deviations of the samples is learned.
    public var learnsNoise = true
    /// One standard deviation in metres of an error that changes slowly with position and posture:
    /// reflections, antenna patterns. Samples within seconds share it, so no filter removes it;
    /// every stated deviation includes it. Two recordings with known truth show 5.5 to 6 cm that
    /// change within 2 to 4 s (indoors, a trolley) and 4 cm (outdoors, between positions). Each
    /// pair's bias was learned there at many positions; if learned at one, 9 to 10 cm remain.
    public var slowDeviation = 0.07
    /// One standard deviation in metres of an error that all samples share, such as the error of
    /// uncalibrated antenna delays. It only affects the stated deviation.
    package var constantDeviation = 0.0
    /// The possible error of the first sample in addition to its noise: one standard deviation in
    /// metres. The second sample is compared with the first one by it. With 0, the first sample is
    /// trusted.
    package var initialDoubt = 0.4
    /// One standard deviation of the velocity at the start, in metres per second.
    package var initialVelocity = 2.0
    /// Standard deviations beyond which a sample is an outlier.
    public var gate = 4.0
    /// Degrees of freedom of the noise (Student's t): a sample that is n standard deviations away
    /// is weighted as if its variance were (1 + n²/tailFreedom) times as large. With infinity, the
    /// filter is a plain Kalman filter.
    package var tailFreedom = 4.0
    /// Factor on the standard deviation of samples without line of sight, at least 1.
    package var nonLineOfSightInflation = 4.0
    /// The variance of the detour of a sample with `nonLineOfSight`, in square metres. It equals
    /// the variance by `LineOfSightModel` for a probability of 0.9.
    package var nonLineOfSightDoubt = LineOfSightModel().effect(probability: 0.9, on: 0).doubt
    /// Consecutive rejected samples after which the estimate restarts; at least 1.
    package var rejectionLimit = 8
    /// The limit while the estimate depends on a single sample, which may itself be the outlier.
    package var unconfirmedRejectionLimit = 2
    /// Seconds without an accepted sample after which the estimate restarts.
    public var gap = 5.0
    /// Seconds within which samples share their error: reflections change with the position, not
    /// with the frame. All samples within this time count together as one, so that 100 Hz is not
    /// ten times as exact as 1 Hz. In a 100 Hz recording with known truth, samples within 0.05 to
    /// 0.1 s share the fast part of the error.
    package var correlationTime = 0.1

    /// Creates parameters for phones, tags and pedestrians; other movement is learned.
    public init() {}
  }

  /// Model parameters.
  package let parameters: Parameters
  /// Samples rejected as outliers since the last accepted one.
  package private(set) var rejections = 0
  /// The learned noise of the samples.
  package private(set) var noise: RangeNoise

  private var motion: RangeMotion?
  /// The factor on the square of `slowDeviation` that the used samples have on average: more than 1
  /// where the path may be blocked.
  package private(set) var shared = 1.0
  /// The variance in square metres of the detour that the used samples share; see
  /// `RangeSample.doubt`.
  package private(set) var doubt = 0.0
  /// The time of the last sample, for detecting its repetition.
  private var lastTime = 0.0
  private var lastDistance = 0.0
  /// The number of samples that support the state, up to two.
  private var support = 0
  /// The first samples, until the wrong ones among them are identified.
  private var beginning: RangeBeginning?
  /// The log-likelihood of the samples, without terms that do not depend on the parameters.
  package private(set) var logLikelihood = 0.0

  /// Makes the velocity as uncertain as at the start.
  package mutating func inflateVelocity() {
    motion?.vv += parameters.initialVelocity * parameters.initialVelocity
  }

  /// Distance and velocity after the last used sample.
  package var state: RangeState? { motion.map(reported) }

  /// Creates an estimator.
  public init(_ parameters: Parameters = Parameters()) {
    self.init(parameters, noise: RangeNoise())
  }

  package init(_ parameters: Parameters, noise: RangeNoise) {
    self.parameters = parameters
    self.noise = noise
  }

  /// Updates the estimate with a sample.
  ///
  /// - Returns: the estimate at the time of the sample; the last estimate if the sample is out of
  ///   order, repeated or invalid; nil only before the first valid sample.
  @discardableResult
  public mutating func update(_ sample: RangeSample) -> RangeEstimate? {
    let estimate = filter(sample)
    guard beginning != nil, let estimate else { return estimate }
    return reconsidered(estimate, sample)
  }

  private mutating func filter(_ sample: RangeSample) -> RangeEstimate? {
    guard sample.isUsable else { return motion.map { estimate($0, .invalid) } }
    guard let known = motion else { return start(sample, .started) }
    let dt = sample.time - known.time
    if dt < 0 || sample.time < lastTime {
      let back = max(known.time, lastTime) - sample.time
      if back > parameters.gap { return start(sample, .restartedAfterGap) }
      return estimate(known, .outOfOrder)
    }
    if sample.time == lastTime, sample.distance == lastDistance {
      return estimate(known, .duplicate)
    }
    if dt > parameters.gap { return start(sample, .restartedAfterGap) }
    let interval = sample.time - lastTime
    (lastTime, lastDistance) = (sample.time, sample.distance)
    // A sample soon after another one has less weight.
    let part =
      interval < parameters.correlationTime
      ? max(interval / parameters.correlationTime, 0.01) : 1

    var next = known
    if parameters.learnsAcceleration { next.mix(min(dt / parameters.movementTime, 0.5)) }
    next.advance(dt, densities)
    if support < 2 { next.rr += parameters.initialDoubt * parameters.initialDoubt }
    let residual = Residual(sample, next, own: variance(of: sample), noise)
    let likelihood = logLikelihoods(residual.normalised, residual.total)
    if isOutlier(residual.normalised, residual.total, next.weight) {
      return reject(sample, next, part)
    }
    logLikelihood += part * likelihood[0]
    if parameters.learnsAcceleration { weigh(&next, likelihood, part) }
    return accept(sample, &next, residual, part)
  }

  /// The difference of a sample from its prediction by each model.
  private struct Residual {
    /// The variance of the sample: `own` as stated, `variance` with the learned noise.
    let own, variance: Double
    let innovation, total, normalised: RangeMotion.Lanes

    @inline(__always)
    init(_ sample: RangeSample, _ next: RangeMotion, own: Double, _ noise: RangeNoise) {
      self.own = own
      variance = own * noise.factor
      innovation = sample.distance - next.r
      total = next.rr + variance
      normalised = innovation * innovation / total
    }
  }

  private mutating func reject(
    _ sample: RangeSample, _ next: RangeMotion, _ part: Double
  ) -> RangeEstimate {
    rejections += 1
    // Adds the log-likelihood that `isOutlier` assumes for a wrong sample.
    logLikelihood -= part * parameters.gate * parameters.gate / 2
    // With a single supporting sample, the longer of both distances is assumed to be wrong: corrupt
    // time stamps and detours make distances longer.
    let mayStart = support < 2 && sample.distance < reported(next).r
    let limit = support < 2 ? parameters.unconfirmedRejectionLimit : parameters.rejectionLimit
    if mayStart || rejections >= limit { return start(sample, .restartedAfterRejections) }
    return estimate(next, .rejectedAsOutlier)
  }

  @inline(__always)
  private mutating func accept(
    _ sample: RangeSample, _ next: inout RangeMotion, _ residual: Residual, _ part: Double
  ) -> RangeEstimate {
    let (own, total) = (residual.own, residual.total)
    if parameters.learnsNoise, sample.nonLineOfSight != true {
      // Limits the influence of a sample that is nearly an outlier.
      let excess =
        pointwiseMin(residual.normalised, RangeMotion.Lanes(repeating: 9)) * total - next.rr
      noise.update(
        (next.weight * excess).sum() / own,
        of: (next.weight * total).sum() / own)
    }
    let tails = 1 + residual.normalised / parameters.tailFreedom
    let variance = tails * (residual.variance / part)
    let gain = (next.weight * next.rr / (next.rr + variance)).sum()
    shared += gain * (inflation(of: sample) - shared)
    doubt += gain * (self.doubt(of: sample) - doubt)
    next.update(residual.innovation, noise: variance)
    motion = next
    rejections = 0
    support = 2
    return estimate(next, .accepted)
  }

  /// Returns the prediction for `time` in seconds. For earlier times, it is the estimate at the
  /// last accepted sample. Returns nil before the first valid sample.
  public func prediction(at time: Double) -> RangeEstimate? {
    motion.map {
      // After more than a day, a prediction is meaningless.
      let dt = min(max(0, time - $0.time), 86_400)
      var next = $0
      next.advance(dt, densities)
      return estimate(next, .predicted)
    }
  }

  private mutating func start(
    _ sample: RangeSample, _ disposition: RangeEstimate.Disposition
  ) -> RangeEstimate {
    let motion = RangeMotion(
      RangeState(
        time: sample.time, r: sample.distance, rr: variance(of: sample) * noise.factor,
        vv: parameters.initialVelocity * parameters.initialVelocity))
    self.motion = motion
    (shared, doubt) = (inflation(of: sample), doubt(of: sample))
    (lastTime, lastDistance) = (sample.time, sample.distance)
    rejections = 0
    support = 1
    beginning =
      parameters.initialDoubt > 0
      ? RangeBeginning(sample, variance: variance(of: sample) * noise.factor, noise) : nil
    return estimate(motion, disposition)
  }

  /// Returns the estimate from all of the first samples if one of them was wrong; `estimate`
  /// otherwise.
  private mutating func reconsidered(
    _ estimate: RangeEstimate, _ sample: RangeSample
  ) -> RangeEstimate {
    guard estimate.disposition == .accepted || estimate.disposition == .rejectedAsOutlier,
      var first = beginning
    else { return estimate }
    guard first.includes(sample.time) else {
      beginning = nil
      return estimate
    }
    let isEnough = first.add(sample, variance: variance(of: sample) * first.noise.factor)
    beginning = first
    guard isEnough, let (state, fits) = first.line(parameters) else { return estimate }
    let motion = RangeMotion(state)
    (self.motion, noise) = (motion, first.noise)
    (support, rejections) = (2, fits ? 0 : 1)
    return self.estimate(motion, fits ? .accepted : .rejectedAsOutlier)
  }

  private func variance(of sample: RangeSample) -> Double {
    let inflation = sample.nonLineOfSight == true ? parameters.nonLineOfSightInflation : 1
    let deviation = sample.standardDeviation * inflation
    return deviation * deviation
  }

  /// Returns the factor on the variance for a path that is blocked or may be blocked.
  private func inflation(of sample: RangeSample) -> Double {
    guard sample.nonLineOfSight == true else { return sample.inflation }
    return parameters.nonLineOfSightInflation * parameters.nonLineOfSightInflation
  }

  /// Returns the variance of the error that an obstacle may add.
  private func doubt(of sample: RangeSample) -> Double {
    sample.nonLineOfSight == true
      ? max(sample.doubt, parameters.nonLineOfSightDoubt) : sample.doubt
  }

  // MARK: models

  /// The acceleration density of each model, about sixteen times the density of the model before.
  private var densities: RangeMotion.Lanes {
    parameters.learnsAcceleration
      ? RangeMotion.Lanes(0.02, 0.3, 5, 80) * parameters.accelerationDensity
      : RangeMotion.Lanes(repeating: parameters.accelerationDensity)
  }

  private func reported(_ motion: RangeMotion) -> RangeState {
    parameters.learnsAcceleration ? motion.mixture : motion.first
  }

  /// Returns the log-likelihood of a sample under each model (Student's t).
  private func logLikelihoods(
    _ normalised: RangeMotion.Lanes, _ total: RangeMotion.Lanes
  ) -> RangeMotion.Lanes {
    // With degrees of freedom beyond 1e6, the distribution is nearly normal; infinity would not
    // compute.
    let freedom = min(parameters.tailFreedom, 1e6)
    var result = RangeMotion.Lanes.zero
    for lane in 0..<(parameters.learnsAcceleration ? 4 : 1) {
      result[lane] =
        -(freedom + 1) / 2 * log(1 + normalised[lane] / freedom)
        - log(total[lane]) / 2
    }
    return result
  }

  /// Returns whether a sample is an outlier: less likely than a sample at the gate.
  ///
  /// With several models, the limit is the probability density at the gate of a normal distribution
  /// with a deviation of 1 m. It is about the density of uniform outliers up to 100 m that are one
  /// in fifty ranges. Each rejected sample doubles the likelihood of the next one, because movement
  /// becomes the more likely cause.
  private func isOutlier(
    _ normalised: RangeMotion.Lanes, _ total: RangeMotion.Lanes, _ weight: RangeMotion.Lanes
  ) -> Bool {
    let gate = parameters.gate * parameters.gate
    guard parameters.learnsAcceleration else { return normalised[0] > gate }
    guard normalised.max() > gate else { return false }
    var likelihood = 0.0
    let boost = Double(1 << min(rejections, 20))
    for lane in 0..<4 {
      likelihood +=
        boost * weight[lane] * exp((gate - normalised[lane]) / 2)
        / total[lane].squareRoot()
    }
    return likelihood < 1
  }

  private func weigh(
    _ motion: inout RangeMotion, _ likelihood: RangeMotion.Lanes, _ part: Double
  ) {
    let most = likelihood.max()
    for lane in 0..<4 {
      motion.weight[lane] *= exp(part * (likelihood[lane] - most))
    }
    motion.weight = pointwiseMax(motion.weight, RangeMotion.Lanes(repeating: 1e-9))
    motion.weight /= motion.weight.sum()
  }

  private func estimate(
    _ motion: RangeMotion, _ disposition: RangeEstimate.Disposition
  ) -> RangeEstimate {
    parameters.estimate(reported(motion), disposition, shared: shared, doubt: doubt)
  }
}

extension RangeEstimator.Parameters {
  /// Returns the estimate for a state; `shared` and `doubt` are properties of the estimator.
  package func estimate(
    _ state: RangeState, _ disposition: RangeEstimate.Disposition, shared: Double, doubt: Double
  ) -> RangeEstimate {
    let slow = shared * slowDeviation * slowDeviation
    // The variance of the first samples may include the doubt already, so the greater of both
    // counts.
    let total = max(state.rr, doubt) + slow + constantDeviation * constantDeviation
    return RangeEstimate(
      time: state.time, distance: state.r, standardDeviation: total.squareRoot(),
      shortTermDeviation: (state.rr + slow).squareRoot(), velocity: state.v,
      velocityStandardDeviation: max(0, state.vv).squareRoot(),
      disposition: disposition)
  }
}
