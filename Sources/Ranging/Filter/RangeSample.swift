// SPDX-License-Identifier: Apache-2.0

/// One measured distance to one peer.
public struct RangeSample: Sendable, Hashable {
  /// When it was measured: seconds on any clock that does not go back.
  public var time: Double
  /// Metres. Slightly negative is possible: chips report it when the antennas nearly touch.
  public var distance: Double
  /// One standard deviation of the measurement's noise in metres, greater than 0.
  public var standardDeviation: Double
  /// Whether the direct path is blocked; nil where the chip cannot tell.
  public var nonLineOfSight: Bool?

  /// From its parts.
  ///
  /// - Parameter standardDeviation: metres. 0.1 is a usual value where the chip gives none: noise
  ///   is 2–5 cm, the rest is bias that changes with the place.
  @inlinable
  public init(
    time: Double, distance: Double, standardDeviation: Double = 0.1, nonLineOfSight: Bool? = nil
  ) {
    self.time = time
    self.distance = distance
    self.standardDeviation = standardDeviation
    self.nonLineOfSight = nonLineOfSight
  }

  /// Whether it can be calculated with: a thousand kilometres, errors from a micrometre to a
  /// thousand kilometres, and times of which microseconds are left are enough for everything.
  var isUsable: Bool {
    abs(time) <= 1e12 && abs(distance) <= 1e6 && 1e-6...1e6 ~= standardDeviation
  }
}

/// What is known about the distance to one peer at one time.
public struct RangeEstimate: Sendable, Hashable {
  /// What became of the sample.
  public enum Disposition: Sendable, Hashable {
    /// The first one: the estimate is the sample.
    case started
    /// Used.
    case accepted
    /// There was no sample for longer than the gap, or the clock went back by more: begun again.
    case restartedAfterGap
    /// Too many samples in a row had been rejected: begun again from this one.
    case restartedAfterRejections
    /// Too far from what was expected; not used. The estimate is the prediction for its time.
    case rejectedAsOutlier
    /// The same time and distance as the sample before it; not used.
    case duplicate
    /// Older than what the estimate already contains; not used.
    case outOfOrder
    /// Not a number, beyond any distance (1000 km), or its standard deviation is not from 1 µm to
    /// 1000 km; not used.
    case invalid
    /// No sample was given: a prediction.
    case predicted
  }

  /// What the estimate is for: seconds on the clock of the samples.
  public var time: Double
  /// Metres.
  public var distance: Double
  /// One standard deviation of `distance` in metres. Does not include constant bias such as an
  /// uncalibrated antenna delay.
  public var standardDeviation: Double
  /// Metres per second, positive when the distance grows.
  public var velocity: Double
  /// One standard deviation of `velocity` in metres per second.
  public var velocityStandardDeviation: Double
  /// What became of the sample.
  public var disposition: Disposition

  /// Whether the sample was judged to be grossly wrong.
  public var isOutlier: Bool { disposition == .rejectedAsOutlier }

  /// Whether the sample went into the estimate.
  public var isAccepted: Bool {
    switch disposition {
    case .started, .accepted, .restartedAfterGap, .restartedAfterRejections: true
    case .rejectedAsOutlier, .duplicate, .outOfOrder, .invalid, .predicted: false
    }
  }
}
