// SPDX-License-Identifier: Apache-2.0

import UWBLab
import UWB

/// The computed values of a measurement, as printed.
struct ComputedValues {
  var computed: EstimatedMeasurement?

  private static func degrees(_ radians: Double?) -> Double? { radians.map { $0 * 180 / .pi } }

  var azimuth: (angle: Double?, deviation: Double?) {
    (
      Self.degrees(computed?.azimuth?.angle), Self.degrees(computed?.azimuth?.standardDeviation)
    )
  }

  var elevation: (angle: Double?, deviation: Double?) {
    (
      Self.degrees(computed?.elevation?.angle),
      Self.degrees(computed?.elevation?.standardDeviation)
    )
  }

  /// The number of frames or antennas that the diagnostics cover.
  var frames: Int {
    if case .used(let count)? = computed?.diagnostics { count } else { 0 }
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
