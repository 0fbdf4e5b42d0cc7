// SPDX-License-Identifier: Apache-2.0

/// The conditions all chips of a simulation share.
///
/// The defaults of the noise are what two calibrated boards show in the open.
public struct Scene: Hashable, Sendable {
  /// Every random number of a simulation follows from this one: equal seeds, equal bytes.
  public var seed: UInt64
  /// Standard deviation of a distance by double-sided ranging, in metres: what the noise of the
  /// stamps of received frames makes of it.
  public var distanceNoise: Double
  /// Standard deviation of an angle in front of the antennas, in degrees: what the noise of phase
  /// differences makes of it.
  public var angleNoise: Double
  /// Beyond this many metres nothing is heard.
  public var range: Double
  /// How often an exchange with one peer fails for no reason, 0…1.
  public var loss: Double
  /// Crystals, levels, reflections, walls.
  package var radio = RadioConditions()

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
  package var motion: Motion
  /// Where its antenna looks: degrees counterclockwise from the x axis, seen from above.
  package var yaw: Double
  /// Error of its crystal in parts per million; positive: it runs fast. `RadioConditions.clockSpread`
  /// comes on top of it.
  package var clockOffset: Double
  /// What its antenna delay adds to every distance, in metres; 0: calibrated as it leaves the
  /// factory.
  package var antennaDelayError: Double
  /// The same for single channels, apart for its two antennas; on top of it.
  package var delayErrors: [UInt8: DelayError] = [:]
  /// The antennas with which it measures azimuth; nil: an ideal pair 0.45 wavelengths apart, which is
  /// what the chip takes every pair for.
  package var antenna: AntennaCurve?

  /// By how much the delays of the two antennas differ from what the chip is calibrated to.
  package struct DelayError: Hashable, Sendable {
    /// Metres that the sending antenna adds to a distance.
    package var transmit: Double
    /// Metres that the receiving antenna adds to a distance.
    package var receive: Double

    /// From its parts.
    package init(transmit: Double, receive: Double) {
      self.transmit = transmit
      self.receive = receive
    }
  }

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
    at position: SIMD3<Double>, yaw: Double = 0, clockOffset: Double = 0,
    antennaDelayError: Double = 0
  ) {
    self.init(
      .still(position), yaw: yaw, clockOffset: clockOffset, antennaDelayError: antennaDelayError)
  }
}
