// SPDX-License-Identifier: Apache-2.0

/// The distance to one peer over time.
///
/// A Kalman filter on distance and velocity whose noise is white acceleration, in the order
/// validate, gate, weigh, filter:
///
/// - a sample further than `gate` standard deviations from the prediction is rejected;
/// - the others count less the further away they are, as if the noise had heavy tails;
/// - a sample without line of sight counts as if it were noisier;
/// - a run of rejected samples, or a long gap, begins again: the peer was moved, or the first
///   sample was wrong.
///
/// Fixed size, a value, and no allocation: keep one for each peer.
public struct RangeEstimator: Sendable, Hashable {
  /// How the estimator behaves.
  public struct Parameters: Sendable, Hashable {
    /// Spectral density of the acceleration in m²/s³. 1 suits hands and walking people; 0.01
    /// something that hardly moves, 10 a drone.
    public var accelerationDensity = 1.0
    /// One standard deviation of the velocity at the start, in metres per second.
    public var initialVelocity = 2.0
    /// Standard deviations beyond which a sample is an outlier.
    public var gate = 4.0
    /// Freedom of the tails: a sample that is n standard deviations away counts as if its variance
    /// were (1 + n²/tailFreedom) times as large. Infinite: a plain Kalman filter.
    public var tailFreedom = 4.0
    /// What the standard deviation is multiplied by without line of sight. At least 1.
    public var nonLineOfSightInflation = 4.0
    /// Rejected samples in a row after which the estimate begins again; at least 1.
    public var rejectionLimit = 8
    /// The same as long as only one sample supports the estimate, which may itself be the outlier.
    public var unconfirmedRejectionLimit = 2
    /// Seconds without an accepted sample after which the estimate begins again.
    public var gap = 5.0
    /// Seconds within which samples share their error: reflections change with the place, not with
    /// the frame. Many samples within it count as one, so that a stream of 100 Hz is not believed
    /// to be ten times as good as one of 1 Hz.
    public var correlationTime = 0.1

    /// The values for phones, tags and people on foot.
    public init() {}
  }

  /// How the estimator behaves.
  public let parameters: Parameters
  /// Samples rejected as outliers since the last accepted one.
  public private(set) var rejections = 0

  /// Distance (r, metres) and velocity (v, metres per second) with their covariance.
  struct State: Sendable, Hashable {
    var time: Double
    var r: Double
    var v = 0.0
    var rr: Double
    var rv = 0.0
    var vv: Double

    /// The state `dt` seconds later, with acceleration of density `q`.
    func advanced(_ dt: Double, _ q: Double) -> State {
      var next = self
      next.time = time + dt
      next.r = r + v * dt
      // Not below a micrometre: rounding could make it negative where both are nearly one.
      next.rr = max(1e-12, rr + dt * (2 * rv + dt * (vv + q * dt / 3)))
      next.rv = rv + dt * (vv + q * dt / 2)
      next.vv = vv + q * dt
      return next
    }
  }
  private(set) var state: State?
  /// The last sample that was looked at, to recognise its repetition.
  private var lastTime = 0.0
  private var lastDistance = 0.0
  /// Samples that support the state, up to two.
  private var support = 0

  /// An estimator that has not seen anything.
  public init(_ parameters: Parameters = Parameters()) { self.parameters = parameters }

  /// Takes a sample in.
  ///
  /// - Returns: the estimate at the time of the sample; for one that is out of order, repeated or
  ///   invalid the last estimate. nil only when no valid sample has come yet.
  @discardableResult
  public mutating func update(_ sample: RangeSample) -> RangeEstimate? {
    guard sample.isUsable else { return state.map { Self.estimate($0, .invalid) } }
    guard let known = state else { return begin(sample, .started) }
    let dt = sample.time - known.time
    if dt < 0 || sample.time < lastTime {
      let back = max(known.time, lastTime) - sample.time
      if back > parameters.gap { return begin(sample, .restartedAfterGap) }
      return Self.estimate(known, .outOfOrder)
    }
    if sample.time == lastTime, sample.distance == lastDistance {
      return Self.estimate(known, .duplicate)
    }
    if dt > parameters.gap { return begin(sample, .restartedAfterGap) }
    let interval = sample.time - lastTime
    (lastTime, lastDistance) = (sample.time, sample.distance)

    var next = known.advanced(dt, parameters.accelerationDensity)
    var noise = variance(of: sample)
    let surprise = sample.distance - next.r
    let normalised = surprise * surprise / (next.rr + noise)
    if normalised > parameters.gate * parameters.gate {
      rejections += 1
      // One against one: what is wrong by much is too long, a corrupt stamp or a detour.
      if support < 2, surprise < 0 { return begin(sample, .restartedAfterRejections) }
      let limit =
        support < 2 ? parameters.unconfirmedRejectionLimit : parameters.rejectionLimit
      if rejections >= limit { return begin(sample, .restartedAfterRejections) }
      return Self.estimate(next, .rejectedAsOutlier)
    }
    noise *= 1 + normalised / parameters.tailFreedom
    if interval < parameters.correlationTime {
      // An interval may be nothing, or minus nothing.
      noise *= min(parameters.correlationTime / max(interval, 1e-9), 100)
    }
    let total = next.rr + noise
    let (gainR, gainV) = (next.rr / total, next.rv / total)
    next.r += gainR * surprise
    next.v += gainV * surprise
    next.vv -= gainV * next.rv
    // rr·noise/(rr + noise) rather than a difference, so that rounding cannot make it negative.
    next.rv *= noise / total
    next.rr *= noise / total
    // Rounding must not leave more correlation than there is variance.
    if next.rv * next.rv > next.rr * next.vv { next.vv = next.rv * next.rv / max(next.rr, 1e-300) }
    state = next
    rejections = 0
    support = 2
    return Self.estimate(next, .accepted)
  }

  /// What is expected at `time` (seconds): not before the last accepted sample. nil when no valid
  /// sample has come yet.
  public func prediction(at time: Double) -> RangeEstimate? {
    state.map {
      // Beyond a day nothing is left to predict.
      let dt = min(max(0, time - $0.time), 86_400)
      return Self.estimate($0.advanced(dt, parameters.accelerationDensity), .predicted)
    }
  }

  /// Forgets everything.
  public mutating func reset() { self = RangeEstimator(parameters) }

  private mutating func begin(
    _ sample: RangeSample, _ disposition: RangeEstimate.Disposition
  ) -> RangeEstimate {
    let state = State(
      time: sample.time, r: sample.distance, rr: variance(of: sample),
      vv: parameters.initialVelocity * parameters.initialVelocity)
    self.state = state
    (lastTime, lastDistance) = (sample.time, sample.distance)
    rejections = 0
    support = 1
    return Self.estimate(state, disposition)
  }

  private func variance(of sample: RangeSample) -> Double {
    let inflation = sample.nonLineOfSight == true ? parameters.nonLineOfSightInflation : 1
    let deviation = sample.standardDeviation * inflation
    return deviation * deviation
  }

  static func estimate(
    _ state: State, _ disposition: RangeEstimate.Disposition
  ) -> RangeEstimate {
    RangeEstimate(
      time: state.time, distance: state.r, standardDeviation: state.rr.squareRoot(),
      velocity: state.v, velocityStandardDeviation: max(0, state.vv).squareRoot(),
      disposition: disposition)
  }
}
