// SPDX-License-Identifier: Apache-2.0

public import Ranging
public import UCI

/// What the estimates of a session suppose of the boards and the place.
public struct EstimationSettings: Sendable {
  /// Metres that both antenna delays together add to the distances that the chip reports.
  public var delay = 0.0
  /// The same for single peers, in the place of `delay`.
  public var delays: [MACAddress: Double] = [:]
  /// What the received level adds.
  public var powerBias = PowerBias([])
  /// Noise of a distance with line of sight and a good level in metres, one standard deviation. FiRa
  /// notifications carry none; 2 to 5 cm is what boards show.
  public var distanceDeviation = 0.05
  /// How the phase difference of the pair of antennas for azimuth depends on the angle to the plane
  /// in its middle, positive to the right as FiRa counts; nil: azimuth is not computed.
  public var azimuth: PhaseTable?
  /// The same for the pair for elevation, positive upwards; nil: elevation is not computed.
  public var elevation: PhaseTable?
  /// Elevation in radians of peers whose elevation is not measured.
  public var assumedElevation = 0.0
  /// Noise of the phase difference of one frame in radians, one standard deviation. Boards show 3.5
  /// to 5 degrees.
  public var phaseDeviation = 5 * Double.pi / 180
  /// How diagnostics tell a blocked path.
  public var lineOfSight = LineOfSightModel()
  /// How distances are filtered.
  public var filter = RangeEstimator.Parameters()
  /// A measurement waits for the diagnostics of its round from the first one on; otherwise from the
  /// moment on at which diagnostics have come. nil: if the session has asked for some.
  public var expectsDiagnostics: Bool?

  /// Without calibration.
  public init() {}
}
