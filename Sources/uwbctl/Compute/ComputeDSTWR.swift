// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Ranging
import UWBLab

struct ComputeDSTWR: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ds-twr",
    abstract: "Compute distances from the six stamps of double-sided ranging.",
    discussion: """
      Input: t1,t2,t3,t4,t5,t6 in ticks of 15.65 ps: poll sent and received, response sent and \
      received, final sent and received [, peer, time_s, rx_power_dbm]; with a --calibration that \
      has delays of boards also board_a,board_b [, channel, antenna_a, antenna_b].
      Output: distance_m, sigma_m, status. Where only the final is missing, the distance is \
      single-sided with the clock offset of earlier rounds of that peer, and the status is \
      single_sided.
      """)

  @OptionGroup var table: ComputeOptions
  @OptionGroup var radio: RadioOptions
  @Option(help: "Delays and power table, as written by calibrate and ss-twr --learn.")
  var calibration: String?

  func run() throws {
    try table.run { table throws(LabError) in
      try table.doubleSidedDistances(
        radio.parameters,
        calibration: try calibration.map { path throws(LabError) in
          try RangingCalibration(file: path)
        })
    }
  }
}
