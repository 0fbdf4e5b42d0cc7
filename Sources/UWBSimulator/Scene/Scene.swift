// SPDX-License-Identifier: Apache-2.0

/// The conditions all chips of a simulation share.
///
/// The defaults of the noise are what two calibrated boards show in the open.
public struct Scene: Hashable, Sendable {
  /// Every random number of a simulation follows from this one: equal seeds, equal octets.
  public var seed: UInt64
  /// Standard deviation of a distance, in metres.
  public var distanceNoise: Double
  /// Standard deviation of an angle, in degrees.
  public var angleNoise: Double
  /// Beyond this many metres nothing is heard.
  public var range: Double
  /// How often an exchange with one peer fails for no reason, 0…1.
  public var loss: Double

  /// Conditions; see the properties for the units.
  public init(
    seed: UInt64 = 1, distanceNoise: Double = 0.03, angleNoise: Double = 2, range: Double = 60,
    loss: Double = 0
  ) {
    self.seed = seed
    self.distanceNoise = distanceNoise
    self.angleNoise = angleNoise
    self.range = range
    self.loss = loss
  }
}

/// Where one chip is, where it looks, and how good its clock and its calibration are.
public struct Placement: Hashable, Sendable {
  /// Where it is, and when.
  public var motion: Motion
  /// Where its antenna looks: degrees counterclockwise from the x axis, seen from above.
  public var yaw: Double
  /// Error of its crystal in parts per million; positive: it runs fast.
  public var clockOffset: Double
  /// What its antenna delay adds to every distance, in metres; 0: calibrated.
  public var antennaDelayError: Double

  /// A moving chip; see the properties for the units.
  public init(
    _ motion: Motion, yaw: Double = 0, clockOffset: Double = 0, antennaDelayError: Double = 0
  ) {
    self.motion = motion
    self.yaw = yaw
    self.clockOffset = clockOffset
    self.antennaDelayError = antennaDelayError
  }

  /// A chip that stays where it is.
  public init(
    at position: Position, yaw: Double = 0, clockOffset: Double = 0, antennaDelayError: Double = 0
  ) {
    self.init(
      .still(position), yaw: yaw, clockOffset: clockOffset, antennaDelayError: antennaDelayError)
  }
}
