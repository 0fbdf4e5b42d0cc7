// SPDX-License-Identifier: Apache-2.0

/// A range to a target at rest, taken from a pose of one's own, with an azimuth where there is one.
public struct TargetSighting: Sendable, Hashable {
  /// Seconds.
  public var time: Double
  /// Where the range was taken.
  public var pose: Pose
  /// Metres.
  public var range: Double
  /// Radians, from the device's x towards its y; nil where the antennas tell none.
  public var azimuth: Double?

  /// From its parts.
  public init(time: Double, pose: Pose, range: Double, azimuth: Double? = nil) {
    self.time = time
    self.pose = pose
    self.range = range
    self.azimuth = azimuth
  }
}

/// Where a target is, as far as one's own movement has shown it.
public struct TargetEstimate: Sendable, Hashable {
  /// Whether the target is above or below.
  public enum Vertical: Sendable, Hashable {
    /// Higher by more than a quarter of the distance, and surely.
    case above
    /// About as high.
    case same
    /// Lower.
    case below
    /// Not known.
    case unknown
  }

  /// What keeps the solution from being reported.
  public struct Reasons: OptionSet, Sendable, Hashable {
    /// The reasons, a bit each.
    public let rawValue: UInt8
    /// From bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }
    /// Too little movement.
    public static let movement = Reasons(rawValue: 1)
    /// Left and right look the same: move sideways, or turn.
    public static let horizontalSweep = Reasons(rawValue: 2)
    /// Above and below look the same: move up or down.
    public static let verticalSweep = Reasons(rawValue: 4)
    /// The ranges contradict the movement, or there are too few.
    public static let signal = Reasons(rawValue: 8)
  }

  /// Metres, in the world of the poses.
  public var place: Vector3
  /// Its uncertainty in square metres.
  public var covariance: Symmetric3
  /// From the last pose, radians from the device's x towards its y.
  public var horizontalAngle: Double
  /// One standard deviation of `horizontalAngle`.
  public var angleDeviation: Double
  /// Whether the target is above or below the last pose.
  public var vertical: Vertical
  /// Whether the horizontal angle is right as far as the measurements can tell.
  public var isConverged: Bool
  /// Why not, as what to do; `verticalSweep` may stand beside a converged angle.
  public var reasons: Reasons
}

/// Finds a target at rest from one's own poses and the ranges taken there.
///
/// A single range is a sphere; movement across the line of sight makes it a point, and along a line
/// leaves a mirror. The finder keeps the likeliest places, beginning anew from all round, and reports
/// a direction only when no other place is nearly as likely and the direction is known to degrees.
public struct TargetFinder: Sendable {
  /// What is supposed of ranges, azimuths and poses.
  public struct Parameters: Sendable, Hashable {
    /// Noise of a range in metres, one standard deviation.
    public var rangeDeviation = 0.1
    /// Constant error of all ranges in metres, one standard deviation; nearly unobservable on short
    /// ways.
    public var biasDeviation = 0.12
    /// Noise of an azimuth in radians.
    public var azimuthDeviation = 6 * Double.pi / 180
    /// The probability that an azimuth is wrong altogether.
    public var azimuthOutliers = 0.08
    /// How far the own position drifts, as part of the way.
    public var drift = 0.01
    /// Height of the target relative to the own way before anything is known, in metres: one standard
    /// deviation. Both are mostly between the knees and the ceiling.
    public var heightDeviation = 0.8
    /// Metres of way after which a sighting is kept, and seconds in any case.
    public var spacing = 0.05
    /// Most sightings kept; the oldest are thinned out.
    public var capacity = 240
    /// The standard deviation of the horizontal angle that counts as known.
    public var convergedAngle = 3 * Double.pi / 180
    /// By how much more than that it may be afterwards, so that what is reported does not come and
    /// go.
    public var convergedSlack = 1.6
    /// By how much another place must be less likely: logarithm.
    public var separation = 4.0

    /// Values for hands and phones.
    public init() {}
  }

  /// What is supposed of ranges, azimuths and poses.
  public let parameters: Parameters
  /// The last estimate.
  public private(set) var estimate: TargetEstimate?

  struct Sighting: Sendable {
    var pose: Pose
    /// Mean of the ranges taken here.
    var range: Double
    var count: Double
    var azimuth: Double?
    /// Metres of the own way until here.
    var way: Double
  }
  private(set) var sightings: [Sighting] = []
  private var way = 0.0
  private var last: Vector3?
  private var candidates: [Vector3] = []
  private var sinceSearch = 0
  private var filter: RangeEstimator

  /// A finder that has seen nothing.
  public init(_ parameters: Parameters = Parameters()) {
    self.parameters = parameters
    var filter = RangeEstimator.Parameters()
    // Ranges change no faster than people walk; only gross errors are to be kept out here.
    filter.accelerationDensity = 4
    filter.gate = 5
    filter.learnsNoise = false
    filter.learnsAcceleration = false
    self.filter = RangeEstimator(filter)
    sightings.reserveCapacity(parameters.capacity + 1)
  }

  /// Takes a sighting in.
  ///
  /// - Returns: the estimate with it; nil when there is none yet.
  @discardableResult
  public mutating func update(_ sighting: TargetSighting) -> TargetEstimate? {
    guard sighting.pose.isValid, sighting.range.isFinite, sighting.range > -1,
      sighting.time.isFinite
    else { return estimate }
    if let last { way += (sighting.pose.position - last).length }
    last = sighting.pose.position
    let filtered = filter.update(
      RangeSample(
        time: sighting.time, distance: sighting.range,
        standardDeviation: parameters.rangeDeviation))
    guard filtered?.isAccepted == true else {
      if let estimate { self.estimate = seen(estimate, from: sighting.pose) }
      return estimate
    }
    if filtered?.disposition == .restartedAfterRejections, sightings.count == 1 {
      sightings.removeAll(keepingCapacity: true)
    }
    let isNew = take(sighting)
    if isNew || estimate == nil { solve(from: sighting.pose) }
    if let estimate, !isNew { self.estimate = seen(estimate, from: sighting.pose) }
    return estimate
  }

  /// Joins a sighting with the last one where both are from one place; whether it was another place.
  private mutating func take(_ sighting: TargetSighting) -> Bool {
    let azimuth = sighting.azimuth.flatMap { $0.isFinite ? $0 : nil }
    if let before = sightings.last,
      (before.pose.position - sighting.pose.position).length < parameters.spacing,
      azimuth == nil || before.azimuth == nil || before.count < 1.5
    {
      let index = sightings.count - 1
      if azimuth == nil || before.azimuth != nil {
        sightings[index].count += 1
        sightings[index].range += (sighting.range - before.range) / sightings[index].count
        return false
      }
    }
    sightings.append(
      Sighting(
        pose: sighting.pose, range: max(0, sighting.range), count: 1, azimuth: azimuth,
        way: way))
    if sightings.count > parameters.capacity { thin() }
    return true
  }

  /// Every second one of the older half goes.
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
    let problem = TargetProblem(sightings, parameters, now: way)
    sinceSearch += 1
    var starts = candidates
    let isYoung = sightings.count < 12
    if candidates.count < 2 || isYoung || sinceSearch >= 8 {
      sinceSearch = 0
      let middle = sightings[sightings.count / 2]
      for from in [latest, middle] {
        for turn in 0..<12 {
          let angle = Double(turn) * .pi / 6
          starts.append(
            from.pose.position
              + Vector3(Functions.cosine(angle), Functions.sine(angle), 0) * from.range)
        }
      }
    }
    var found: [TargetProblem.Minimum] = []
    for start in starts {
      guard let minimum = problem.descend(from: start) else { continue }
      let near = max(0.15, 0.05 * latest.range)
      if let same = found.firstIndex(where: { ($0.place - minimum.place).length < near }) {
        if minimum.cost < found[same].cost { found[same] = minimum }
      } else {
        found.append(minimum)
      }
    }
    found.sort { $0.cost < $1.cost }
    candidates = found.prefix(4).map(\.place)
    guard let best = found.first else { return }
    // From one place the ranges leave a sphere: within a hundred metres, all that is said then.
    var information = best.information
    information.xx += 1e-4
    information.yy += 1e-4
    information.zz += 1e-4
    guard var covariance = information.inverse else { return }
    // Ranges that scatter more than supposed tell less than supposed.
    let misfit = problem.misfit(at: best)
    covariance = covariance.scaled(max(1, misfit * misfit))
    let fresh = TargetEstimate(
      place: best.place, covariance: covariance, horizontalAngle: 0, angleDeviation: .pi,
      vertical: .unknown, isConverged: false, reasons: [])
    estimate = judged(fresh, found, problem, misfit, pose)
  }

  private func judged(
    _ raw: TargetEstimate, _ found: [TargetProblem.Minimum], _ problem: TargetProblem,
    _ misfit: Double, _ pose: Pose
  ) -> TargetEstimate {
    var estimate = seen(raw, from: pose)
    var reasons: TargetEstimate.Reasons = []
    let best = found[0]
    let bearing = best.place - pose.position
    let flat = Vector3(bearing.x, bearing.y, 0)
    var rival = false
    for other in found.dropFirst() where other.cost < best.cost + parameters.separation {
      let there = other.place - pose.position
      let angle = Functions.arcTangent(
        flat.x * there.y - flat.y * there.x, flat.x * there.x + flat.y * there.y)
      // The mirror above or below has the same horizontal angle.
      if abs(angle) > 2 * parameters.convergedAngle {
        rival = true
      } else {
        reasons.insert(.verticalSweep)
      }
    }
    let extent = problem.extent
    if sightings.count < 5 { reasons.insert(.signal) }
    let wasConverged = self.estimate?.isConverged == true
    let limit = parameters.convergedAngle * (wasConverged ? parameters.convergedSlack : 1)
    if rival || estimate.angleDeviation > limit {
      let isShort = extent.length < max(0.5, 0.5 * bearing.length)
      reasons.insert(isShort ? .movement : .horizontalSweep)
    }
    if misfit > 2.5 { reasons.insert(.signal) }
    if extent.z < 0.3 { reasons.insert(.verticalSweep) }
    estimate.isConverged = reasons.subtracting(.verticalSweep).isEmpty
    estimate.reasons = reasons
    let height = covarianceHeight(raw)
    let slope = bearing.z / max(0.1, bearing.length)
    if reasons.contains(.verticalSweep) && abs(bearing.z) < 2 * height {
      estimate.vertical = height < 0.25 * bearing.length ? .same : .unknown
    } else {
      estimate.vertical = slope > 0.25 ? .above : slope < -0.25 ? .below : .same
    }
    return estimate
  }

  private func covarianceHeight(_ estimate: TargetEstimate) -> Double {
    max(0, estimate.covariance.zz).squareRoot()
  }

  /// The estimate as it is seen from another pose.
  private func seen(_ estimate: TargetEstimate, from pose: Pose) -> TargetEstimate {
    var result = estimate
    let arm = estimate.place - pose.position
    let distance = max(0.05, (arm.x * arm.x + arm.y * arm.y).squareRoot())
    let across = Vector3(-arm.y / distance, arm.x / distance, 0)
    let variance = estimate.covariance.times(across).dot(across)
    result.horizontalAngle = pose.azimuth(of: estimate.place)
    result.angleDeviation = min(.pi, max(0, variance).squareRoot() / distance)
    return result
  }
}
