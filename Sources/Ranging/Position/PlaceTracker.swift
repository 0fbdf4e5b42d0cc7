// SPDX-License-Identifier: Apache-2.0

/// A moving place out of measurements to anchors, one after the other as they come.
///
/// A Kalman filter on place and velocity with white acceleration, gated and heavy-tailed like
/// `RangeEstimator`. It needs no epochs: each range counts at its own time. A value without
/// allocation for a measurement; only beginning again allocates.
public struct PlaceTracker: Sendable {
  /// How the place moves and the measurements err.
  public struct Parameters: Sendable, Hashable {
    /// Spectral density of the acceleration in m²/s³; see `RangeEstimator.Parameters`.
    public var accelerationDensity = 1.0
    /// One standard deviation of the velocity at the start, in metres per second.
    public var initialVelocity = 1.0
    /// Standard deviations beyond which a measurement is an outlier.
    public var gate = 4.0
    /// Freedom of the tails; see `RangeEstimator.Parameters.tailFreedom`.
    public var tailFreedom = 4.0
    /// Seconds within which measurements to one anchor share their error.
    public var correlationTime = 0.4
    /// What is known of the height. It is recalled once in each second, so that heights which the
    /// anchors do not tell do not drift.
    public var height: HeightPrior?
    /// Rejections in a row, for each anchor, after which the place is lost.
    public var rejectionLimit = 8

    /// The values for people and trolleys.
    public init() {}
  }

  /// How the place moves and the measurements err.
  public let parameters: Parameters
  /// Measurements rejected as outliers since the last accepted one.
  public private(set) var rejections = 0
  /// Sum of the logarithms of how likely the measurements were: to choose among beginnings.
  public private(set) var evidence = 0.0

  struct State: Sendable {
    var time: Double
    var mean: Vector6
    var covariance: Matrix6
  }
  private(set) var state: State
  private var recalled: Double

  /// From a place.
  public init(at place: PlaceEstimate, time: Double, _ parameters: Parameters = Parameters()) {
    self.parameters = parameters
    var mean = Vector6()
    (mean[0], mean[1], mean[2]) = (place.place.x, place.place.y, place.place.z)
    var covariance = Matrix6()
    let c = place.covariance
    (covariance[0, 0], covariance[1, 1], covariance[2, 2]) = (c.xx, c.yy, c.zz)
    (covariance[0, 1], covariance[1, 0]) = (c.xy, c.xy)
    (covariance[0, 2], covariance[2, 0]) = (c.xz, c.xz)
    (covariance[1, 2], covariance[2, 1]) = (c.yz, c.yz)
    let v = parameters.initialVelocity * parameters.initialVelocity
    (covariance[3, 3], covariance[4, 4], covariance[5, 5]) = (v, v, v)
    state = State(time: time, mean: mean, covariance: covariance)
    recalled = time
  }

  /// Where the place is.
  public var place: Vector3 { Vector3(state.mean[0], state.mean[1], state.mean[2]) }
  /// Metres per second.
  public var velocity: Vector3 { Vector3(state.mean[3], state.mean[4], state.mean[5]) }
  /// Uncertainty of the place in square metres.
  public var covariance: Symmetric3 { state.placeCovariance }

  /// Goes on to a time in seconds; not back.
  public mutating func advance(to time: Double) {
    let dt = time - state.time
    guard dt > 0, dt.isFinite else { return }
    state = state.advanced(dt, parameters.accelerationDensity)
  }

  /// Takes a measurement in, at its time.
  ///
  /// - Parameter interval: seconds since the measurement before it to the same anchor.
  /// - Returns: whether it was used.
  @discardableResult
  public mutating func update(
    _ observation: PlaceObservation, time: Double, interval: Double = .infinity
  ) -> Bool {
    guard time.isFinite, observation.value.isFinite, observation.standardDeviation > 0 else {
      return false
    }
    advance(to: time)
    recallHeight()
    let (value, gradient) = observation.expected(at: place)
    let noise = observation.standardDeviation * observation.standardDeviation
    let own = covariance.times(gradient).dot(gradient)
    let surprise = observation.value - value
    let normalised = surprise * surprise / (own + noise)
    evidence -= min(normalised, 2 * parameters.gate * parameters.gate) / 2
    evidence -= Functions.logarithm(own + noise) / 2
    guard normalised <= parameters.gate * parameters.gate else {
      rejections += 1
      return false
    }
    rejections = 0
    var inflated = noise * (1 + normalised / parameters.tailFreedom)
    if interval < parameters.correlationTime {
      inflated *= min(parameters.correlationTime / max(interval, 1e-6), 100)
    }
    state.join(gradient, surprise, inflated)
    return true
  }

  private mutating func recallHeight() {
    guard let height = parameters.height else { return }
    let seconds = state.time - recalled
    guard seconds >= 0.05 else { return }
    recalled = state.time
    let variance = height.standardDeviation * height.standardDeviation
    state.join(
      Vector3(0, 0, 1), height.height - state.mean[2],
      variance * (seconds < 1 ? 1 / seconds : 1))
  }
}

extension PlaceTracker.State {
  var placeCovariance: Symmetric3 {
    Symmetric3(
      xx: covariance[0, 0], xy: covariance[0, 1], xz: covariance[0, 2], yy: covariance[1, 1],
      yz: covariance[1, 2], zz: covariance[2, 2])
  }

  /// The state `dt` seconds later, with acceleration of density `q`.
  func advanced(_ dt: Double, _ q: Double) -> Self {
    var next = self
    next.time = time + dt
    for axis in 0..<3 { next.mean[axis] += dt * mean[axis + 3] }
    // F·P·Fᵀ, where F adds dt times the velocity to the place.
    for a in 0..<3 {
      for b in 0..<3 {
        let (pp, pv) = (covariance[a, b], covariance[a, b + 3])
        let (vp, vv) = (covariance[a + 3, b], covariance[a + 3, b + 3])
        next.covariance[a, b] = pp + dt * (pv + vp + dt * vv)
        next.covariance[a, b + 3] = pv + dt * vv
        next.covariance[a + 3, b] = vp + dt * vv
      }
      next.covariance[a, a] += q * dt * dt * dt / 3
      next.covariance[a, a + 3] += q * dt * dt / 2
      next.covariance[a + 3, a] += q * dt * dt / 2
      next.covariance[a + 3, a + 3] += q * dt
    }
    return next
  }

  /// Takes in that the place along `gradient` is `surprise` further, with a variance.
  mutating func join(_ gradient: Vector3, _ surprise: Double, _ noise: Double) {
    var column = Vector6()
    for row in 0..<6 {
      column[row] =
        covariance[row, 0] * gradient.x + covariance[row, 1] * gradient.y
        + covariance[row, 2] * gradient.z
    }
    let own = column[0] * gradient.x + column[1] * gradient.y + column[2] * gradient.z
    let total = own + noise
    guard total > 0, total.isFinite else { return }
    for row in 0..<6 {
      mean[row] += column[row] / total * surprise
      for other in 0...row {
        let value = covariance[row, other] - column[row] * column[other] / total
        covariance[row, other] = value
        covariance[other, row] = value
      }
      covariance[row, row] = max(covariance[row, row], 1e-12)
    }
  }
}
