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
