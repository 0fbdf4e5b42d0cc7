// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A range to a target at rest, measured from a known pose, with an azimuth if there is one.
public struct TargetSighting: Sendable, Hashable {
  /// Seconds.
  package var time: Double
  package var pose: Pose
  /// Metres.
  package var range: Double
  /// Radians, from the device's x towards its y; nil if not measured.
  package var azimuth: Double?

  /// Creates a sighting.
  public init(time: Double, pose: Pose, range: Double, azimuth: Double? = nil) {
    self.time = time
    self.pose = pose
    self.range = range
    self.azimuth = azimuth
  }
}

/// The position of a target at rest, as far as the observer's movement determines it.
public struct TargetEstimate: Sendable, Hashable {
  /// Whether the target is above or below.
  public enum Vertical: Sendable, Hashable {
    /// Higher by more than a quarter of the distance, with certainty.
    case above
    /// At about the same height: within a quarter of the distance.
    case same
    /// Lower by more than a quarter of the distance, with certainty.
    case below
    /// Not at about the same height; the side is unknown.
    case aboveOrBelow
    /// Unknown.
    case unknown
  }

  /// The reasons why a solution has not converged, as advice to the user.
  public struct Reasons: OptionSet, Sendable, Hashable, CustomStringConvertible {
    /// One bit for each reason.
    public let rawValue: UInt8
    /// Creates a set from its bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// Too little movement.
    public static let movement = Reasons(rawValue: 1)
    /// Left and right cannot be distinguished: move sideways, or turn.
    public static let horizontalSweep = Reasons(rawValue: 2)
    /// Above and below cannot be distinguished: move up or down.
    public static let verticalSweep = Reasons(rawValue: 4)
    /// The ranges contradict the movement.
    public static let signal = Reasons(rawValue: 8)
    /// The ranges indicate a moving target; it has to rest.
    public static let targetMovement = Reasons(rawValue: 16)

    /// The names of the reasons, such as `movement+vertical_sweep`; empty without.
    public var description: String {
      let names: [(Self, String)] = [
        (.movement, "movement"), (.horizontalSweep, "horizontal_sweep"),
        (.verticalSweep, "vertical_sweep"), (.signal, "signal"),
        (.targetMovement, "target_movement"),
      ]
      return names.compactMap { contains($0.0) ? $0.1 : nil }.joined(separator: "+")
    }
  }

  /// The position of the target in metres, in the world of the poses.
  public var position: SIMD3<Double>
  /// The covariance of the position in square metres.
  public var covariance: Symmetric3
  /// The direction from the last pose, in radians from the device's x towards its y.
  public var horizontalAngle: Double
  /// One standard deviation of `horizontalAngle` in radians.
  public var angleDeviation: Double
  /// Whether the target is above or below the last pose.
  public var vertical: Vertical
  /// Whether the horizontal angle is known and unambiguous.
  public var isConverged: Bool
  /// The reasons for doubt; `verticalSweep` is possible together with a converged angle.
  public var reasons: Reasons
}

/// Locates a target at rest from ranges measured while moving.
///
/// A single range is a sphere. Movement across the line of sight reduces it to a point; movement
/// along a line leaves a mirror image. The finder keeps the likeliest positions and searches again
/// from all sides. It reports convergence only when no other position is nearly as likely and the
/// direction is known to degrees.
public struct TargetFinder: Sendable {
  /// Model of ranges, azimuths and poses.
  public struct Parameters: Sendable, Hashable {
    /// Noise of a range in metres, one standard deviation. The ranges themselves reveal it, too:
    /// this has the weight of two of them.
    public var rangeDeviation = 0.1
    /// Constant error of all ranges in metres, one standard deviation; nearly unobservable on short
    /// paths. The default is for boards without a calibration.
    package var biasDeviation = ChipFamily.unknown.uncalibratedDeviation
    /// Noise of an azimuth in radians, one standard deviation.
    public var azimuthDeviation = 6 * Double.pi / 180
    /// The probability that an azimuth is wrong altogether.
    package var azimuthOutliers = 0.08
    /// The stretch of the path of the poses, as a fraction of the distance moved.
    package var drift = 0.01
    /// The drift of the heading of the poses in radians per second, one standard deviation. Where
    /// the ranges indicate more, five times as much is assumed.
    public var headingDrift = Double.pi / 180 / 60
    /// The random part of that drift, in radians per square root of a second.
    package var randomHeading = 0.3 * Double.pi / 180 / 60.0.squareRoot()
    /// Prior height of the target relative to the observer in metres, one standard deviation. Less
    /// would win against the ranges of a drone.
    package var heightDeviation = 1.5
    /// Metres of movement after which a sighting is kept as a new one.
    package var spacing = 0.05
    /// Most sightings kept; the oldest are thinned out.
    package var capacity = 240
    /// The number of sightings for each one that may wait for a new solution. One among many hardly
    /// changes the position, and a solution takes most of the time.
    package var sightingsPerWaiting = 40
    /// The standard deviation in radians below which the horizontal angle counts as known.
    package var convergedAngle = 3.2 * Double.pi / 180
    /// The difference by which the log-likelihood of every other position must be lower.
    package var separation = 4.0
    /// The ratio of the residuals to their expected size at which they contradict the movement.
    package var misfit = 6.0
    /// The log-likelihood ratio required to assume a moving target.
    package var movementEvidence = 24.0
    /// The least speed of a moving target in metres per second: slow errors of ranges look like
    /// less.
    package var movementSpeed = 0.1
    /// The number of newest sightings that show that the target rests again.
    package var restSightings = 50
    /// The speed in metres per second that these sightings must exclude.
    package var restSpeed = 0.25
    /// The ratio of the limits at which a reason appears and disappears, so that neither
    /// convergence nor reasons flicker.
    package var convergedSlack = 1.6

    /// Creates parameters for hand-held devices.
    public init() {}
  }

  package let parameters: Parameters
  /// The last estimate.
  public private(set) var estimate: TargetEstimate?

  struct Sighting: Sendable {
    var time: Double
    var pose: Pose
    /// Mean of the ranges measured at this pose.
    var range: Double
    var count: Double
    /// The time of the last sighting.
    var until: Double
    var azimuth: TargetProblem.Azimuth?
    /// Metres moved up to this pose.
    var travelled: Double
    /// The variance of `range` relative to the noise of a single one, of which averaging removes
    /// half. Within a tenth of a second the noise is the same, as in `PositionTracker`.
    var spread = 1.0

    /// Takes another range from the same position into the mean.
    mutating func add(_ another: Double, at time: Double) {
      count += 1
      until = time
      range += (another - range) / count
      spread = 0.5 + 0.5 / min(count, 1 + max(0, until - self.time) / 0.1)
    }
  }
  private(set) var sightings: [Sighting] = []
  private var travelled = 0.0
  private var last: SIMD3<Double>?
  private var candidates: [TargetProblem.Minimum] = []
  private var sinceSearch = 0
  /// New sightings since the last solution.
  private var waiting = 0
  private var filter: RangeEstimator
  private var errors: TargetErrors

  /// Creates a finder for hand-held devices.
  public init(_ parameters: Parameters = Parameters()) {
    self.parameters = parameters
    errors = TargetErrors(deviation: parameters.rangeDeviation)
    var filter = RangeEstimator.Parameters()
    // Ranges change at most at walking speed. This filter rejects only gross errors.
    filter.accelerationDensity = 4
    filter.gate = 5
    filter.learnsNoise = false
    filter.learnsAcceleration = false
    self.filter = RangeEstimator(filter)
    sightings.reserveCapacity(parameters.capacity + 1)
  }

  /// Updates the estimate with a sighting.
  ///
  /// - Returns: the new estimate; nil when there is none yet.
  @discardableResult
  public mutating func update(_ sighting: TargetSighting) -> TargetEstimate? {
    guard sighting.pose.isValid, sighting.range.isFinite, sighting.range > -1,
      sighting.time.isFinite
    else { return estimate }
    if let last { travelled += (sighting.pose.position - last).length }
    last = sighting.pose.position
    let filtered = filter.update(
      RangeSample(
        time: sighting.time, distance: sighting.range,
        standardDeviation: max(parameters.rangeDeviation, errors.deviation)))
    guard filtered?.isAccepted == true else {
      if let estimate { self.estimate = seen(estimate, from: sighting.pose) }
      return estimate
    }
    if filtered?.disposition == .restartedAfterRejections, sightings.count == 1 {
      sightings.removeAll(keepingCapacity: true)
    }
    if add(sighting) { waiting += 1 }
    // Until the direction is known, each sighting may decide.
    let isKnown = estimate?.isConverged == true
    let most = isKnown ? sightings.count / parameters.sightingsPerWaiting : 1
    if estimate == nil || waiting >= max(1, most) {
      waiting = 0
      solve(from: sighting.pose)
    } else if let estimate {
      self.estimate = seen(estimate, from: sighting.pose)
    }
    return estimate
  }

  /// Merges a sighting with the last one where both are from one position.
  ///
  /// - Returns: whether it became a new one.
  private mutating func add(_ sighting: TargetSighting) -> Bool {
    let azimuth = sighting.azimuth.flatMap { $0.isFinite ? $0 : nil }
    if let before = sightings.last,
      (before.pose.position - sighting.pose.position).length < parameters.spacing,
      azimuth == nil || (before.azimuth != nil && before.count < 1.5)
    {
      sightings[sightings.count - 1].add(sighting.range, at: sighting.time)
      return false
    }
    sightings.append(
      Sighting(
        time: sighting.time, pose: sighting.pose, range: max(0, sighting.range), count: 1,
        until: sighting.time,
        azimuth: azimuth.map { TargetProblem.Azimuth($0, from: sighting.pose) },
        travelled: travelled))
    if sightings.count > parameters.capacity { thin() }
    return true
  }

  /// Removes every second sighting of the older half.
  private mutating func thin() {
    let half = sightings.count / 2
    var kept: [Sighting] = []
    kept.reserveCapacity(parameters.capacity + 1)
    for index in sightings.indices where index >= half || index % 2 == 0 {
      kept.append(sightings[index])
    }
    sightings = kept
  }

  private mutating func solve(from pose: Pose) {
    guard let latest = sightings.last else { return }
    let problem = TargetProblem(sightings, parameters, travelled: travelled, errors)
    let near = max(0.15, 0.05 * latest.range)
    var found: [TargetProblem.Minimum] = []
    func search(from start: SIMD3<Double>, bias: Double) {
      guard
        let minimum = problem.descend(from: start, bias: bias, known: found, near: near / 2)
      else { return }
      if let same = found.firstIndex(where: { ($0.position - minimum.position).length < near }) {
        if minimum.cost < found[same].cost { found[same] = minimum }
      } else {
        found.append(minimum)
      }
    }
    for candidate in candidates { search(from: candidate.position, bias: candidate.bias) }
    sinceSearch += 1
    if candidates.isEmpty || sightings.count < 12 || sinceSearch >= 8 {
      sinceSearch = 0
      for side in sides(near) { search(from: side.position, bias: side.bias) }
    }
    if let best = found.min(by: { $0.cost < $1.cost }), problem.extent.z > 0.1 {
      for other in problem.similar(to: best.position, turns: sinceSearch == 0) {
        search(from: other, bias: best.bias)
      }
    }
    // Movement at one height permits a mirror image. Between both, at the height of the movement,
    // the gradient has no vertical part.
    if let best = found.min(by: { $0.cost < $1.cost }) {
      let (position, height) = (best.position, max(0.5, abs(best.position.z - problem.height)))
      for side in [-height, height] {
        search(
          from: SIMD3<Double>(position.x, position.y, problem.height + side), bias: best.bias)
      }
    }
    found.sort { $0.cost < $1.cost }
    candidates = Array(found.prefix(4))
    guard let best = found.first else { return }
    let misfit = problem.misfit(at: best) * errors.deviation / parameters.rangeDeviation
    let isComplete = sinceSearch == 0 || sightings.count < 12
    guard
      let (step, covariance) = errors.refine(
        problem, at: best, parameters, isComplete: isComplete)
    else { return }
    let fresh = TargetEstimate(
      position: best.position + step, covariance: covariance, horizontalAngle: 0,
      angleDeviation: .pi, vertical: .unknown, isConverged: false, reasons: [])
    estimate = judged(fresh, found, problem, misfit, pose)
    // Once the target rests, ranges of its movement contradict any position.
    if sinceSearch == 0, estimate?.reasons.isDisjoint(with: [.targetMovement, .signal]) == false {
      forgetMovement(pose)
    }
  }

  /// Drops the sightings of a target that moved, once it has rested long enough to be located.
  private mutating func forgetMovement(_ pose: Pose) {
    let least = parameters.restSightings
    // A larger number of sightings also locates a far target.
    for newest in [least, 2 * least] where sightings.count >= newest + least {
      var since = self
      since.sightings.removeFirst(sightings.count - newest)
      since.candidates = []
      since.errors = TargetErrors(deviation: parameters.rangeDeviation)
      since.estimate = nil
      since.solve(from: pose)
      guard since.estimate?.isConverged == true, let best = since.candidates.first else { continue }
      let problem = TargetProblem(
        since.sightings, parameters, travelled: travelled, since.errors)
      let movement = TargetMovement(problem, at: best, parameters)
      if movement.speed + 2 * movement.speedDeviation < parameters.restSpeed {
        self = since
        return
      }
    }
  }

  /// Returns possible minima, found from all sides with few of the sightings: enough to locate a
  /// minimum, not to measure its depth.
  private func sides(_ near: Double) -> [TargetProblem.Minimum] {
    let step = (sightings.count + 23) / 24
    let some = stride(from: sightings.count - 1, through: 0, by: -step).map { sightings[$0] }
    let sketch = TargetProblem(some.reversed(), parameters, travelled: travelled, errors)
    var minima: [TargetProblem.Minimum] = []
    for from in [sightings[sightings.count - 1], sightings[sightings.count / 2]] {
      let circle = (0..<12).map { turn in
        let angle = Double(turn) * .pi / 6
        return from.pose.position + SIMD3<Double>(cos(angle), sin(angle), 0) * from.range
      }
      let costs = circle.map(sketch.cost)
      for (turn, start) in circle.enumerated()
      where costs[turn] <= min(costs[(turn + 1) % 12], costs[(turn + 11) % 12]) {
        if let minimum = sketch.descend(from: start, promise: 1e-3, known: minima, near: near / 2) {
          minima.append(minimum)
        }
      }
    }
    minima.sort { $0.cost < $1.cost }
    return minima.filter { $0.cost < minima[0].cost + 2 * parameters.separation }
  }

  private func judged(
    _ raw: TargetEstimate, _ found: [TargetProblem.Minimum], _ problem: TargetProblem,
    _ misfit: Double, _ pose: Pose
  ) -> TargetEstimate {
    var estimate = seen(raw, from: pose)
    var reasons: TargetEstimate.Reasons = []
    let was = self.estimate
    let slack = parameters.convergedSlack
    /// Returns the limit of a quantity above which there is a reason.
    func limit(_ value: Double, for reason: TargetEstimate.Reasons) -> Double {
      was?.reasons.isDisjoint(with: reason) == false ? value / slack : value
    }
    let best = found[0]
    let bearing = best.position - pose.position
    let flat = SIMD3<Double>(bearing.x, bearing.y, 0)
    let separation = parameters.separation
    let isHeightOpen = was?.reasons.contains(.verticalSweep) ?? true
    var rival = false
    var mirror: SIMD3<Double>?
    for other in found.dropFirst() where other.cost < best.cost + separation {
      let there = other.position - pose.position
      let angle = atan2(
        flat.x * there.y - flat.y * there.x, flat.x * there.x + flat.y * there.y)
      // A mirror image above or below the plane has the same horizontal angle.
      if abs(angle) > 2 * parameters.convergedAngle {
        if was?.isConverged != true || other.cost < best.cost + separation / slack { rival = true }
      } else if mirror == nil, isHeightOpen || other.cost < best.cost + separation / slack {
        mirror = there
      }
    }
    let extent = problem.extent
    let angleLimit = parameters.convergedAngle * (was?.isConverged == true ? slack : 1)
    if rival || estimate.angleDeviation > angleLimit || sightings.count < 5 {
      let isShort =
        extent.length < limit(max(0.5, 0.5 * bearing.length), for: .horizontalSweep)
      reasons.insert(isShort || sightings.count < 5 ? .movement : .horizontalSweep)
    }
    // A few ranges agree with any position, or with none.
    if sightings.count >= 10, misfit > limit(parameters.misfit, for: .signal) {
      reasons.insert(.signal)
    }
    let movement = TargetMovement(problem, at: best, parameters)
    if movement.evidence > limit(parameters.movementEvidence, for: .targetMovement),
      movement.speed > limit(parameters.movementSpeed, for: .targetMovement)
    {
      reasons.insert(.targetMovement)
    }
    if mirror != nil || extent.z < 0.3 { reasons.insert(.verticalSweep) }
    estimate.isConverged = reasons.subtracting(.verticalSweep).isEmpty
    estimate.reasons = reasons
    estimate.vertical = Self.vertical(
      bearing, mirror, deviation: max(0, raw.covariance.zz).squareRoot())
    return estimate
  }

  /// - Parameters:
  ///   - mirror: another position, nearly as likely, in the same horizontal direction.
  ///   - deviation: the standard deviation of the height.
  private static func vertical(
    _ bearing: SIMD3<Double>, _ mirror: SIMD3<Double>?, deviation: Double
  ) -> TargetEstimate.Vertical {
    func slope(_ arm: SIMD3<Double>) -> Double { arm.z / max(0.1, arm.length) }
    let uncertainty = 2 * deviation / max(0.1, bearing.length)
    let slopes = [bearing, mirror ?? bearing].map(slope)
    if slopes.allSatisfy({ abs($0) <= 0.25 }) { return uncertainty <= 0.25 ? .same : .unknown }
    guard slopes.allSatisfy({ abs($0) > max(0.25, uncertainty) }) else { return .unknown }
    guard slopes[0] * slopes[1] > 0 else { return .aboveOrBelow }
    return slopes[0] > 0 ? .above : .below
  }

  /// Returns the estimate relative to another pose.
  private func seen(_ estimate: TargetEstimate, from pose: Pose) -> TargetEstimate {
    var result = estimate
    let arm = estimate.position - pose.position
    let distance = max(0.05, (arm.x * arm.x + arm.y * arm.y).squareRoot())
    let across = SIMD3<Double>(-arm.y / distance, arm.x / distance, 0)
    let variance = estimate.covariance.times(across).dot(across)
    result.horizontalAngle = pose.azimuth(of: estimate.position)
    result.angleDeviation = min(.pi, max(0, variance).squareRoot() / distance)
    return result
  }
}
