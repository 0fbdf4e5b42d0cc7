// SPDX-License-Identifier: Apache-2.0

/// The conditions that all chips of a simulation share.
///
/// The default noise is the noise of two calibrated boards outdoors.
public struct Scene: Hashable, Sendable {
  /// The seed of all random numbers: equal seeds give equal bytes.
  public var seed: UInt64
  /// Standard deviation of a double-sided distance in metres, from which the noise of reception
  /// stamps follows.
  public var distanceNoise: Double
  /// Standard deviation of an angle straight ahead in degrees, from which the noise of phase
  /// differences follows.
  public var angleNoise: Double
  /// The greatest distance in metres at which frames are received.
  public var range: Double
  /// The probability 0…1 that an exchange with one peer is lost.
  public var loss: Double
  /// Crystals, levels, reflections, walls.
  package var radio = RadioConditions()

  /// Creates conditions; see the properties for the units.
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

/// The position and orientation of one chip, and the errors of its clock and calibration.
public struct Placement: Hashable, Sendable {
  package var motion: Motion
  /// The direction of the antenna: degrees counterclockwise from the x axis, seen from above.
  package var yaw: Double
  /// The error of the chip's crystal in parts per million, positive if it runs fast.
  /// `RadioConditions.clockSpread` adds to it.
  package var clockOffset: Double
  /// The metres that the chip's antenna delay adds to every distance; 0 for a chip calibrated at
  /// the factory.
  package var antennaDelayError: Double
  /// Additional errors for single channels, by antenna.
  package var delayErrors: [UInt8: DelayError] = [:]
  /// The pair of antennas that measures azimuth: phase differences in radians, not wrapped, over
  /// degrees to the plane in the middle of the pair, positive to the right. Nil is the ideal pair
  /// that the chip assumes, 0.45 wavelengths apart. Real pairs couple with each other and with
  /// their ground plane: their curves are neither sines nor symmetric, and exceed half a turn.
  package var antenna: Curve?

  /// The difference of the delays of both antennas from the chip's calibration.
  package struct DelayError: Hashable, Sendable {
    /// The metres that the sending antenna adds to a distance.
    package var transmit: Double
    /// The metres that the receiving antenna adds to a distance.
    package var receive: Double

    package init(transmit: Double, receive: Double) {
      self.transmit = transmit
      self.receive = receive
    }
  }

  /// Creates the placement of a moving chip. `yaw` in degrees counterclockwise from the x axis,
  /// `clockOffset` in parts per million, `antennaDelayError` in metres.
  public init(
    _ motion: Motion, yaw: Double = 0, clockOffset: Double = 0, antennaDelayError: Double = 0
  ) {
    self.motion = motion
    self.yaw = yaw
    self.clockOffset = clockOffset
    self.antennaDelayError = antennaDelayError
  }

  /// Creates the placement of a chip at rest; positions in metres, other units as for a moving
  /// chip.
  public init(
    at position: SIMD3<Double>, yaw: Double = 0, clockOffset: Double = 0,
    antennaDelayError: Double = 0
  ) {
    self.init(
      .still(position), yaw: yaw, clockOffset: clockOffset, antennaDelayError: antennaDelayError)
  }
}
