// SPDX-License-Identifier: Apache-2.0

public import Ranging
public import UCI

/// The reason why a value was not computed.
public enum NoEstimate: Error, Sendable, Hashable {
  /// The round failed.
  case notMeasured(Status)
  /// The chip reported no distance.
  case noDistance
  /// The calibration has no table for the antennas.
  case noAntennaTable
  /// The chip did not report phases: it has no antennas for them, they were not requested, or the
  /// report is missing.
  case noPhases
  /// The phases of the frames contradict each other.
  case phasesDisagree
}

extension NoEstimate: CustomStringConvertible {
  /// The cause as a sentence.
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
  /// The angle in radians, as in FiRa: azimuth positive to the right, elevation upwards. Only the
  /// frames of this round determine it; earlier rounds resolve the ambiguity of wrapped phases.
  public var angle: Double
  /// One standard deviation in radians.
  public var standardDeviation: Double
  /// The filtered angle; nil before the first valid one.
  public var track: AngleEstimate?
  /// The number of frames whose phases were used.
  public var frames: Int
}

/// The use of the diagnostics of a round.
public enum DiagnosticsUse: Sendable, Hashable {
  /// None were expected, and none arrived.
  case none
  /// They were expected and did not arrive before the next round.
  case missing
  /// They cannot be assigned to peers: there are several peers, and a different number of frames.
  case ambiguous
  /// They were used. The value is the number of received frames or antennas.
  case used(Int)
}

/// A measurement with its diagnostics and the values computed from it.
public struct EstimatedMeasurement: Sendable, Hashable {
  /// The chip's own measurement.
  public var measurement: RangingMeasurement
  /// The calibrated distance of this round in metres, with millimetres if the chip reports them.
  /// Nil for the reason in `noDistance`.
  public var distance: Double?
  /// One standard deviation of `distance` in metres. It is larger if the level is low or the path
  /// is probably blocked. It includes the constant error of uncalibrated boards.
  public var distanceDeviation: Double?
  /// The part of `distanceDeviation` that rounds do not share: one standard deviation in metres,
  /// for filters.
  public var distanceNoise: Double?
  /// The reason why there is no distance.
  public var noDistance: NoEstimate?
  /// The filtered distance; nil before the first valid one.
  public var track: RangeEstimate?
  /// The azimuth computed from phases; nil for the reason in `noAzimuth`.
  public var azimuth: EstimatedAngle?
  /// The reason why there is no azimuth.
  public var noAzimuth: NoEstimate?
  /// The elevation computed from phases; nil for the reason in `noElevation`.
  public var elevation: EstimatedAngle?
  /// The reason why there is no elevation.
  public var noElevation: NoEstimate?
  /// The probability that the direct path is blocked, 0…1; nil without any evidence.
  public var nonLineOfSight: Double?
  /// Parts per million by which the peer's clock is faster than this device's clock; nil if the
  /// chip does not report it.
  public var carrierOffset: Double?
  /// Received level in dBm, the mean over frames; nil if the chip does not report it.
  public var receivedPower: Double?
  /// Level of the first path in dBm; nil if the chip does not report it.
  public var firstPathPower: Double?
  /// The use of the diagnostics of the round.
  public var diagnostics = DiagnosticsUse.none

  init(_ measurement: RangingMeasurement) { self.measurement = measurement }

  /// The device whose distance was measured.
  public var peer: MACAddress { measurement.result.peer }
}

extension EstimatedMeasurement: CustomStringConvertible {
  /// The peer with its distance and one standard deviation: `0x0001 3.97 m ± 0.05 m`. Without a
  /// distance, the reason for it.
  public var description: String {
    guard let distance, let distanceDeviation else {
      return "\(peer) " + (noDistance ?? .noDistance).description
    }
    return "\(peer) \(Self.metres(distance)) ± \(Self.metres(distanceDeviation))"
  }

  static func metres(_ value: Double) -> String {
    guard abs(value) < 1e9 else { return "\(value) m" }
    let centimetres = Int((abs(value) * 100).rounded())
    let fraction = centimetres % 100
    return (value < 0 && centimetres > 0 ? "-" : "")
      + "\(centimetres / 100).\(fraction < 10 ? "0" : "")\(fraction) m"
  }
}
