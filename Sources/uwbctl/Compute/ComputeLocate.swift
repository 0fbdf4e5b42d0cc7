// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Ranging
import UWBLab

struct ComputeLocate: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "locate",
    abstract: "Compute positions from ranges, or differences of ranges, to several anchors.",
    discussion: """
      Input: time_s,anchor,range_m, or time_s,anchor_a,anchor_b,tdoa_m, which is the distance to b \
      minus that to a [, peer, sigma_m]. Rows of one peer at one time are an epoch.
      Output, a row for each epoch with the other columns of its first row: x_m, y_m, z_m, cov_xx, \
      cov_xy, cov_xz, cov_yy, cov_yz, cov_zz (m²), used (measurements), status: ok, or what may \
      be wrong: mirror, coplanar (heights are not known), dilution, inconsistent, rejected; no_position.

      Anchors in JSON: {"anchors": {"A1": [0, 0, 2.5], "A2": [5, 0, 2.5]}, "height_m": 1.2}, or \
      {"anchors": [{"id": "A1", "x": 0, "y": 0, "z": 2.5, "bias_m": 0.1}, …]}; height_m is \
      the height of what is located, if it is known.
      """)

  @OptionGroup var table: ComputeOptions
  @Option(help: "Positions of the anchors (JSON).") var anchors: String
  @Option(help: "Noise of one range in metres, one standard deviation, where no column tells it.")
  var sigma = 0.15
  @Option(help: "The known height in metres; overrides that of the file.") var height: Double?
  @Option(
    help: """
      How much peers accelerate, in m²/s³: 0.1 trolleys, 1 hands and walking, 10 drones (default: \
      learned from the measurements).
      """)
  var acceleration: Double?
  @Flag(help: "Use only what was known at the time of each row.") var live = false
  @Flag(help: "Compute each epoch independently.") var single = false

  func validate() throws {
    let acceleration = acceleration ?? 1
    guard sigma > 0, acceleration > 0, sigma < 1e3, acceleration < 1e6 else {
      throw ValidationError("--sigma and --acceleration are greater than 0.")
    }
  }

  func run() throws {
    try table.run { table throws(LabError) in
      try table.positions(
        try Anchors(file: anchors), sigma: sigma, height: height,
        motion: single ? .independent : .tracked(acceleration: acceleration, live: live))
    }
  }
}
