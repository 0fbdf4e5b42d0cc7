// SPDX-License-Identifier: Apache-2.0

import UWBLab
import ArgumentParser
import Ranging
import UCI
import UWB

/// How measurements are printed.
enum RangeFormat: String, ExpressibleByArgument, CaseIterable {
  case table, text, json, csv
}

/// Prints measurements as they come.
struct RangePrinter {
  let format: RangeFormat
  private var drawnLines = 0
  private var drawnAt = -1.0
  private let showsComputed: Bool

  init(_ format: RangeFormat, showsComputed: Bool = false) {
    self.format = format
    self.showsComputed = showsComputed
    if format == .csv {
      let names = RangeField.all.filter(\.isInCSV).map(\.name)
      standardOutput.write(names.joined(separator: ",") + "\n")
    }
  }

  mutating func print(_ row: RangeRow, _ summary: RangeSummary) {
    switch format {
    case .table:
      // Ten times a second is as fast as anyone reads.
      guard row.seconds - drawnAt >= 0.1 else { return }
      drawnAt = row.seconds
      draw(summary)
    case .text: standardOutput.write(text(row) + "\n")
    case .json: standardOutput.write(json(row) + "\n")
    case .csv: standardOutput.write(csv(row) + "\n")
    }
  }

  mutating func finish(_ summary: RangeSummary) {
    if format == .table { draw(summary) }
  }

  private mutating func draw(_ summary: RangeSummary) {
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
          + (row.angle(result.azimuth).map { "\(fixed($0, 1))°" } ?? "–").right(12)
          + (row.angle(result.elevation).map { "\(fixed($0, 1))°" } ?? "–").right(11)
          + (row.rssi.map { "\(fixed($0, 1)) dBm" } ?? "–").right(10) + path.right(6)
          + "\(peer.measured)/\(peer.failed)".right(11)
          + (result.status.isSuccess ? "" : "  \(result.status)"))
      let computed = ComputedValues(computed: row.computed).text
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
      if let azimuth = row.angle(result.azimuth) { line += "  az \(fixed(azimuth, 1))°" }
      if let elevation = row.angle(result.elevation) { line += "  el \(fixed(elevation, 1))°" }
      if let rssi = row.rssi { line += "  \(fixed(rssi, 1)) dBm" }
      if row.nonLineOfSight == true { line += "  NLoS" }
    } else {
      line += "  \(result.status)"
    }
    let computed = ComputedValues(computed: row.computed).text
    if showsComputed, !computed.isEmpty { line += "  computed: \(computed)" }
    return line
  }

  private func json(_ row: RangeRow) -> String {
    var line = JSONLine()
    for field in RangeField.all { line.addRaw(field.name, field.value(row).json) }
    return line.text
  }

  private func csv(_ row: RangeRow) -> String {
    RangeField.all.filter(\.isInCSV).map { $0.value(row).plain }.joined(separator: ",")
  }
}

/// A value of a measurement: a key in JSON, and mostly a column in CSV.
struct RangeField: Sendable {
  /// nil is `null` in JSON and an empty cell in CSV.
  enum Value {
    case number(Double?, Int)
    case integer(Int?)
    case text(String?)
    case flag(Bool?)

    var plain: String {
      switch self {
      case .number(let value, let digits): value.map { fixed($0, digits) } ?? ""
      case .integer(let value): value.map { "\($0)" } ?? ""
      case .text(let text): text ?? ""
      case .flag(let flag): flag.map { "\($0)" } ?? ""
      }
    }

    var json: String {
      if case .text(let text?) = self { return quoted(text) }
      return plain.isEmpty ? "null" : plain
    }
  }

  let name: String
  let isInCSV: Bool
  let value: @Sendable (RangeRow) -> Value

  private init(
    _ name: String, isInCSV: Bool = true, _ value: @escaping @Sendable (RangeRow) -> Value
  ) {
    (self.name, self.isInCSV, self.value) = (name, isInCSV, value)
  }

  /// All fields in their order. Names and meanings never change.
  static let all = [
    RangeField("time_s") { .number($0.seconds, 6) },
    RangeField("session") { .integer(Int($0.measurement.sessionToken)) },
    RangeField("sequence") { .integer(Int($0.measurement.sequenceNumber)) },
    RangeField("peer") { .text($0.result.peer.description) },
    RangeField("status") { .text($0.result.status.description) },
    RangeField("status_code", isInCSV: false) { .integer(Int($0.result.status.rawValue)) },
    RangeField("distance_cm") { .integer($0.result.distanceCentimetres.map { Int($0) }) },
    RangeField("estimate_m") { .number($0.estimate?.distance, 4) },
    RangeField("estimate_sd_m") { .number($0.estimate?.standardDeviation, 4) },
    RangeField("velocity_m_s") { .number($0.estimate?.velocity, 3) },
    RangeField("azimuth_deg") { .number($0.result.azimuth.degrees, 2) },
    RangeField("azimuth_fom") { .integer(Int($0.result.azimuth.figureOfMerit)) },
    RangeField("elevation_deg") { .number($0.result.elevation.degrees, 2) },
    RangeField("elevation_fom") { .integer(Int($0.result.elevation.figureOfMerit)) },
    RangeField("rssi_dbm") { .number($0.rssi, 1) },
    RangeField("nlos") { .flag($0.nonLineOfSight) },
    RangeField("lost_before") { .integer(Int($0.measurement.lostBefore)) },
    RangeField("after_interruption") { .flag($0.measurement.followsInterruption) },
    RangeField("computed_m") { .number($0.computed?.distance, 4) },
    RangeField("computed_sd_m") { .number($0.computed?.distanceDeviation, 4) },
    RangeField("no_computed") { .text($0.computed?.noDistance?.word) },
    RangeField("computed_azimuth_deg") { .number($0.values.azimuth.angle, 2) },
    RangeField("computed_azimuth_sd_deg") { .number($0.values.azimuth.deviation, 2) },
    RangeField("no_computed_azimuth") { .text($0.computed?.noAzimuth?.word) },
    RangeField("computed_elevation_deg") { .number($0.values.elevation.angle, 2) },
    RangeField("computed_elevation_sd_deg") { .number($0.values.elevation.deviation, 2) },
    RangeField("nlos_probability") { .number($0.computed?.nonLineOfSight, 3) },
    RangeField("cfo_ppm") { .number($0.computed?.carrierOffset, 3) },
    RangeField("rx_power_dbm") { .number($0.computed?.receivedPower, 1) },
    RangeField("fp_power_dbm") { .number($0.computed?.firstPathPower, 1) },
    RangeField("diagnostics") { .text($0.computed?.diagnostics.word) },
    RangeField("diagnostics_frames") { .integer($0.values.frames) },
  ]
}

extension RangeRow {
  fileprivate var values: ComputedValues { ComputedValues(computed: computed) }
}
