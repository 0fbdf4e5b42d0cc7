// SPDX-License-Identifier: Apache-2.0

public import Ranging

extension CSVTable {
  /// Computes angles from phase differences (columns `time` and those that the geometry names), each
  /// peer separately.
  ///
  /// - Parameters:
  ///   - geometry: the pairs of antennas, and what is known of them.
  ///   - wander: how far peers move in a second, in radians, as a random walk.
  ///   - live: whether each angle uses only what was known at its time, not the whole recording.
  /// - Throws: `LabError` when a column is missing or the geometry is incomplete.
  public func directions(
    geometry: RangingCalibration, wander: Double = 30 * .pi / 180, live: Bool = false
  ) throws(LabError) -> ComputedTable<DirectionFinder.Direction> {
    let elevation = (geometry.elevationDegrees ?? 0) * .pi / 180
    guard var finder = DirectionFinder(try geometry.antennaPairs(), elevation: elevation) else {
      throw LabError(.badFile, "The geometry has no pairs of antennas.")
    }
    finder.wander = wander
    let reader = TableReader(self)
    let time = try reader.require("time", .time)
    let columns = try (geometry.pairs ?? []).map { pair throws(LabError) in
      try reader.phaseColumn(pair.column)
    }
    var rows: [ComputedRow<DirectionFinder.Direction>] = []
    var phases: [[Double?]] = []
    var peers: [String: [Int]] = [:]
    for row in 0..<rowCount {
      let peer = reader.peer(row)
      var status = RowStatus()
      let seconds = reader.value(row, time, &status)
      phases.append(columns.map { reader.value(row, $0) })
      let hasPhase = phases[row].contains { $0 != nil }
      if !hasPhase { _ = reader.value(row, columns[0], &status) }
      rows.append(ComputedRow(row: row, peer: peer, time: seconds, state: status))
      if status.isOK { peers[peer, default: []].append(row) }
    }
    for indices in peers.values {
      let found = finder.directions(
        indices.map { (rows[$0].time ?? 0, phases[$0]) }, live: live)
      for (row, direction) in zip(indices, found) {
        rows[row].value = direction
        // Another direction is nearly as likely.
        if let direction, direction.probability < 0.7 { rows[row].state.word = "ambiguous" }
      }
    }
    return ComputedTable(
      reader, rows,
      [
        .degrees("azimuth_deg", \.azimuth), .degrees("elevation_deg", \.elevation),
        .degrees("sigma_deg", \.standardDeviation),
      ]
    ) { [pairs = finder.pairs, phases] rows in
      Chart.directions(
        zip(columns, pairs).map { ($0.name, $1) },
        rows.compactMap { row in
          guard let time = row.time, let direction = row.value else { return nil }
          return (time, phases[row.row], direction)
        })
    }
  }
}
