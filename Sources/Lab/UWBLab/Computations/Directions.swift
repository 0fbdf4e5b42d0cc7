// SPDX-License-Identifier: Apache-2.0

public import Estimators
public import Ranging

extension CSVTable {
  /// Computes the angles of each peer from phase differences. The columns are `time` and the ones
  /// that the geometry names, in any unit.
  ///
  /// - Parameters:
  ///   - geometry: the pairs of antennas, with their models.
  ///   - wander: the random walk of peers in a second, in radians.
  ///   - live: whether each angle uses only its row and earlier rows.
  /// - Throws: `LabError` if a column is missing or the geometry is incomplete.
  public func directions(
    geometry: RangingCalibration, wander: Double = 30 * .pi / 180, live: Bool = false
  ) throws(LabError) -> ComputedTable<DirectionFinder.Direction> {
    try directing(geometry: geometry, wander: wander, live: live).table()
  }

  /// - Parameter live: whether each angle uses only its row and earlier rows.
  package func directing(
    geometry: RangingCalibration, wander: Double, live: Bool
  ) throws(LabError) -> RowComputation<DirectionFinder.Direction> {
    let columns = try PhaseColumns(self, geometry, wander: wander)
    var tracks = RecentPeers<DirectionFinder.Track>()
    /// The phases of each peer in a recording, until the directions are computed.
    var phases: [String: [(time: Double, phases: [Double?])]] = [:]
    /// The directions of each peer in a recording that have not been returned yet.
    var found: [String: ArraySlice<DirectionFinder.Direction?>] = [:]
    let finding = RowComputation<DirectionFinder.Direction>.Preparation { reader, row in
      let (result, measured) = columns.take(row, reader)
      guard result.state.isOK else { return }
      phases[result.peer, default: []].append((result.time ?? 0, measured))
    } finish: {
      found = phases.mapValues { columns.finder.directions($0)[...] }
      phases = [:]
    }
    return RowComputation(columns.reader, .directions, prepare: live ? nil : finding) {
      reader, row in
      var (result, measured) = columns.take(row, reader)
      guard result.state.isOK else { return result }
      result.set(
        live
          ? tracks.update(result.peer, from: DirectionFinder.Track()) {
            columns.finder.update(&$0, time: result.time ?? 0, measured)
          } : found[result.peer]?.popFirst() ?? nil)
      return result
    } draw: { rows in
      let pairs = zip(columns.columns, columns.finder.pairs).map { ($0.name, $1) }
      return Chart.directions(
        pairs,
        rows.compactMap { row in
          guard let time = row.time, let direction = row.value else { return nil }
          return (time, columns.take(row.row, columns.reader).1, direction)
        })
    }
  }
}

/// The columns of phases in a table.
private struct PhaseColumns {
  let reader: TableReader
  let finder: DirectionFinder
  let columns: [Column]
  private let time: Column

  init(
    _ table: CSVTable, _ geometry: RangingCalibration, wander: Double
  ) throws(LabError) {
    let elevation = (geometry.elevationDegrees ?? 0) * .pi / 180
    guard abs(elevation) < .pi / 2 else {
      throw LabError(.badFile, "elevation_deg is not between -90 and 90.")
    }
    guard var finder = DirectionFinder(try geometry.antennaPairs(), elevation: elevation) else {
      throw LabError(.badFile, "The geometry has no pairs of antennas.")
    }
    finder.wander = wander
    let reader = TableReader(table)
    time = try reader.require("time", .time)
    columns = try (geometry.pairs ?? []).map { pair throws(LabError) in
      try reader.phaseColumn(pair.column)
    }
    (self.reader, self.finder) = (reader, finder)
  }

  func take(
    _ row: Int, _ reader: TableReader
  ) -> (ComputedRow<DirectionFinder.Direction>, [Double?]) {
    var status = RowStatus.ok
    let seconds = reader.value(row, time, &status)
    let phases = columns.map { reader.value(row, $0) }
    if phases.allSatisfy({ $0 == nil }) { _ = reader.value(row, columns[0], &status) }
    return (ComputedRow(row: row, peer: reader.peer(row), time: seconds, state: status), phases)
  }
}

extension ComputedRow<DirectionFinder.Direction> {
  fileprivate mutating func set(_ direction: DirectionFinder.Direction?) {
    value = direction
    // With a lower probability, another direction is nearly as likely.
    if let direction, direction.probability < 0.7 { state = .result("ambiguous") }
  }
}

extension [OutputColumn<DirectionFinder.Direction>] {
  fileprivate static var directions: Self {
    [
      .angle("azimuth", \.azimuth, deviation: \.standardDeviation),
      .degrees("elevation_deg", \.elevation),
      .degrees("sigma_deg", \.standardDeviation),
    ]
  }
}
