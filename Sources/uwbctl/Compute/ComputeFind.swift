// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Ranging

/// `uwbctl compute find`.
struct ComputeFind: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "find",
    abstract: "Where a target at rest is, from ranges taken along one's own way.",
    discussion: """
      Input: time_s,x,y,z,qw,qx,qy,qz,range_m [, azimuth_rad, peer]: the own pose in a world whose \
      z points up, the rotation from the device to the world, and azimuths from the device's x \
      towards its y.
      Output: target_x_m, target_y_m, target_z_m (world), horizontal_angle_deg from the device's x \
      towards its y, angle_sigma_deg, vertical (above, same, below, unknown), converged (1 or 0), \
      reasons (movement, horizontal_sweep, vertical_sweep, signal, joined by +), status.
      """)

  @OptionGroup var files: ComputeFiles
  @OptionGroup var plot: PlotOptions
  @Option(help: "Noise of one range in metres, one standard deviation.") var sigma = 0.1
  @Option(help: "Noise of an azimuth in degrees, one standard deviation.") var azimuthSigma = 6.0

  func validate() throws {
    guard sigma > 0, azimuthSigma > 0, sigma < 1e3, azimuthSigma < 180 else {
      throw ValidationError("--sigma and --azimuth-sigma are greater than 0.")
    }
  }

  func run() throws {
    try computing {
      let table = try files.table()
      let time = try table.require("time", .time)
      let range = try table.require("range", .length)
      let place = try ["x", "y", "z"].map { try table.require($0, .length) }
      let turn = try ["qw", "qx", "qy", "qz"].map { try table.require($0, .number) }
      let azimuth = table.find("azimuth", .angle)
      let peerColumn = table.find("peer", .number)
      var parameters = TargetFinder.Parameters()
      parameters.rangeDeviation = sigma
      parameters.azimuthDeviation = azimuthSigma * .pi / 180
      var chart = TrackChart("Target seen from the own way")
      var finders: [String: TargetFinder] = [:]
      var writer = try files.writer(
        table,
        adding: [
          "target_x_m", "target_y_m", "target_z_m", "horizontal_angle_deg", "angle_sigma_deg",
          "vertical", "converged", "reasons", "status",
        ])
      for row in 0..<table.rowCount {
        let peer = peerColumn.map { table.text(row, $0.index) } ?? ""
        var status = RowStatus.ok
        let p = place.map { table.value(row, $0, &status) }
        let q = turn.map { table.value(row, $0, &status) }
        let seconds = table.value(row, time, &status)
        let measured = table.value(row, range, &status)
        var estimate: TargetEstimate?
        if let seconds, let measured, let x = p[0], let y = p[1], let z = p[2], let w = q[0],
          let i = q[1], let j = q[2], let k = q[3]
        {
          let pose = Pose(position: Vector3(x, y, z), w: w, x: i, y: j, z: k)
          estimate = finders[peer, default: TargetFinder(parameters)].update(
            TargetSighting(
              time: seconds, pose: pose, range: measured, azimuth: table.value(row, azimuth)))
          if plot.plot != nil { chart.way.append(pose.position) }
          if plot.plot != nil, let estimate, estimate.isConverged {
            chart.add(peer: peer, estimate.place, estimate.covariance)
          }
        }
        if status.isOK, estimate == nil { status.word = "no_estimate" }
        writer.begin(copying: row)
        writer.add(estimate?.place.x, digits: 4)
        writer.add(estimate?.place.y, digits: 4)
        writer.add(estimate?.place.z, digits: 4)
        writer.add(estimate.map { $0.horizontalAngle * 180 / .pi }, digits: 3)
        writer.add(estimate.map { $0.angleDeviation * 180 / .pi }, digits: 3)
        writer.add(estimate?.vertical.word ?? "")
        writer.add(estimate?.isConverged == true ? "1" : "0")
        writer.add(estimate?.reasons.words ?? "")
        writer.add(status.word)
        try writer.end()
      }
      try plot.write([chart.chart])
      try writer.finish()
    }
  }
}

extension TargetEstimate.Vertical {
  /// One word for programs.
  var word: String {
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
  var words: String {
    let names: [(Self, String)] = [
      (.movement, "movement"), (.horizontalSweep, "horizontal_sweep"),
      (.verticalSweep, "vertical_sweep"), (.signal, "signal"),
    ]
    return names.compactMap { contains($0.0) ? $0.1 : nil }.joined(separator: "+")
  }
}
