// SPDX-License-Identifier: Apache-2.0

/// One measured distance to one peer.
public struct RangeSample: Sendable, Hashable {
  /// The time of the measurement: seconds on any clock that does not go back.
  public var time: Double
  /// Metres. Slightly negative is possible: chips report it when the antennas nearly touch.
  public var distance: Double
  /// One standard deviation of the measurement's noise in metres, greater than 0.
  public var standardDeviation: Double
  /// Whether the direct path is blocked; nil if the chip does not report it. The distance along
  /// another path may be metres longer, which the stated deviation then includes.
  public var nonLineOfSight: Bool?
  /// The factor on the variance because the path may be blocked; `standardDeviation` includes it.
  /// The next samples share the error that an obstacle causes, so no filter removes it.
  package var inflation = 1.0
  /// The variance of the error that an obstacle may add, in square metres. Samples share this
  /// error, so only the stated deviation includes it.
  package var doubt = 0.0

  /// Creates a sample.
  ///
  /// - Parameters:
  ///   - time: seconds.
  ///   - distance: metres.
  ///   - standardDeviation: metres. Without a value from the chip, 0.1 is usual: 2–5 cm of noise,
  ///     and a bias that changes with the position.
  ///   - nonLineOfSight: whether the direct path is blocked; nil if the chip does not report it.
  @inlinable
  public init(
    time: Double, distance: Double, standardDeviation: Double = 0.1, nonLineOfSight: Bool? = nil
  ) {
    self.time = time
    self.distance = distance
    self.standardDeviation = standardDeviation
    self.nonLineOfSight = nonLineOfSight
  }

  /// Whether the sample is within the range of the arithmetic: distances up to 1000 km, deviations
  /// from 1 µm to 1000 km, and times up to 1e12 s.
  package var isUsable: Bool {
    abs(time) <= 1e12 && abs(distance) <= 1e6 && 1e-6...1e6 ~= standardDeviation
  }
}

/// The distance to one peer at one time.
public struct RangeEstimate: Sendable, Hashable {
  /// The use of the sample.
  public enum Disposition: Sendable, Hashable {
    /// The first sample, which is the estimate.
    case started
    /// The sample was used.
    case accepted
    /// Restarted: there was no sample for longer than the gap, or time went back by more than the
    /// gap.
    case restartedAfterGap
    /// Restarted: too many consecutive samples were rejected.
    case restartedAfterRejections
    /// Not used: too far from the prediction. The estimate is the prediction.
    case rejectedAsOutlier
    /// Not used: the same time and distance as the previous sample.
    case duplicate
    /// Not used: older than the estimate.
    case outOfOrder
    /// Not used: not a number, beyond 1000 km, or with a standard deviation outside 1 µm to 1000
    /// km.
    case invalid
    /// A prediction without a sample.
    case predicted
  }

  /// Seconds on the clock of the samples.
  public var time: Double
  /// The smoothed distance in metres.
  public var distance: Double
  /// One standard deviation of `distance` in metres. In a session it includes the constant error of
  /// the boards, which is 0.2 to 0.3 m without a calibration, and the detour of a path that is
  /// probably blocked.
  public var standardDeviation: Double
  /// The part of `standardDeviation` that changes within seconds: noise and reflections. Two
  /// distances to one peer share the rest. A difference that is greater than this part is therefore
  /// movement.
  public var shortTermDeviation: Double
  /// Metres per second, positive when the distance grows.
  public var velocity: Double
  /// One standard deviation of `velocity` in metres per second.
  public var velocityStandardDeviation: Double
  /// The use of the sample.
  public var disposition: Disposition

  /// Whether the sample was rejected as an outlier.
  public var isOutlier: Bool { disposition == .rejectedAsOutlier }

  /// Whether the sample was used.
  public var isAccepted: Bool {
    switch disposition {
    case .started, .accepted, .restartedAfterGap, .restartedAfterRejections: true
    case .rejectedAsOutlier, .duplicate, .outOfOrder, .invalid, .predicted: false
    }
  }
}
