// SPDX-License-Identifier: Apache-2.0

import UWBLab
import UWB

/// The computed values of a measurement, as printed.
struct ComputedColumns {
  var computed: EstimatedMeasurement?

  private static func degrees(_ radians: Double?) -> Double? { radians.map { $0 * 180 / .pi } }

  private var azimuth: (angle: Double?, deviation: Double?) {
    (
      Self.degrees(computed?.azimuth?.angle), Self.degrees(computed?.azimuth?.standardDeviation)
    )
  }

  private var elevation: (angle: Double?, deviation: Double?) {
    (
      Self.degrees(computed?.elevation?.angle),
      Self.degrees(computed?.elevation?.standardDeviation)
    )
  }

  /// The number of frames or antennas that the diagnostics cover.
  private var frames: Int {
    if case .used(let count)? = computed?.diagnostics { count } else { 0 }
  }

  static let header =
    "computed_m,computed_sd_m,no_computed,computed_azimuth_deg,computed_azimuth_sd_deg,"
    + "no_computed_azimuth,computed_elevation_deg,computed_elevation_sd_deg,nlos_probability,"
    + "cfo_ppm,rx_power_dbm,fp_power_dbm,diagnostics,diagnostics_frames"

  func add(to line: inout JSONLine) {
    line.add("computed_m", computed?.distance, digits: 4)
    line.add("computed_sd_m", computed?.distanceDeviation, digits: 4)
    line.add("no_computed", computed?.noDistance?.word)
    line.add("computed_azimuth_deg", azimuth.angle, digits: 2)
    line.add("computed_azimuth_sd_deg", azimuth.deviation, digits: 2)
    line.add("no_computed_azimuth", computed?.noAzimuth?.word)
    line.add("computed_elevation_deg", elevation.angle, digits: 2)
    line.add("computed_elevation_sd_deg", elevation.deviation, digits: 2)
    line.add("nlos_probability", computed?.nonLineOfSight, digits: 3)
    line.add("cfo_ppm", computed?.carrierOffset, digits: 3)
    line.add("rx_power_dbm", computed?.receivedPower, digits: 1)
    line.add("fp_power_dbm", computed?.firstPathPower, digits: 1)
    line.add("diagnostics", computed?.diagnostics.word)
    line.add("diagnostics_frames", frames)
  }

  var csv: [String] {
    func text(_ value: Double?, _ digits: Int) -> String { value.map { fixed($0, digits) } ?? "" }
    return [
      text(computed?.distance, 4), text(computed?.distanceDeviation, 4),
      computed?.noDistance?.word ?? "", text(azimuth.angle, 2), text(azimuth.deviation, 2),
      computed?.noAzimuth?.word ?? "", text(elevation.angle, 2), text(elevation.deviation, 2),
      text(computed?.nonLineOfSight, 3), text(computed?.carrierOffset, 3),
      text(computed?.receivedPower, 1), text(computed?.firstPathPower, 1),
      computed?.diagnostics.word ?? "", "\(frames)",
    ]
  }

  /// The values as text; empty where there are none.
  var text: String {
    guard let computed else { return "" }
    var parts: [String] = []
    if let distance = computed.distance, let deviation = computed.distanceDeviation {
      parts.append("\(fixed(distance, 3)) ± \(fixed(deviation, 3)) m")
    }
    for (name, angle) in [("az", azimuth), ("el", elevation)] {
      if let degrees = angle.angle, let deviation = angle.deviation {
        parts.append("\(name) \(fixed(degrees, 1)) ± \(fixed(deviation, 1))°")
      }
    }
    if let probability = computed.nonLineOfSight {
      parts.append("NLoS \(fixed(probability * 100, 0)) %")
    }
    if let offset = computed.carrierOffset { parts.append("\(fixed(offset, 2)) ppm") }
    if case .missing = computed.diagnostics { parts.append("diagnostics missing") }
    return parts.joined(separator: "  ")
  }
}

extension NoEstimate {
  /// For programs.
  var word: String {
    switch self {
    case .notMeasured: "not_measured"
    case .noDistance: "no_distance"
    case .noAntennaTable: "no_antenna_table"
    case .noPhases: "no_phases"
    case .phasesDisagree: "phases_disagree"
    }
  }
}

extension DiagnosticsUse {
  /// For programs.
  var word: String {
    switch self {
    case .none: "none"
    case .missing: "missing"
    case .ambiguous: "ambiguous"
    case .used: "used"
    }
  }
}
