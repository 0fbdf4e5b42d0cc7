// SPDX-License-Identifier: Apache-2.0

public import Ranging
public import UCI

/// Why something was not computed.
public enum NoEstimate: Error, Sendable, Hashable {
  /// The round failed.
  case notMeasured(Status)
  /// The chip gave no distance.
  case noDistance
  /// The calibration has no table for the antennas.
  case noAntennaTable
  /// The chip did not report phases: it has no antennas for it, was not asked, or its report is
  /// missing.
  case noPhases
  /// The phases of the frames contradict each other.
  case phasesDisagree
}

extension NoEstimate: CustomStringConvertible {
  /// A sentence with the cause.
  public var description: String {
    switch self {
    case .notMeasured(let status): "The round failed: \(status)."
    case .noDistance: "The chip gave no distance."
    case .noAntennaTable: "There is no table of the antennas."
    case .noPhases: "The chip reported no phases."
    case .phasesDisagree: "The phases of single frames contradict each other."
    }
  }
}

/// An angle computed from phase differences.
public struct EstimatedAngle: Sendable, Hashable {
  /// Radians: azimuth positive to the right, elevation upwards, as FiRa counts. Of this round alone;
  /// what was known before only chose the turn of the phase.
  public var angle: Double
  /// One standard deviation in radians.
  public var standardDeviation: Double
  /// The angle over time; nil while nothing valid has come.
  public var track: AngleEstimate?
  /// How many frames' phases it is of.
  public var frames: Int
}

/// What became of the diagnostics of a round.
public enum DiagnosticsUse: Sendable, Hashable {
  /// None were expected, none came.
  case none
  /// They were expected and did not come before the next round.
  case missing
  /// They cannot be told apart: several peers, and not a frame of each.
  case ambiguous
  /// How many received frames, or antennas, it was computed from.
  case used(Int)
}

/// A measurement with what the chip says of it and what was computed.
public struct EstimatedMeasurement: Sendable, Hashable {
  /// The chip's own.
  public var measurement: RangingMeasurement
  /// Metres of this round: calibrated, in millimetres where the chip gives them; nil: `noDistance`
  /// says why.
  public var distance: Double?
  /// One standard deviation of `distance` in metres: wider where the level is low or the path
  /// probably blocked.
  public var distanceDeviation: Double?
  /// Why there is no distance.
  public var noDistance: NoEstimate?
  /// The distance over time; nil while nothing valid has come.
  public var track: RangeEstimate?
  /// Computed from phases; nil: `noAzimuth` says why.
  public var azimuth: EstimatedAngle?
  /// Why there is no azimuth.
  public var noAzimuth: NoEstimate?
  /// Computed from phases; nil: `noElevation` says why.
  public var elevation: EstimatedAngle?
  /// Why there is no elevation.
  public var noElevation: NoEstimate?
  /// The probability that the direct path is blocked, 0…1; nil: nothing tells.
  public var nonLineOfSight: Double?
  /// By how many parts per million the peer's clock runs faster than that of this device; nil: the
  /// chip does not say.
  public var carrierOffset: Double?
  /// Received level in dBm, the mean over frames; nil: the chip does not say.
  public var receivedPower: Double?
  /// Level of the first path in dBm; nil: the chip does not say.
  public var firstPathPower: Double?
  /// What became of the diagnostics of the round.
  public var diagnostics = DiagnosticsUse.none

  init(_ measurement: RangingMeasurement) { self.measurement = measurement }

  /// The device whose distance was measured.
  public var peer: MACAddress { measurement.result.peer }
}

extension EstimatedMeasurement: CustomStringConvertible {
  /// The peer with its distance and one standard deviation: `0x0001 3.97 m ± 0.05 m`; or why there
  /// is no distance.
  public var description: String {
    guard let distance, let distanceDeviation else {
      return "\(peer) " + (noDistance ?? .noDistance).description
    }
    return "\(peer) \(Self.metres(distance)) ± \(Self.metres(distanceDeviation))"
  }

  private static func metres(_ value: Double) -> String {
    guard abs(value) < 1e9 else { return "\(value) m" }
    let centimetres = Int((abs(value) * 100).rounded())
    let fraction = centimetres % 100
    return (value < 0 && centimetres > 0 ? "-" : "")
      + "\(centimetres / 100).\(fraction < 10 ? "0" : "")\(fraction) m"
  }
}
