// SPDX-License-Identifier: Apache-2.0

/// A moving place together with the errors of the anchors, from measurements as they come.
///
/// A Kalman filter on place and velocity with white acceleration, gated and heavy-tailed like
/// `RangeEstimator`, with two states more for each anchor: its constant error and the one that
/// changes slowly. Where measurements do not tell an error from a place, both stay uncertain
/// together. It needs no epochs: each range counts at its own time. Nothing is allocated for a
/// measurement.
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
    /// What is known of the height. It is recalled once in each second, so that heights which the
    /// anchors do not tell do not drift.
    public var height: HeightPrior?
    /// By how many rejections have to outweigh what was accepted for the place to be lost: so many,
    /// or two for each anchor where that is more.
    public var rejectionLimit = 8

    /// The values for people and trolleys.
    public init() {}

    /// What the known height says at a time, since it was recalled last.
    ///
    /// - Returns: how much higher it is, and the variance; nil: nothing for now.
    func recall(
      _ own: Double, now: Double, since recalled: inout Double
    ) -> (surprise: Double, variance: Double)? {
      guard let height else { return nil }
      let seconds = now - recalled
      guard seconds >= 0.05 else { return nil }
      recalled = now
      let variance = height.standardDeviation * height.standardDeviation
      return (height.height - own, variance * (seconds < 1 ? 1 / seconds : 1))
    }
  }

  /// How the place moves and how measurements are judged.
  public let parameters: Parameters
  /// How measurements err beside their noise.
  public let errors: PlaceErrorModel
  private let sources: Int
  /// Place, velocity, constant errors, slow errors.
  let size: Int
  private var mean: [Double]
  private var states: [Double]
  private var time: Double
  private var recalled: Double
  private var column: [Double]
  /// The logarithm of how likely the measurements were, less what is the same for every tracker: to
  /// choose among beginnings.
  public private(set) var evidence = 0.0
  /// Measurements rejected as outliers since the last accepted one.
  public private(set) var rejections = 0
  /// Rejections less what was accepted, since the first began to outweigh the second: at a wrong
  /// place a measurement still fits now and then.
  public private(set) var doubt = 0
  /// What it does is kept here, if there is one, to smooth the way.
  var tape: PlaceTape?

  /// From a place.
  ///
  /// - Parameters:
  ///   - time: seconds.
  ///   - sources: how many anchors there are.
  public init(
    at place: PlaceEstimate, time: Double, sources: Int,
    errors: PlaceErrorModel = PlaceErrorModel(), _ parameters: Parameters = Parameters()
  ) {
    (self.parameters, self.errors, self.sources) = (parameters, errors, sources)
    (self.time, recalled) = (time, time)
    size = 6 + 2 * sources
    mean = [Double](repeating: 0, count: size)
    column = mean
    states = [Double](repeating: 0, count: size * size)
    for row in 6..<(6 + sources) {
      for other in 6..<(6 + sources) {
        states[row * size + other] = errors.shared * errors.shared
      }
      states[row * size + row] += errors.own * errors.own
      let slow = row + sources
      states[slow * size + slow] = errors.slow * errors.slow
    }
    restart(at: place, time: time)
  }

  /// Begins at another place and time. What is known of the errors stays.
  public mutating func restart(at place: PlaceEstimate, time: Double) {
    self.time = time
    (rejections, doubt) = (0, 0)
    (mean[0], mean[1], mean[2]) = (place.place.x, place.place.y, place.place.z)
    for axis in 3..<6 { mean[axis] = 0 }
    for row in 0..<6 {
      for other in 0..<size {
        states[row * size + other] = 0
        states[other * size + row] = 0
      }
    }
    let c = place.covariance
    for (row, line) in [[c.xx, c.xy, c.xz], [c.xy, c.yy, c.yz], [c.xz, c.yz, c.zz]].enumerated() {
      for (other, value) in line.enumerated() { states[row * size + other] = value }
    }
    for axis in 3..<6 {
      states[axis * size + axis] = parameters.initialVelocity * parameters.initialVelocity
    }
    tape?.events.append(.restart)
  }

  /// Where the place is.
  public var place: Vector3 { Vector3(mean[0], mean[1], mean[2]) }

  /// Metres per second.
  public var velocity: Vector3 { Vector3(mean[3], mean[4], mean[5]) }

  /// Uncertainty of the place in square metres.
  public var covariance: Symmetric3 {
    Symmetric3(
      xx: states[0], xy: states[1], xz: states[2], yy: states[size + 1],
      yz: states[size + 2], zz: states[2 * size + 2])
  }

  /// What is known by now of the error of an anchor, in metres.
  public func error(of source: Int) -> Double { mean[6 + source] + mean[6 + sources + source] }

  /// What is known by now of the error of such a measurement.
  func error(of sample: PlaceSample) -> Double {
    error(of: sample.source) - (sample.reference.map { error(of: $0) } ?? 0)
  }

  // MARK: time and measurements

  /// Goes on to a time in seconds; not back.
  public mutating func advance(to next: Double) {
    let dt = next - time
    guard dt > 0, dt.isFinite else { return }
    time = next
    // F·P·Fᵀ, where F adds dt times the velocity to the place and lets slow errors fade.
    for axis in 0..<3 { mean[axis] += dt * mean[axis + 3] }
    for axis in 0..<3 {
      for other in 0..<size {
        states[axis * size + other] += dt * states[(axis + 3) * size + other]
      }
    }
    for axis in 0..<3 {
      for other in 0..<size {
        states[other * size + axis] += dt * states[other * size + axis + 3]
      }
    }
    let q = parameters.accelerationDensity
    for axis in 0..<3 {
      states[axis * size + axis] += q * dt * dt * dt / 3
      states[axis * size + axis + 3] += q * dt * dt / 2
      states[(axis + 3) * size + axis] += q * dt * dt / 2
      states[(axis + 3) * size + axis + 3] += q * dt
    }
    let rest = fade(dt)
    if errors.slow > 0 {
      for slow in (6 + sources)..<size {
        mean[slow] *= rest
        for other in 0..<size { states[slow * size + other] *= rest }
        for other in 0..<size { states[other * size + slow] *= rest }
        states[slow * size + slow] += errors.slow * errors.slow * (1 - rest * rest)
      }
    }
    tape?.events.append(.advance(dt, fade: rest))
  }

  private func fade(_ dt: Double) -> Double { Functions.exponential(-dt / errors.slowTime) }

  /// Takes a measurement in, at its time. Its anchors are below the number of sources.
  ///
  /// - Returns: whether it was used.
  @discardableResult
  public mutating func update(_ sample: PlaceSample) -> Bool {
    let observation = sample.observation
    guard sample.time.isFinite, observation.value.isFinite, observation.standardDeviation > 0,
      (0..<sources).contains(sample.source), (0..<sources).contains(sample.reference ?? 0)
    else { return false }
    advance(to: sample.time)
    if let (surprise, variance) = parameters.recall(mean[2], now: time, since: &recalled) {
      let own = project(Vector3(0, 0, 1), nil, nil)
      join(Vector3(0, 0, 1), nil, nil, surprise, own + variance)
    }
    let (value, gradient) = observation.expected(at: place)
    let surprise = observation.value - value - error(of: sample)
    let noise = observation.standardDeviation * observation.standardDeviation
    let own = project(gradient, sample.source, sample.reference)
    let normalised = surprise * surprise / (own + noise)
    let freedom = parameters.tailFreedom
    // Student's t.
    evidence -=
      (freedom + 1) / 2 * Functions.logarithm(1 + normalised / freedom)
      + Functions.logarithm(own + noise) / 2
    guard normalised <= parameters.gate * parameters.gate else {
      rejections += 1
      doubt += 1
      return false
    }
    rejections = 0
    doubt = max(0, doubt - 1)
    join(
      gradient, sample.source, sample.reference, surprise,
      own + noise * (1 + normalised / freedom))
    return true
  }

  /// P·H, kept for `join`.
  ///
  /// - Returns: H·P·Hᵀ.
  private mutating func project(
    _ gradient: Vector3, _ source: Int?, _ reference: Int?
  ) -> Double {
    for row in 0..<size {
      let start = row * size
      var sum =
        states[start] * gradient.x + states[start + 1] * gradient.y
        + states[start + 2] * gradient.z
      if let source {
        sum += states[start + 6 + source] + states[start + 6 + sources + source]
      }
      if let reference {
        sum -= states[start + 6 + reference] + states[start + 6 + sources + reference]
      }
      column[row] = sum
    }
    var sum = column[0] * gradient.x + column[1] * gradient.y + column[2] * gradient.z
    if let source { sum += column[6 + source] + column[6 + sources + source] }
    if let reference { sum -= column[6 + reference] + column[6 + sources + reference] }
    return sum
  }

  private mutating func join(
    _ gradient: Vector3, _ source: Int?, _ reference: Int?, _ surprise: Double, _ total: Double
  ) {
    guard total > 0, total.isFinite else { return }
    tape?.add(gradient, source, reference, surprise, total, column)
    for row in 0..<size {
      let gain = column[row] / total
      mean[row] += gain * surprise
      let start = row * size
      for other in 0..<size { states[start + other] -= gain * column[other] }
      states[start + row] = max(states[start + row], 1e-12)
    }
  }

  /// Notes on the tape where the place is now, and returns it.
  mutating func mark() -> (place: Vector3, covariance: Symmetric3) {
    let (here, rows) = (place, Array(states[..<(3 * size)]))
    tape?.mark(here, rows)
    return (place, covariance)
  }
}
