// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import Ranging

/// Tracks a moving position and the errors of the anchors, measurement by measurement.
///
/// The tracker is a Kalman filter of position and velocity with white acceleration. It has a gate
/// and heavy tails like `RangeEstimator`. Two more states for each anchor are its constant error
/// and its slowly changing error. If measurements cannot separate an error from the position, both
/// stay uncertain. The measurements may be of different times. No measurement allocates.
package struct PositionTracker: Sendable {
  /// The model of the movement, and the limits for measurements.
  package struct Parameters: Sendable, Hashable {
    /// Spectral density of the acceleration in m²/s³; see `RangeEstimator.Parameters`.
    package var accelerationDensity = 1.0
    /// One standard deviation of the velocity at the start, in metres per second.
    package var initialVelocity = 1.0
    /// The number of standard deviations beyond which a measurement is an outlier.
    package var gate = 4.0
    /// The degrees of freedom of the noise; see `RangeEstimator.Parameters.tailFreedom`.
    package var tailFreedom = 4.0
    /// The prior of the height. It is used as a measurement at the start and then once a second. A
    /// height that the anchors do not determine then does not drift.
    package var height: HeightPrior?
    /// The number of rejected minus accepted measurements at which the position is lost.
    ///
    /// If twice the number of anchors is greater, that number applies.
    package var rejectionLimit = 8

    package init() {}

    /// Returns the known height as a measurement. Returns nil if it was used within the last 50 ms.
    ///
    /// - Returns: the known height minus `own`, and its variance.
    func heightMeasurement(
      _ own: Double, now: Double, since last: inout Double
    ) -> (innovation: Double, variance: Double)? {
      guard let height else { return nil }
      let seconds = now - last
      guard seconds >= 0.05 else { return nil }
      last = now
      let variance = height.standardDeviation * height.standardDeviation
      return (height.height - own, variance * (seconds < 1 ? 1 / seconds : 1))
    }
  }

  package private(set) var parameters: Parameters
  package private(set) var errors: PositionErrorModel
  private let sources: Int
  /// The number of states: position, velocity, constant errors, slow errors.
  let size: Int
  private var mean: [Double]
  private var states: [Double]
  private var time: Double
  private var heightTime: Double
  private var repetition: Repetition
  private var column: [Double]
  private var width = LearnedWidth()
  private var hasGreatConstants: Bool
  /// The log-likelihood of the measurements, without terms that are equal for all trackers.
  ///
  /// It is used to choose between starting points.
  package private(set) var logLikelihood = 0.0
  /// The number of rejected minus accepted measurements, at least 0.
  ///
  /// A few measurements are accepted even at a wrong position, so a single one does not reset it.
  package private(set) var rejectionBalance = 0
  /// The history of steps for `PositionSmoother`; nil unless it is needed.
  var history: SmootherHistory?

  /// Creates a tracker from a first position.
  ///
  /// - Parameters:
  ///   - start: the first position.
  ///   - time: seconds.
  ///   - sources: the number of anchors.
  package init(
    at start: PositionEstimate, time: Double, sources: Int, errors: PositionErrorModel,
    _ parameters: Parameters
  ) {
    (self.parameters, self.errors, self.sources) = (parameters, errors, sources)
    (self.time, heightTime) = (time, -.infinity)
    size = 6 + 2 * sources
    hasGreatConstants = errors.isGreat(errors.single.values.max() ?? 0)
    mean = [Double](repeating: 0, count: size)
    column = mean
    repetition = Repetition(sources)
    states = [Double](repeating: 0, count: size * size)
    for row in 6..<(6 + sources) {
      for other in 6..<(6 + sources) {
        states[row * size + other] = errors.shared * errors.shared
      }
      let single = errors.single[row - 6] ?? 0
      states[row * size + row] += errors.own * errors.own + single * single
      let slow = row + sources
      states[slow * size + slow] = errors.slowVariance
    }
    restart(at: start, time: time)
  }

  /// Continues from another position and time. Keeps the estimated errors.
  package mutating func restart(at start: PositionEstimate, time: Double) {
    (self.time, heightTime) = (time, -.infinity)
    rejectionBalance = 0
    repetition = Repetition(sources)
    (mean[0], mean[1], mean[2]) = (start.position.x, start.position.y, start.position.z)
    for axis in 3..<6 { mean[axis] = 0 }
    for row in 0..<6 {
      for other in 0..<size {
        states[row * size + other] = 0
        states[other * size + row] = 0
      }
    }
    let c = start.covariance
    for (row, line) in [[c.xx, c.xy, c.xz], [c.xy, c.yy, c.yz], [c.xz, c.yz, c.zz]].enumerated() {
      for (other, value) in line.enumerated() { states[row * size + other] = value }
    }
    for axis in 3..<6 {
      states[axis * size + axis] = parameters.initialVelocity * parameters.initialVelocity
    }
    history?.events.append(.restart)
  }

  /// The position in metres.
  package var position: SIMD3<Double> { SIMD3<Double>(mean[0], mean[1], mean[2]) }

  /// The covariance of the position in square metres, scaled by the factor that recent innovations
  /// show.
  package var covariance: Symmetric3 {
    Symmetric3(
      xx: states[0], xy: states[1], xz: states[2], yy: states[size + 1],
      yz: states[size + 2], zz: states[2 * size + 2]
    ).scaled(errors.width(width.factor, hasGreatConstants: hasGreatConstants))
  }

  /// Returns the estimated error of an anchor in metres.
  package func error(of source: Int) -> Double { mean[6 + source] + mean[6 + sources + source] }

  /// Returns the estimated error of a measurement in metres.
  func error(of sample: PositionSample) -> Double {
    error(of: sample.source) - (sample.reference.map { error(of: $0) } ?? 0)
  }

  /// Adds a deviation in metres to the constant error of an anchor, which must not have been
  /// measured yet.
  mutating func widen(_ source: Int, by deviation: Double) {
    guard (0..<sources).contains(source) else { return }
    if errors.isGreat(deviation) { hasGreatConstants = true }
    states[(6 + source) * (size + 1)] += deviation * deviation
  }

  /// Continues with another acceleration or slow error. The variances of slow errors change to the
  /// new one within their correlation time.
  mutating func assume(_ parameters: Parameters, slowMultiple: Double) {
    self.parameters = parameters
    errors.slowMultiple = slowMultiple
  }

  // MARK: time and measurements

  /// Predicts the state at a later time in seconds; does nothing for an earlier one.
  package mutating func advance(to next: Double) {
    let dt = next - time
    guard dt > 0, dt.isFinite else { return }
    time = next
    // The covariance becomes F·P·Fᵀ. F adds dt times the velocity to the position, and multiplies
    // slow errors by a factor below 1.
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
    width.fade(dt)
    let decay = fade(dt)
    if errors.slow > 0 {
      for slow in (6 + sources)..<size {
        mean[slow] *= decay
        for other in 0..<size { states[slow * size + other] *= decay }
        for other in 0..<size { states[other * size + slow] *= decay }
        states[slow * size + slow] += errors.slowVariance * (1 - decay * decay)
      }
    }
    history?.events.append(.advance(dt, fade: decay))
  }

  private func fade(_ dt: Double) -> Double { exp(-dt / errors.slowTime) }

  /// Updates the position with a measurement, at its time.
  ///
  /// - Returns: whether it was used; false for outliers, and for anchors with an index of `sources`
  ///   or above.
  @discardableResult
  package mutating func update(_ sample: PositionSample) -> Bool {
    let observation = sample.observation
    guard sample.time.isFinite, observation.value.isFinite, observation.standardDeviation > 0,
      (0..<sources).contains(sample.source), (0..<sources).contains(sample.reference ?? 0)
    else { return false }
    advance(to: sample.time)
    if let (innovation, variance) = parameters.heightMeasurement(
      mean[2], now: time, since: &heightTime)
    {
      var known = SmootherHistory.Measurement(
        gradient: SIMD3<Double>(0, 0, 1), innovation: innovation)
      known.total = project(known) + variance
      correct(known)
    }
    let (value, gradient) = observation.expected(at: position)
    var measurement = SmootherHistory.Measurement(
      gradient: gradient, source: sample.source, reference: sample.reference,
      innovation: observation.value - value - error(of: sample))
    let noise = observation.standardDeviation * observation.standardDeviation
    let own = project(measurement)
    let normalised = measurement.innovation * measurement.innovation / (own + noise)
    width.add(normalised, isDifference: sample.reference != nil)
    let freedom = parameters.tailFreedom
    // The noise has Student's t-distribution.
    logLikelihood -=
      (freedom + 1) / 2 * log(1 + normalised / freedom)
      + log(own + noise) / 2
    guard normalised <= parameters.gate * parameters.gate else {
      rejectionBalance += 1
      return false
    }
    rejectionBalance = max(0, rejectionBalance - 1)
    let since = repetition.add(sample, within: errors.noiseTime)
    measurement.total =
      own + noise * (1 + normalised / freedom) * max(1, errors.noiseTime / max(1e-3, since))
    correct(measurement)
    return true
  }

  /// Computes P·H for `correct`.
  ///
  /// - Returns: H·P·Hᵀ.
  private mutating func project(_ measurement: SmootherHistory.Measurement) -> Double {
    let (gradient, source) = (measurement.gradient, measurement.source)
    let reference = measurement.reference
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

  private mutating func correct(_ measurement: SmootherHistory.Measurement) {
    guard measurement.total > 0, measurement.total.isFinite else { return }
    history?.add(measurement, column)
    for row in 0..<size {
      let gain = column[row] / measurement.total
      mean[row] += gain * measurement.innovation
      let start = row * size
      for other in 0..<size { states[start + other] -= gain * column[other] }
      states[start + row] = max(states[start + row], 1e-12)
    }
  }

  /// The factor on the covariances of a smoother.
  var recordedWidth: Double {
    errors.width(width.recordedFactor, hasGreatConstants: hasGreatConstants)
  }

  /// Adds the position to the history, and returns the position with its covariance.
  mutating func mark() -> (position: SIMD3<Double>, covariance: Symmetric3) {
    let (here, rows) = (position, Array(states[..<(3 * size)]))
    history?.mark(here, rows)
    return (position, covariance)
  }
}

/// The times of recent measurements that share their noise with a new one.
///
/// These are measurements to the same anchor, and differences whose sum is the new difference.
private struct Repetition: Sendable {
  private let sources: Int
  /// The time of the last measurement of each anchor.
  private var ranges: [Double]
  /// The time of the last measurement of each pair of anchors, in both orders.
  private var differences: [Double]
  /// Memory for `connection`: since when each anchor is connected, and which anchors were visited.
  private var since: [Double]
  private var isVisited: [Bool]

  init(_ sources: Int) {
    self.sources = sources
    ranges = [Double](repeating: -.infinity, count: sources)
    differences = [Double](repeating: -.infinity, count: sources * sources)
    since = ranges
    isVisited = [Bool](repeating: false, count: sources)
  }

  /// - Returns: the seconds between the latest of these measurements and the sample.
  mutating func add(_ sample: PositionSample, within time: Double) -> Double {
    let (now, a) = (sample.time, sample.source)
    guard let b = sample.reference else {
      defer { ranges[a] = now }
      return now - ranges[a]
    }
    let last = connection(from: a, to: b, after: now - time)
    differences[a * sources + b] = now
    differences[b * sources + a] = now
    return now - last
  }

  /// Returns the time since which a chain of differences has connected two anchors.
  private mutating func connection(from a: Int, to b: Int, after start: Double) -> Double {
    for index in since.indices { (since[index], isVisited[index]) = (-.infinity, false) }
    var (next, time) = (a, Double.infinity)
    while time > start, next != b {
      isVisited[next] = true
      for other in since.indices {
        since[other] = max(since[other], min(time, differences[next * sources + other]))
      }
      time = -.infinity
      for other in since.indices where !isVisited[other] && since[other] > time {
        (next, time) = (other, since[other])
      }
    }
    return time > start ? time : -.infinity
  }
}

/// The assumed errors of measurements in addition to their noise.
///
/// All are standard deviations in metres.
package struct PositionErrorModel: Sendable, Hashable {
  /// The constant error that all ranges share: the antenna delay of the located device.
  package var shared = 0.15
  /// The constant error of each anchor. Its antenna delay and its surveyed position contribute 5 cm
  /// each.
  ///
  /// In each public recording, measurements are more likely under this value than under 15 cm.
  package var own = 0.07
  /// Additional errors of single anchors, by their index.
  package var single: [Int: Double] = [:]
  /// The error of each anchor that changes slowly, because of antenna patterns and reflections.
  package var slow = 0.075
  /// The factor on `slow` for these measurements.
  var slowMultiple = 1.0
  /// The correlation time of the slow error in seconds.
  package var slowTime = 2.0
  /// The seconds within which all measurements to one anchor together have the information of one.
  ///
  /// Differences between n anchors have the information of n - 1. In a public recording with 100
  /// measurements a second, positions are not better than with 10. Without this limit, their stated
  /// deviations would be smaller.
  package var noiseTime = 0.1

  package init() {}

  /// The errors of boards without a calibration. Each end of a distance contributes half of the
  /// variance. The part of the located device is the same for all anchors. The part of an anchor
  /// also includes the 5 cm of its survey.
  package static var uncalibrated: Self {
    let pair = ChipFamily.unknown.uncalibratedDeviation
    var model = Self()
    model.shared = pair / 2.0.squareRoot()
    model.own = (pair * pair / 2 + 0.05 * 0.05).squareRoot()
    return model
  }

  /// The variance of the slow error in square metres.
  var slowVariance: Double {
    let deviation = slow * slowMultiple
    return deviation * deviation
  }

  /// Returns the factor on covariances for the factor that innovations show.
  ///
  /// Great slow errors cause most of the variance, and small innovations do not reduce it. The
  /// assumed noise hides a part of them. The factor of 1.3 was fitted to simulated flights.
  ///
  /// - Parameter hasGreatConstants: whether constant errors cause most of the variance. Innovations
  ///   do not show them.
  func width(_ shown: Double, hasGreatConstants: Bool) -> Double {
    if slowMultiple > 1 { return 1.3 * max(1, shown) }
    return hasGreatConstants ? max(1, shown) : shown
  }

  /// Returns whether the constant error of an anchor is greater than 14 cm. This is twice the error
  /// in the recordings to which `LearnedWidth` was fitted.
  ///
  /// - Parameter additional: the additional error of the anchor in metres.
  func isGreat(_ additional: Double) -> Bool {
    own * own + additional * additional > 4 * 0.07 * 0.07
  }
}
