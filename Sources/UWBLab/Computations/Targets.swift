// SPDX-License-Identifier: Apache-2.0

public import Ranging

extension CSVTable {
  /// Locates stationary targets from ranges taken while moving (columns `time`, `x`, `y`, `z`, `qw`,
  /// `qx`, `qy`, `qz`, `range`, and where there is one `azimuth`), each peer separately.
  ///
  /// - Throws: `LabError` when a column is missing.
  public func targets(
    _ parameters: TargetFinder.Parameters = .init()
  ) throws(LabError) -> ComputedTable<TargetEstimate> {
    var reader = TableReader(self)
    let time = try reader.require("time", .time)
    let range = try reader.require("range", .length)
    let position = try ["x", "y", "z"].map { name throws(LabError) in
      try reader.require(name, .length)
    }
    let rotation = try ["qw", "qx", "qy", "qz"].map { name throws(LabError) in
      try reader.require(name)
    }
    let azimuth = reader.find("azimuth", .angle)
    var finders: [String: TargetFinder] = [:]
    var path: [SIMD3<Double>] = []
    let rows = (0..<rowCount).map { row in
      var status = RowStatus()
      let p = position.compactMap { reader.value(row, $0, &status) }
      let q = rotation.compactMap { reader.value(row, $0, &status) }
      let seconds = reader.value(row, time, &status)
      let measured = reader.value(row, range, &status)
      var result = ComputedRow<TargetEstimate>(
        row: row, peer: reader.peer(row), time: seconds, state: status)
      guard status.isOK, let seconds, let measured else { return result }
      let pose = Pose(position: SIMD3<Double>(p[0], p[1], p[2]), w: q[0], x: q[1], y: q[2], z: q[3])
      path.append(pose.position)
      result.value = finders[result.peer, default: TargetFinder(parameters)].update(
        TargetSighting(
          time: seconds, pose: pose, range: measured, azimuth: reader.value(row, azimuth)))
      if result.value == nil { result.state.word = "no_estimate" }
      return result
    }
    return ComputedTable(
      reader, rows,
      [
        .number("target_x_m", \.position.x), .number("target_y_m", \.position.y),
        .number("target_z_m", \.position.z),
        .degrees("horizontal_angle_deg", \.horizontalAngle),
        .degrees("angle_sigma_deg", \.angleDeviation), .text("vertical", \.vertical.word),
        .flag("converged", \.isConverged), .text("reasons", \.reasons.words),
      ]
    ) { [path] rows in
      let positions = rows.compactMap { row in
        row.value.flatMap { $0.isConverged ? (row.peer, $0.position, $0.covariance) : nil }
      }
      return [.tracks("Targets located while moving", positions, path: path)]
    }
  }
}

extension TargetEstimate.Vertical {
  /// One word for programs.
  fileprivate var word: String {
    switch self {
    case .above: "above"
    case .same: "same"
    case .below: "below"
    case .aboveOrBelow: "above_or_below"
    case .unknown: "unknown"
    }
  }
}

extension TargetEstimate.Reasons {
  /// Words for programs.
  fileprivate var words: String {
    let names: [(Self, String)] = [
      (.movement, "movement"), (.horizontalSweep, "horizontal_sweep"),
      (.verticalSweep, "vertical_sweep"), (.signal, "signal"),
    ]
    return names.compactMap { contains($0.0) ? $0.1 : nil }.joined(separator: "+")
  }
}

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
