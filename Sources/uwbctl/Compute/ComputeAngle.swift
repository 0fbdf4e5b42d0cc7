// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Ranging

/// `uwbctl compute angle`.
struct ComputeAngle: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "angle",
    abstract: "Angles from phase differences of pairs of antennas.",
    discussion: """
      Input: time_s, and for each pair a column with its phase difference in radians (first antenna \
      less second), wrapped or not [, peer].
      Output: azimuth_deg (0 forward, positive to the left), elevation_deg (positive upwards; what \
      was assumed, if the antennas cannot tell), sigma_deg of the azimuth, status (ambiguous: \
      another direction is nearly as likely).

      The antennas are described in JSON, x forward, y left, z up:
        {"channel": 9, "pairs": [{"column": "pdoa_rad", "spacing_m": 0.0188}]}
        {"pairs": [{"column": "pdoa_rad", "offset_rad": 0.1, "table": [
          {"angle_deg": -90, "phase_rad": -3.4}, …, {"angle_deg": 90, "phase_rad": 2.9}]}]}
        {"channel": 5, "antennas": {"1": [0.02, 0, 0], "2": [0, 0.02, 0], "3": [-0.02, 0, 0]},
         "pairs": [{"column": "p12", "antennas": ["1", "2"]}, {"column": "p13", "antennas": \
      ["1", "3"]}]}
      Each pair may have offset_rad, noise_rad, an axis (side by side: [0, 1, 0]), and harmonics \
      [{"cos_rad", "sin_rad"}, …] of the azimuth. Instead of channel: frequency_hz or wavelength_m; \
      spacing_wavelengths needs neither. elevation_deg: what to assume.
      """)

  @OptionGroup var files: ComputeFiles
  @OptionGroup var plot: PlotOptions
  @Option(help: "Antennas and calibration (JSON).") var geometry: String
  @Option(help: "How far peers wander in a second, in degrees, as a random walk.")
  var wander = 30.0
  @Flag(help: "Only what was known at the time of each row.") var live = false

  func validate() throws {
    guard wander > 0, wander < 1e5 else {
      throw ValidationError("--wander is greater than 0.")
    }
  }

  func run() throws {
    try computing {
      let file = try RangingCalibration(file: geometry)
      let elevation = (file.elevation_deg ?? 0) * .pi / 180
      guard var finder = DirectionFinder(try file.antennaPairs(geometry), elevation: elevation)
      else { throw ComputeError.badFile(geometry, "it has no pairs") }
      finder.wander = wander * .pi / 180
      let table = try files.table()
      let time = try table.require("time", .time)
      let columns = try (file.pairs ?? []).map { pair throws(ComputeError) in
        guard let index = table.header.firstIndex(of: pair.column) else {
          throw .missingColumn(pair.column, has: table.header)
        }
        return Column(
          index: index, factor: pair.column.hasSuffix("_deg") ? .pi / 180 : 1, name: pair.column)
      }
      let peerColumn = table.find("peer", .number)
      var peers: [String: [(row: Int, time: Double, phases: [Double?])]] = [:]
      var statuses = [RowStatus](repeating: .ok, count: table.rowCount)
      for row in 0..<table.rowCount {
        let peer = peerColumn.map { table.text(row, $0.index) } ?? ""
        guard let seconds = table.value(row, time, &statuses[row]) else { continue }
        let phases = columns.map { table.value(row, $0) }
        guard phases.contains(where: { $0 != nil }) else {
          _ = table.value(row, columns[0], &statuses[row])
          continue
        }
        peers[peer, default: []].append((row, seconds, phases))
      }
      var directions = [DirectionFinder.Direction?](repeating: nil, count: table.rowCount)
      for rows in peers.values {
        let found = finder.directions(rows.map { ($0.time, $0.phases) }, live: live)
        for (row, direction) in zip(rows, found) { directions[row.row] = direction }
      }
      var chart = AngleChart(finder.pairs, names: columns.map(\.name))
      if plot.plot != nil {
        for row in peers.values.joined().sorted(by: { $0.row < $1.row }) {
          if let direction = directions[row.row] {
            chart.add(time: row.time, phases: row.phases, direction)
          }
        }
      }
      var writer = try files.writer(
        table, adding: ["azimuth_deg", "elevation_deg", "sigma_deg", "status"])
      for row in 0..<table.rowCount {
        let direction = directions[row]
        if let direction, direction.probability < 0.7 { statuses[row].word = "ambiguous" }
        writer.begin(copying: row)
        writer.add((direction?.azimuth).map { $0 * 180 / .pi }, digits: 3)
        writer.add((direction?.elevation).map { $0 * 180 / .pi }, digits: 3)
        writer.add((direction?.standardDeviation).map { $0 * 180 / .pi }, digits: 3)
        writer.add(statuses[row].word)
        try writer.end()
      }
      try plot.write(chart.charts)
      try writer.finish()
    }
  }
}
