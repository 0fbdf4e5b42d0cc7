// SPDX-License-Identifier: Apache-2.0

extension RangeEstimator {
  /// How the estimator behaves.
  public struct Parameters: Sendable, Hashable {
    /// Spectral density of the acceleration in m²/s³. 1 suits hands and walking people; 0.01
    /// something that hardly moves, 10 a drone.
    public var accelerationDensity = 1.0
    /// Whether it is learned: other densities, from a fiftieth of it to eighty times it, are tried
    /// beside each other, and count by how well they foretold the samples.
    public var learnsAcceleration = true
    /// Seconds after which a peer goes over to another kind of movement, on average.
    public var movementTime = 60.0
    /// Whether the noise of the samples is learned: by what factor their standard deviations are too
    /// great or too small.
    public var learnsNoise = true
    /// One standard deviation in metres of an error that changes slowly with place and posture:
    /// reflections, how the antennas see each other. Samples of seconds share it, so that no filter
    /// takes it away; it is part of every stated deviation. Two recordings with known truth show
    /// 5.5 to 6 cm with a time of 2 to 4 s (indoors, a trolley) and 4 cm (outdoors, from place to
    /// place).
    public var slowDeviation = 0.055
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
    /// to be ten times as good as one of 1 Hz. In a recording of 100 Hz with known truth the part of
    /// the error that is not slow is shared over 0.05 to 0.1 s.
    public var correlationTime = 0.1

    /// The values for phones, tags and people on foot, which other movement is learned from.
    public init() {}
  }
}

extension RangeEstimator.Parameters {
  /// What a state is to others.
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
