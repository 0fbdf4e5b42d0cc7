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
      standardOutput.write(
        "time_s,session,sequence,peer,status,distance_cm,estimate_m,estimate_sd_m,velocity_m_s,"
          + "azimuth_deg,azimuth_fom,elevation_deg,elevation_fom,rssi_dbm,nlos,lost_before,after_interruption,"
          + ComputedColumns.header + "\n"
      )
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
      let computed = ComputedColumns(computed: row.computed).text
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
    let computed = ComputedColumns(computed: row.computed).text
    if showsComputed, !computed.isEmpty { line += "  computed: \(computed)" }
    return line
  }

  private func json(_ row: RangeRow) -> String {
    let result = row.result
    var line = JSONLine()
    line.add("time_s", row.seconds, digits: 6)
    line.add("session", row.measurement.sessionToken)
    line.add("sequence", row.measurement.sequenceNumber)
    line.add("peer", result.peer.description)
    line.add("status", result.status.description)
    line.add("status_code", result.status.rawValue)
    line.add("distance_cm", result.distanceCentimetres)
    line.add("estimate_m", row.estimate?.distance, digits: 4)
    line.add("estimate_sd_m", row.estimate?.standardDeviation, digits: 4)
    line.add("velocity_m_s", row.estimate?.velocity, digits: 3)
    line.add("azimuth_deg", result.azimuth.degrees, digits: 2)
    line.add("azimuth_fom", result.azimuth.figureOfMerit)
    line.add("elevation_deg", result.elevation.degrees, digits: 2)
    line.add("elevation_fom", result.elevation.figureOfMerit)
    line.add("rssi_dbm", row.rssi, digits: 1)
    line.add("nlos", row.nonLineOfSight)
    line.add("lost_before", row.measurement.lostBefore)
    line.add("after_interruption", row.measurement.followsInterruption)
    ComputedColumns(computed: row.computed).add(to: &line)
    return line.text
  }

  private func csv(_ row: RangeRow) -> String {
    let result = row.result
    let own: [String] = [
      fixed(row.seconds, 6), "\(row.measurement.sessionToken)",
      "\(row.measurement.sequenceNumber)", result.peer.description, result.status.description,
      result.distanceCentimetres.map { "\($0)" } ?? "",
      row.estimate.map { fixed($0.distance, 4) } ?? "",
      row.estimate.map { fixed($0.standardDeviation, 4) } ?? "",
      row.estimate.map { fixed($0.velocity, 3) } ?? "",
      fixed(result.azimuth.degrees, 2), "\(result.azimuth.figureOfMerit)",
      fixed(result.elevation.degrees, 2), "\(result.elevation.figureOfMerit)",
      row.rssi.map { fixed($0, 1) } ?? "", row.nonLineOfSight.map { "\($0)" } ?? "",
      "\(row.measurement.lostBefore)", "\(row.measurement.followsInterruption)",
    ]
    let computed = ComputedColumns(computed: row.computed).csv
    return own.joined(separator: ",") + "," + computed.joined(separator: ",")
  }
}
