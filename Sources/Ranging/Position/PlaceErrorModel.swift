// SPDX-License-Identifier: Apache-2.0

/// How measurements to anchors err, beside the noise of each.
public struct PlaceErrorModel: Sendable, Hashable {
  /// One standard deviation in metres of the constant error that all ranges share: the antenna delay
  /// of what is located.
  public var shared: Double
  /// One standard deviation in metres of each anchor's own constant error: its delay, its survey.
  public var own: Double
  /// One standard deviation in metres of an error of each anchor that changes slowly: how the
  /// antennas see each other, reflections.
  public var slow: Double
  /// Seconds after which that error is another one.
  public var slowTime: Double

  /// From its parts.
  public init(shared: Double = 0.15, own: Double = 0.15, slow: Double = 0.075, slowTime: Double = 2)
  {
    (self.shared, self.own) = (shared, own)
    (self.slow, self.slowTime) = (slow, slowTime)
  }
}
