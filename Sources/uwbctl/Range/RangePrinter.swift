// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Ranging
import UCI
import UCIReference
import UWB
import UWBLab

enum RangeFormat: String, ExpressibleByArgument, CaseIterable {
  case table, text, json, csv

  /// A table on a terminal, lines elsewhere.
  static var standard: RangeFormat { standardOutput.isTerminal ? .table : .text }
}

/// Prints measurements with their estimates, and summarises them.
struct RangePrinter {
  private let format: RangeFormat
  private(set) var summary = RangeSummary()
  private var start: UInt64?
  private var drawnLines = 0
  private var drawnAt = -1.0
  private let showsComputed: Bool
  /// Of CSV: the status by name is enough.
  private let columns = RangeRow.json.values.filter { $0.key.path != "status_code" }

  /// - Parameter showsComputed: whether text has computed values, too; JSON and CSV always do.
  init(_ format: RangeFormat, showsComputed: Bool) {
    self.format = format
    self.showsComputed = showsComputed
    if format == .csv { standardOutput.write(csv(columns.map(\.key.path))) }
  }

  mutating func take(_ computed: EstimatedMeasurement, hasRSSI: Bool) {
    let measurement = computed.measurement
    let beginning = start ?? measurement.receivedAt
    start = beginning
    let seconds = Double(Int64(truncatingIfNeeded: measurement.receivedAt &- beginning)) / 1e9
    let row = RangeRow(
      seconds: seconds, measurement: measurement, computed: computed, hasRSSI: hasRSSI)
    summary.add(row)
    switch format {
    case .table:
      // Ten times a second is as fast as anyone reads.
      guard row.seconds - drawnAt >= 0.1 else { return }
      drawnAt = row.seconds
      draw()
    case .text: standardOutput.write(text(row) + "\n")
    case .json: standardOutput.write(RangeRow.json.line(row))
    case .csv: standardOutput.write(csv(columns.map { $0.value(row)?.plain ?? "" }))
    }
  }

  /// - Parameter dropped: the number of notifications that were not read in time.
  mutating func finish(dropped: Int) -> RangeSummary {
    summary.dropped = dropped
    if format == .table { draw() }
    return summary
  }

  private mutating func draw() {
    var lines = [
      "peer    distance  estimate ± sd      speed     azimuth  elevation      RSSI  path  ok/failed"
    ]
    for (address, peer) in summary.peers.sorted(by: { $0.key.value < $1.key.value }) {
      guard let row = peer.last else { continue }
      let result = row.result
      let distance =
        result.distanceCentimetres.map { "\(fixed(Double($0) / 100, 2)) m" } ?? "–"
      let estimate =
        row.estimate.map { "\(fixed($0.distance, 3)) ± \(fixed($0.standardDeviation, 3)) m" } ?? "–"
      let speed = row.estimate.map { "\(fixed($0.velocity, 2)) m/s" } ?? "–"
      let path = row.nonLineOfSight.map { $0 ? "NLoS" : "LoS" } ?? "–"
      lines.append(
        address.description.left(8) + distance.right(8) + estimate.right(18) + speed.right(11)
          + (result.azimuth.valid.map { "\(fixed($0, 1))°" } ?? "–").right(12)
          + (result.elevation.valid.map { "\(fixed($0, 1))°" } ?? "–").right(11)
          + (row.rssi.map { "\(fixed($0, 1)) dBm" } ?? "–").right(10) + path.right(6)
          + "\(peer.measured)/\(peer.failed)".right(11)
          + (result.status.isSuccess ? "" : "  \(result.status)"))
      let computed = row.computed?.text ?? ""
      if showsComputed, !computed.isEmpty { lines.append("        computed  " + computed) }
    }
    lines.append("\(summary.rounds) rounds, \(fixed(summary.rate, 1)) Hz; Ctrl-C ends")
    // Up to where the last table began, and each line cleared to its end.
    let up = drawnLines > 0 ? "\u{1B}[\(drawnLines)A" : ""
    standardOutput.write(up + lines.map { "\u{1B}[2K\($0)\n" }.joined())
    drawnLines = lines.count
  }

  private func text(_ row: RangeRow) -> String {
    let result = row.result
    var line =
      "\(fixed(row.seconds, 3).right(9)) s  #\(row.measurement.sequenceNumber)"
      + "  \(result.peer)"
    if let centimetres = result.distanceCentimetres {
      line += "  \(fixed(Double(centimetres) / 100, 2)) m"
      if let estimate = row.estimate {
        line +=
          "  (\(fixed(estimate.distance, 3)) ± \(fixed(estimate.standardDeviation, 3)) m)"
      }
      if let azimuth = result.azimuth.valid { line += "  az \(fixed(azimuth, 1))°" }
      if let elevation = result.elevation.valid { line += "  el \(fixed(elevation, 1))°" }
      if let rssi = row.rssi { line += "  \(fixed(rssi, 1)) dBm" }
      if row.nonLineOfSight == true { line += "  NLoS" }
    } else {
      line += "  \(result.status)"
    }
    let computed = row.computed?.text ?? ""
    if showsComputed, !computed.isEmpty { line += "  computed: \(computed)" }
    return line
  }

  private func csv(_ cells: [String]) -> String { cells.joined(separator: ",") + "\n" }
}

extension RangeRow {
  /// Names and meanings never change.
  static let json = JSONTable<RangeRow>("range", each: "measurement") {
    $0.key("time_s", "seconds since the first measurement") { Fixed($0.seconds, 6) }
    $0.key("session", "session token of the chip") { Int($0.measurement.sessionToken) }
    $0.key("sequence", "number of the ranging round, from 0") { Int($0.measurement.sequenceNumber) }
    $0.key("peer", "address") { $0.result.peer.description }
    $0.key("status", "status name") { $0.result.status.description }
    $0.key("status_code", "status number, 0 is OK") { Int($0.result.status.rawValue) }
    $0.key("distance_cm", "distance reported by the chip, centimetres") {
      $0.result.distanceCentimetres.map { Int($0) }
    }
    $0.key("estimate_m", "filtered distance, metres") { Fixed($0.estimate?.distance, 4) }
    $0.key("estimate_sd_m", "its standard deviation, metres") {
      Fixed($0.estimate?.standardDeviation, 4)
    }
    $0.key("velocity_m_s", "speed away from this device, metres per second") {
      Fixed($0.estimate?.velocity, 3)
    }
    $0.key("azimuth_deg", "degrees") { Fixed($0.result.azimuth.degrees, 2) }
    $0.key("azimuth_fom", "figure of merit, 0…100; 0: no azimuth") {
      Int($0.result.azimuth.figureOfMerit)
    }
    $0.key("elevation_deg", "degrees") { Fixed($0.result.elevation.degrees, 2) }
    $0.key("elevation_fom", "figure of merit, 0…100; 0: no elevation") {
      Int($0.result.elevation.figureOfMerit)
    }
    $0.key("rssi_dbm", "received power, dBm") { Fixed($0.rssi, 1) }
    $0.key("nlos", "true without line of sight") { $0.nonLineOfSight }
    $0.key("lost_before", "notifications lost just before") { Int($0.measurement.lostBefore) }
    $0.key(
      "after_interruption",
      "true for the first one after the device was lost and found again"
    ) { $0.measurement.followsInterruption }
    $0.key("computed_m", "calibrated distance of this round, metres") {
      Fixed($0.computed?.distance, 4)
    }
    $0.key("computed_sd_m", "its standard deviation, metres") {
      Fixed($0.computed?.distanceDeviation, 4)
    }
    $0.key("no_computed", "why it is missing: not_measured or no_distance") {
      $0.computed?.noDistance?.word
    }
    $0.key("computed_azimuth_deg", "from phases of single frames, degrees to the right") {
      Fixed(degrees($0.computed?.azimuth?.angle), 2)
    }
    $0.key("computed_azimuth_sd_deg", "its standard deviation, degrees") {
      Fixed(degrees($0.computed?.azimuth?.standardDeviation), 2)
    }
    $0.key(
      "no_computed_azimuth",
      "why it is missing: not_measured, no_antenna_table, no_phases or phases_disagree"
    ) { $0.computed?.noAzimuth?.word }
    $0.key("computed_elevation_deg", "from phases of single frames, degrees upwards") {
      Fixed(degrees($0.computed?.elevation?.angle), 2)
    }
    $0.key("computed_elevation_sd_deg", "its standard deviation, degrees") {
      Fixed(degrees($0.computed?.elevation?.standardDeviation), 2)
    }
    $0.key("nlos_probability", "probability that the direct path is blocked, 0…1") {
      Fixed($0.computed?.nonLineOfSight, 3)
    }
    $0.key("cfo_ppm", "how much faster the peer's clock is, parts per million") {
      Fixed($0.computed?.carrierOffset, 3)
    }
    $0.key("rx_power_dbm", "received power used in computations, dBm") {
      Fixed($0.computed?.receivedPower, 1)
    }
    $0.key("fp_power_dbm", "power of the first path, dBm") { Fixed($0.computed?.firstPathPower, 1) }
    $0.key("diagnostics", "diagnostics of the round: used, missing, ambiguous or none") {
      $0.computed?.diagnostics.word
    }
    $0.key("diagnostics_frames", "number of frames or antennas in them") {
      $0.computed?.frames ?? 0
    }
  }
}

extension EstimatedMeasurement {
  /// The computed values as text; empty where there are none.
  fileprivate var text: String {
    var parts: [String] = []
    if let distance, let deviation = distanceDeviation {
      parts.append("\(fixed(distance, 3)) ± \(fixed(deviation, 3)) m")
    }
    for (name, estimate) in [("az", azimuth), ("el", elevation)] {
      if let angle = degrees(estimate?.angle), let deviation = degrees(estimate?.standardDeviation)
      {
        parts.append("\(name) \(fixed(angle, 1)) ± \(fixed(deviation, 1))°")
      }
    }
    if let nonLineOfSight { parts.append("NLoS \(fixed(nonLineOfSight * 100, 0)) %") }
    if let carrierOffset { parts.append("\(fixed(carrierOffset, 2)) ppm") }
    if case .missing = diagnostics { parts.append("diagnostics missing") }
    return parts.joined(separator: "  ")
  }

  /// The number of frames or antennas that the diagnostics cover.
  fileprivate var frames: Int {
    if case .used(let count) = diagnostics { count } else { 0 }
  }
}

private func degrees(_ radians: Double?) -> Double? { radians.map { $0 * 180 / .pi } }

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

/// A measurement with its estimate.
struct RangeRow {
  var seconds: Double
  var measurement: RangingMeasurement
  var computed: EstimatedMeasurement?
  /// Whether the chip reports RSSI, as since FiRa 2.0.
  var hasRSSI: Bool

  var estimate: RangeEstimate? { computed?.track }
  var result: TwoWayMeasurement { measurement.result }

  /// nil where the chip cannot tell.
  var nonLineOfSight: Bool? {
    switch result.lineOfSight {
    case .lineOfSight: false
    case .nonLineOfSight: true
    default: nil
    }
  }

  var rssi: Double? { hasRSSI ? result.rssiDBm : nil }
}

/// Rates and losses of a run, in total and by peer.
struct RangeSummary {
  struct Peer {
    var measured = 0
    var failed = 0
    var failures: [Status: Int] = [:]
    var last: RangeRow?
  }

  private(set) var peers: [MACAddress: Peer] = [:]
  private(set) var rounds = 0
  private(set) var missing = 0
  private(set) var first: Double?
  private(set) var last = 0.0
  /// The round of the last measurement, and its number of measurements.
  private(set) var lastSequence: UInt32?
  private(set) var rowsInRound = 0
  private var lastSequences: [UInt32: UInt32] = [:]
  /// The number of notifications that were not read in time.
  var dropped = 0

  var measured: Int { peers.values.reduce(0) { $0 + $1.measured } }
  var failed: Int { peers.values.reduce(0) { $0 + $1.failed } }

  mutating func add(_ row: RangeRow) {
    let number = row.measurement.sequenceNumber
    // A device that was lost counts from 0 again, possibly in a session with the same token.
    let before =
      row.measurement.followsInterruption ? nil : lastSequences[row.measurement.sessionToken]
    rowsInRound += 1
    if number != before {
      rounds += 1
      rowsInRound = 1
      // Every number between those of two notifications is a lost round.
      if let before, number > before { missing += Int(number - before) - 1 }
      lastSequences[row.measurement.sessionToken] = number
      lastSequence = number
      first = first ?? row.seconds
      last = row.seconds
    }
    var peer = peers[row.result.peer] ?? Peer()
    if row.result.distanceCentimetres != nil {
      peer.measured += 1
    } else {
      peer.failed += 1
      peer.failures[row.result.status, default: 0] += 1
    }
    peer.last = row
    peers[row.result.peer] = peer
  }

  var rate: Double {
    guard let first, rounds > 1, last > first else { return 0 }
    return Double(rounds - 1) / (last - first)
  }

  func text(_ statistics: String) -> String {
    let why = failures.map { "\($0.count) \($0.status)" }
    return "\(rounds) rounds, \(fixed(rate, 1)) Hz, \(peers.count) "
      + (peers.count == 1 ? "peer" : "peers")
      + ", \(measured) measured, \(failed) failed"
      + (why.isEmpty ? "" : " (\(why.joined(separator: ", ")))")
      + ", \(missing) lost, \(dropped) dropped, \(statistics)"
  }
}

extension RangeSummary {
  /// The number of each failure, the most frequent first.
  var failures: [(status: Status, count: Int)] {
    var counts: [Status: Int] = [:]
    for peer in peers.values { counts.merge(peer.failures) { $0 + $1 } }
    return counts.map { (status: $0.key, count: $0.value) }
      .sorted { ($1.count, $0.status.rawValue) < ($0.count, $1.status.rawValue) }
  }

  /// Explains the two most frequent failures; empty when at most every tenth measurement failed,
  /// because lost rounds are normal.
  func failuresExplained(in dialect: Dialect) -> String {
    guard failed * 10 > measured else { return "" }
    return failures.prefix(2).map { status, count in
      let raw = hexNumber(status.rawValue)
      let rounds = count == 1 ? "1 measurement" : "\(count) measurements"
      guard let known = status.explained(in: dialect) else {
        return "\(rounds): \(status) (\(raw)), which is not documented.\n"
      }
      return "\(rounds): \(known.name) (\(raw)). \(known.meaning)\n" + known.listed(indent: "  ")
    }.joined()
  }
}
