// SPDX-License-Identifier: Apache-2.0

import Estimators
import Formats
internal import Glibc
public import Ranging

extension CSVTable {
  /// Locates stationary targets from ranges taken while moving (columns `time`, `x`, `y`, `z`,
  /// `qw`, `qx`, `qy`, `qz`, `range`, and optionally `azimuth`), each peer separately. `yaw` may
  /// replace the quaternion; without `z` the height is 0.
  ///
  /// - Parameters:
  ///   - parameters: the assumptions about the ranges and the movement.
  ///   - calibration: the measured errors of the ranges.
  /// - Throws: `LabError` when a column is missing.
  public func targets(
    _ parameters: TargetFinder.Parameters = .init(), calibration: RangingCalibration? = nil
  ) throws(LabError) -> ComputedTable<TargetEstimate> {
    try locating(parameters, calibration: calibration).table()
  }

  /// Returns the computation, whose results only use their own row and earlier ones.
  package func locating(
    _ parameters: TargetFinder.Parameters, calibration: RangingCalibration? = nil
  ) throws(LabError) -> RowComputation<TargetEstimate> {
    var reader = TableReader(self)
    var calibrator = try RangeCalibrator(calibration, &reader)
    var parameters = parameters
    parameters.biasDeviation = calibrator.deviation ?? parameters.biasDeviation
    let constants = reader.findConstants(calibration)
    let time = try reader.require("time", .time)
    let range = try reader.requireRange(calibration: calibration)
    let pose = try PoseColumns(&reader)
    let azimuth = try reader.findAngle("azimuth")
    var finders = RecentPeers<TargetFinder>()
    return RowComputation(
      reader,
      [
        .length("x", as: "target_x_m", \.position.x) { $0.covariance.xx.squareRoot() },
        .length("y", as: "target_y_m", \.position.y) { $0.covariance.yy.squareRoot() },
        .length("z", as: "target_z_m", \.position.z) { $0.covariance.zz.squareRoot() },
        .angle("horizontal_angle", \.horizontalAngle, deviation: \.angleDeviation),
        .degrees("angle_sigma_deg", \.angleDeviation), .text("vertical", \.vertical.word),
        .flag("converged", \.isConverged), .text("reasons", \.reasons.description),
      ]
    ) { [parameters] reader, row in
      var status = RowStatus.ok
      let pose = pose.value(reader, row, &status)
      let seconds = reader.value(row, time, &status)
      let measured = reader.value(row, range, &status)
      var result = ComputedRow<TargetEstimate>(
        row: row, peer: reader.peer(row), time: seconds, state: status)
      let bearing = reader.value(row, azimuth)
      guard result.state.isOK, let pose, let seconds, let measured,
        let corrected = calibrator.corrected(
          measured, row, peer: result.peer, time: seconds, reader, &result.state)
      else { return result }
      var own = parameters
      own.biasDeviation = constants?.value(row, reader) ?? own.biasDeviation
      own.biasDeviation =
        (own.biasDeviation * own.biasDeviation + corrected.deviation * corrected.deviation)
        .squareRoot()
      result.value = finders.update(result.peer, from: TargetFinder(own)) {
        $0.update(
          TargetSighting(time: seconds, pose: pose, range: corrected.range, azimuth: bearing))
      }
      if result.value == nil { result.state = .result("no_estimate") }
      return result
    } draw: { [reader] rows in
      var status = RowStatus.ok
      let path = rows.compactMap { row in
        row.value == nil ? nil : pose.value(reader, row.row, &status)?.position
      }
      let positions = rows.compactMap { row in
        row.value.flatMap { $0.isConverged ? (row.peer, $0.position, $0.covariance) : nil }
      }
      return [.tracks("Targets located while moving", positions, path: path)]
    }
  }
}

/// The columns of a device's pose in a world whose z points up.
private struct PoseColumns {
  private let x, y: Column
  private let z: Column?
  private let quaternion: [Column]
  /// From the world's x towards its y; nil where there is a quaternion.
  private let yaw: Column?

  init(_ reader: inout TableReader) throws(LabError) {
    x = try reader.require("x", .length)
    y = try reader.require("y", .length)
    z = reader.find("z", .length)
    yaw = reader.has("qw", .number) ? nil : try reader.findAngle("yaw")
    guard yaw != nil || ["qw", "qx", "qy", "qz"].contains(where: { reader.has($0, .number) }) else {
      throw LabError(
        .badTable, "The input has neither yaw_deg nor qw, qx, qy and qz.",
        suggestion: "Rename the columns with the direction of the device, among: "
          + LabError.list(reader.table.header))
    }
    quaternion =
      if yaw != nil { [] } else {
        try ["qw", "qx", "qy", "qz"].map { name throws(LabError) in try reader.require(name) }
      }
  }

  func value(_ reader: TableReader, _ row: Int, _ status: inout RowStatus) -> Pose? {
    let x = reader.value(row, x, &status)
    let y = reader.value(row, y, &status)
    let z = z.map { reader.value(row, $0, &status) } ?? 0
    let yaw = yaw.map { reader.value(row, $0, &status) } ?? 0
    let q = quaternion.compactMap { reader.value(row, $0, &status) }
    guard let x, let y, let z, let yaw, q.count == quaternion.count else { return nil }
    let position = SIMD3<Double>(x, y, z)
    guard !q.isEmpty else {
      return Pose(position: position, w: cos(yaw / 2), z: sin(yaw / 2))
    }
    return Pose(position: position, w: q[0], x: q[1], y: q[2], z: q[3])
  }
}

extension TargetEstimate.Vertical {
  /// The word for programs.
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
