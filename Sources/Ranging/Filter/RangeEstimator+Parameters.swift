// SPDX-License-Identifier: Apache-2.0

extension RangeEstimator {
  /// Model parameters.
  public struct Parameters: Sendable, Hashable {
    /// Spectral density of the acceleration in m²/s³. 1 suits hands and walking people; 0.01
    /// something that hardly moves, 10 a drone.
    public var accelerationDensity = 1.0
    /// Whether the density is learned: densities from 0.02 to 80 times `accelerationDensity` run in
    /// parallel, weighted by how well they predict the samples.
    public var learnsAcceleration = true
    /// Mean time in seconds after which a peer changes its kind of movement.
    public var movementTime = 60.0
    /// Whether the noise of the samples is learned, as a factor on their standard deviations.
    public var learnsNoise = true
    /// One standard deviation in metres of an error that changes slowly with position and posture:
    /// reflections, antenna patterns. Samples within seconds share it, so that no filter removes it; it
    /// is part of every stated deviation. Two recordings with known truth show
    /// 5.5 to 6 cm with a time of 2 to 4 s (indoors, a trolley) and 4 cm (outdoors, between
    /// positions).
    public var slowDeviation = 0.055
    /// One standard deviation of the velocity at the start, in metres per second.
    public var initialVelocity = 2.0
    /// Standard deviations beyond which a sample is an outlier.
    public var gate = 4.0
    /// Degrees of freedom of the noise (Student's t): a sample that is n standard deviations away is
    /// weighted as if its variance were (1 + n²/tailFreedom) times as large. Infinite: a plain Kalman
    /// filter.
    public var tailFreedom = 4.0
    /// Factor on the standard deviation of samples without line of sight, at least 1.
    public var nonLineOfSightInflation = 4.0
    /// Consecutive rejected samples after which the estimate restarts; at least 1.
    public var rejectionLimit = 8
    /// The same while only one sample supports the estimate, which may itself be the outlier.
    public var unconfirmedRejectionLimit = 2
    /// Seconds without an accepted sample after which the estimate restarts.
    public var gap = 5.0
    /// Seconds within which samples share their error: reflections change with the position, not with
    /// the frame. Samples within it count as one together, so that 100 Hz is not treated as ten times
    /// as good as 1 Hz. In a 100 Hz recording with known truth the fast part of the error is shared
    /// over 0.05 to 0.1 s.
    public var correlationTime = 0.1

    /// Creates parameters for phones, tags and pedestrians; other movement is learned.
    public init() {}
  }
}

extension RangeEstimator.Parameters {
  /// The estimate for a state.
  func estimate(
    _ state: RangeState, _ disposition: RangeEstimate.Disposition
  ) -> RangeEstimate {
    RangeEstimate(
      time: state.time, distance: state.r,
      standardDeviation: (state.rr + slowDeviation * slowDeviation).squareRoot(),
      velocity: state.v, velocityStandardDeviation: max(0, state.vv).squareRoot(),
      disposition: disposition)
  }
}
