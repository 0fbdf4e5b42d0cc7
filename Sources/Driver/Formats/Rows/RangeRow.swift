// SPDX-License-Identifier: Apache-2.0

package import JSON
package import Ranging
package import UCI
package import UWB

/// A measurement with its estimate.
package struct RangeRow: Sendable {
  package var seconds: Double
  package var measurement: RangingMeasurement
  package var computed: EstimatedMeasurement?
  /// Whether the chip reports RSSI, which FiRa has since 2.0.
  package var hasRSSI: Bool
  /// The number of rounds that are missing just before this one.
  package var lostBefore = 0

  package init(
    seconds: Double, measurement: RangingMeasurement, computed: EstimatedMeasurement? = nil,
    hasRSSI: Bool, lostBefore: Int = 0
  ) {
    (self.seconds, self.measurement, self.computed) = (seconds, measurement, computed)
    (self.hasRSSI, self.lostBefore) = (hasRSSI, lostBefore)
  }

  package var estimate: RangeEstimate? { computed?.track }
  package var result: TwoWayMeasurement { measurement.result }

  /// Whether the path is blocked; nil if the chip does not determine it.
  package var nonLineOfSight: Bool? {
    switch result.lineOfSight {
    case .lineOfSight: false
    case .nonLineOfSight: true
    default: nil
    }
  }

  package var rssi: Double? { hasRSSI ? result.rssiDBm : nil }
}

extension RangeRow {
  /// The keys of a measurement. Names and meanings never change.
  package static let json = JSONTable<RangeRow>("range", each: "measurement") { addKeys(to: &$0) }

  /// Appends the measurement as JSON.
  package func append(to text: inout JSONText, hasNulls: Bool = true) {
    JSONObjectWriter.append(self, to: &text, hasNulls: hasNulls) { Self.addKeys(to: &$0) }
  }

  private static func addKeys<Keys: JSONKeys<RangeRow> & ~Copyable>(to keys: inout Keys) {
    addMeasuredKeys(to: &keys)
    addComputedKeys(to: &keys)
  }

  private static func addMeasuredKeys<Keys: JSONKeys<RangeRow> & ~Copyable>(to keys: inout Keys) {
    keys.key("time_s", "seconds since the first measurement") { Fixed($0.seconds, 6) }
    keys.key("session", "session token of the chip") { Int($0.measurement.sessionToken) }
    keys.key("sequence", "number of the ranging round, from 0") {
      Int($0.measurement.sequenceNumber)
    }
    keys.key("peer", "address") { $0.result.peer }
    keys.key("status", "status name") { $0.result.status.description }
    keys.key("status_code", "status number, 0 is OK") { Int($0.result.status.rawValue) }
    keys.key("distance_cm", "distance reported by the chip, centimetres") {
      $0.result.distanceCentimetres.map { Int($0) }
    }
    keys.key("estimate_m", "filtered distance, metres") { Fixed($0.estimate?.distance, 4) }
    keys.key(
      "estimate_sd_m", "its standard deviation with the error of uncalibrated boards, metres"
    ) { Fixed($0.estimate?.standardDeviation, 4) }
    keys.key("velocity_m_s", "speed away from this device, metres per second") {
      Fixed($0.estimate?.velocity, 3)
    }
    keys.key("azimuth_deg", "degrees") { Fixed($0.result.azimuth.degrees, 2) }
    keys.key("azimuth_fom", "figure of merit, 0…100; 0: no azimuth") {
      Int($0.result.azimuth.figureOfMerit)
    }
    keys.key("elevation_deg", "degrees") { Fixed($0.result.elevation.degrees, 2) }
    keys.key("elevation_fom", "figure of merit, 0…100; 0: no elevation") {
      Int($0.result.elevation.figureOfMerit)
    }
    keys.key("rssi_dbm", "received power, dBm") { Fixed($0.rssi, 1) }
    keys.key("nlos", "true without line of sight") { $0.nonLineOfSight }
    keys.key("lost_before", "rounds lost just before, as the summary counts them") { $0.lostBefore }
    keys.key(
      "after_interruption",
      "true for the first one after the device was lost and found again"
    ) { $0.measurement.followsInterruption }
  }

  private static func addComputedKeys<Keys: JSONKeys<RangeRow> & ~Copyable>(to keys: inout Keys) {
    keys.key("computed_m", "calibrated distance of this round, metres") {
      Fixed($0.computed?.distance, 4)
    }
    keys.key(
      "computed_sd_m", "its standard deviation with the error of uncalibrated boards, metres"
    ) { Fixed($0.computed?.distanceDeviation, 4) }
    keys.key("no_computed", "why it is missing: not_measured or no_distance") {
      $0.computed?.noDistance?.word
    }
    keys.key("computed_azimuth_deg", "from phases of single frames, degrees to the right") {
      Fixed(degrees($0.computed?.azimuth?.angle), 2)
    }
    keys.key("computed_azimuth_sd_deg", "its standard deviation, degrees") {
      Fixed(degrees($0.computed?.azimuth?.standardDeviation), 2)
    }
    keys.key(
      "no_computed_azimuth",
      "why it is missing: not_measured, no_antenna_table, no_phases or phases_disagree"
    ) { $0.computed?.noAzimuth?.word }
    keys.key("computed_elevation_deg", "from phases of single frames, degrees upwards") {
      Fixed(degrees($0.computed?.elevation?.angle), 2)
    }
    keys.key("computed_elevation_sd_deg", "its standard deviation, degrees") {
      Fixed(degrees($0.computed?.elevation?.standardDeviation), 2)
    }
    keys.key("no_computed_elevation", "why it is missing, as for the azimuth") {
      $0.computed?.noElevation?.word
    }
    keys.key("nlos_probability", "probability that the direct path is blocked, 0…1") {
      Fixed($0.computed?.nonLineOfSight, 3)
    }
    keys.key("cfo_ppm", "how much faster the peer's clock is, parts per million") {
      Fixed($0.computed?.carrierOffset, 3)
    }
    keys.key("rx_power_dbm", "received power used in computations, dBm") {
      Fixed($0.computed?.receivedPower, 1)
    }
    keys.key("fp_power_dbm", "power of the first path, dBm") {
      Fixed($0.computed?.firstPathPower, 1)
    }
    keys.key("diagnostics", "diagnostics of the round: used, missing, ambiguous or none") {
      $0.computed?.diagnostics.word
    }
    keys.key("diagnostics_frames", "number of frames or antennas in them") {
      $0.computed?.frames ?? 0
    }
    keys.key(
      "estimate_short_sd_m", "the part of estimate_sd_m that changes within seconds, metres"
    ) { Fixed($0.estimate?.shortTermDeviation, 4) }
    keys.key(
      "computed_noise_m", "the part of computed_sd_m that is independent of other rounds, metres"
    ) { Fixed($0.computed?.distanceNoise, 4) }
  }
}

extension EstimatedMeasurement {
  /// The number of frames or antennas with diagnostics.
  fileprivate var frames: Int {
    if case .used(let count) = diagnostics { count } else { 0 }
  }
}

/// Converts radians to degrees; nil for nil.
package func degrees(_ radians: Double?) -> Double? { radians.map { $0 * 180 / .pi } }

extension NoEstimate {
  /// The word for programs that read the output.
  package var word: String {
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
  /// The word for programs that read the output.
  package var word: String {
    switch self {
    case .none: "none"
    case .missing: "missing"
    case .ambiguous: "ambiguous"
    case .used: "used"
    }
  }
}

extension RangeEstimate {
  /// The distance with its deviations: `2.59 ± 0.31 m (short-term 0.07)`.
  package var text: String {
    let short = fixed(shortTermDeviation, decimals(for: standardDeviation))
    return "\(fixed(distance, deviation: standardDeviation)) m (short-term \(short))"
  }
}

extension MACAddress: JSONValue {
  package var node: JSONNode { JSONNode(.string(description)) }
  package func append(to text: inout JSONText) {
    text.append("\"0x")
    for shift in stride(from: isExtended ? 60 : 12, through: 0, by: -4) {
      let digit = UInt8(truncatingIfNeeded: value >> shift) & 15
      text.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit)
    }
    text.append("\"")
  }
}
