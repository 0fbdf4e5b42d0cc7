// SPDX-License-Identifier: Apache-2.0

/// A measurement of one tag. Anchors are named by their index.
package struct TagMeasurement: Sendable, Hashable, Codable {
  package enum Kind: Sendable, Hashable, Codable {
    /// The distance to an anchor in metres.
    case range(anchor: Int)
    /// The distance to the second anchor minus the distance to the first, in metres.
    case difference(Int, Int)
    /// The time of arrival at or from an anchor in metres, up to an unknown time of its round.
    case arrival(anchor: Int, round: Int)
    /// The direction from an anchor in radians: from x towards y, seen from above.
    case azimuth(anchor: Int)
    /// The angle above the horizontal plane of an anchor, in radians.
    case elevation(anchor: Int)
    /// The speed in metres per second over ground, with the turn rate in radians per second.
    case odometry(turn: Double)
  }

  /// The deviation in metres of measurements that must not affect a place.
  static let distrusted = 50.0

  /// The time in seconds.
  package var time: Double
  package var kind: Kind
  package var value: Double
  /// One standard deviation of the noise, greater than 0.
  package var deviation: Double
  /// The probability that the direct path is blocked, 0 to 1.
  package var blocked: Double
  /// The variance in m² of an error that consecutive arrivals share; nil: none.
  var shared: Double?

  package init(
    time: Double, _ kind: Kind, _ value: Double, deviation: Double = 0.15, blocked: Double = 0
  ) {
    (self.time, self.kind, self.value) = (time, kind, value)
    (self.deviation, self.blocked) = (deviation, blocked)
  }

  /// The anchor whose errors the measurement contains, and the first anchor of a difference.
  var anchors: (anchor: Int, reference: Int) {
    switch kind {
    case .range(let anchor), .azimuth(let anchor), .elevation(let anchor),
      .arrival(let anchor, _):
      (anchor, -1)
    case .difference(let first, let second): (second, first)
    case .odometry: (-1, -1)
    }
  }

  /// Returns whether the numbers are finite and the anchors exist.
  func isUsable(anchors count: Int) -> Bool {
    let (anchor, reference) = anchors
    if case .odometry(let turn) = kind {
      return time.isFinite && value.isFinite && turn.isFinite && deviation > 0
        && deviation.isFinite
    }
    // After the known delay is subtracted, a short range may be negative.
    if case .range = kind, value < -1 { return false }
    return time.isFinite && value.isFinite && deviation > 0 && deviation.isFinite
      && (0..<count).contains(anchor) && (-1..<count).contains(reference) && anchor != reference
      && abs(value) < 1e6
  }

  /// Returns the expected value at a position, and its gradient there.
  func expected(
    at position: SIMD3<Double>, _ anchors: [TagTrack.Anchor]
  ) -> (value: Double, gradient: SIMD3<Double>) {
    func ray(_ index: Int) -> (Double, SIMD3<Double>) {
      let arm = position - anchors[index].position
      let length = max(arm.length, 1e-3)
      return (length, arm / length)
    }
    switch kind {
    case .range(let anchor), .arrival(let anchor, _): return ray(anchor)
    case .difference(let first, let second):
      let (a, b) = (ray(first), ray(second))
      return (b.0 - a.0, b.1 - a.1)
    case .azimuth(let anchor): return Self.azimuth(position - anchors[anchor].position)
    case .elevation(let anchor): return Self.elevation(position - anchors[anchor].position)
    case .odometry: return (0, .zero)
    }
  }

  /// Returns the azimuth of a tag at `arm` from an anchor, and its gradient.
  static func azimuth(_ arm: SIMD3<Double>) -> (value: Double, gradient: SIMD3<Double>) {
    let flat = max(arm.x * arm.x + arm.y * arm.y, 1e-4)
    return (Math.atan2(arm.y, arm.x), SIMD3(-arm.y / flat, arm.x / flat, 0))
  }

  /// Returns the elevation of a tag at `arm` from an anchor, and its gradient.
  static func elevation(_ arm: SIMD3<Double>) -> (value: Double, gradient: SIMD3<Double>) {
    let flat = max(1e-2, (arm.x * arm.x + arm.y * arm.y).squareRoot())
    let square = flat * flat + arm.z * arm.z
    let sideways = -arm.z / (flat * square)
    return (
      Math.atan2(arm.z, flat), SIMD3(arm.x * sideways, arm.y * sideways, flat / square)
    )
  }

  /// Returns the value minus `expected`; differences of angles are wrapped.
  func difference(from expected: Double) -> Double {
    switch kind {
    case .azimuth, .elevation: (value - expected).remainder(dividingBy: 2 * .pi)
    default: value - expected
    }
  }
}

extension TagTrack {
  /// A fixed board.
  package struct Anchor: Sendable, Hashable {
    /// The position in metres.
    package var position: SIMD3<Double>
    /// One standard deviation of each coordinate in metres.
    package var deviation: Double
    /// One standard deviation of its delay in metres.
    package var delayDeviation: Double

    package init(
      _ position: SIMD3<Double>, deviation: Double = 0.05, delayDeviation: Double = 0.05
    ) {
      (self.position, self.deviation) = (position, deviation)
      self.delayDeviation = delayDeviation
    }
  }

  /// The prior knowledge of the height of a tag, in metres.
  package enum Height: Sendable, Hashable, Codable {
    case fixed(Double, deviation: Double = 0.05)
    /// The height is between two heights, as of a person who sits or stands.
    case within(ClosedRange<Double>)
    case free

    /// Converts a height above a floor to the frame of the site, for one of several floors.
    func raised(by surfaces: ClosedRange<Double>) -> Height {
      let (low, high) = (surfaces.lowerBound, surfaces.upperBound)
      switch self {
      case .free: return .free
      case .fixed(let height, let deviation) where low == high:
        return .fixed(height + low, deviation: deviation)
      case .fixed(let height, _): return .within(height + low...height + high)
      case .within(let range): return .within(range.lowerBound + low...range.upperBound + high)
      }
    }

    /// The middle of the height, its variance, and the seconds after which a third of a deviation
    /// remains.
    ///
    /// Nil if the height moves like the other coordinates.
    var band: (middle: Double, variance: Double, time: Double)? {
      switch self {
      case .free: return nil
      case .fixed(let middle, let deviation):
        let own = max(deviation, 1e-3)
        return (middle, own * own, 5)
      case .within(let range):
        let half = (range.upperBound - range.lowerBound) / 2
        // A wider band is room to fly in, and is used for the start only.
        guard half < 3 else { return nil }
        return (range.lowerBound + half, max(1e-6, half * half / 3), 5)
      }
    }

    /// Returns the middle and the variance of the height before any measurement.
    func prior(near anchors: SIMD3<Double>, reach: Double) -> (middle: Double, variance: Double) {
      if let band { return (band.middle, band.variance) }
      guard case .within(let range) = self else { return (anchors.z, 9 * reach * reach) }
      let half = (range.upperBound - range.lowerBound) / 2
      return (range.lowerBound + half, half * half / 3)
    }
  }

  /// The carrier of a tag, which decides how it may move.
  package enum Carrier: String, Sendable, Hashable, CaseIterable {
    case person, vehicle, drone, fixed

    /// One or two ways of moving.
    var models: [MotionModel] {
      switch self {
      case .person: [.rest, .walk]
      case .vehicle: [.rest, .vehicle]
      case .drone: [.glide, .drone]
      case .fixed: [.rest]
      }
    }
  }

  /// The assumed sizes of errors besides the noise of each measurement.
  ///
  /// They are standard deviations in metres.
  package struct Errors: Sendable {
    /// The delay of the tag, which all of its ranges share.
    package var delay = 0.15
    /// The constant error of each pair of tag and anchor, in addition to the anchor's own errors.
    package var pair = 0.03
    /// An error that changes slowly: antenna patterns, reflections.
    package var slow = 0.075
    /// The multiples of `slow` that are compared. The measurements decide.
    package var slowSizes = SIMD3<Double>(1, 2, 4)
    /// The seconds after which a third of a slow error remains.
    ///
    /// At rest, reflections are constant until their surroundings change.
    package var slowTime = (moving: 2.0, rest: 20.0)
    /// The time in seconds within which all measurements to an anchor carry the information of one.
    package var noiseTime = 0.1

    package init() {}

    /// Returns the variance of slow errors, and their time in a motion model.
    func slow(_ variance: Double, _ model: MotionModel) -> (variance: Double, time: Double) {
      (variance, model.kind == .rest ? slowTime.rest : slowTime.moving)
    }
  }
}
