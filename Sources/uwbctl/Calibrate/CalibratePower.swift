// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import UWBLab

struct CalibratePower: CalibrationCommand {
  static let configuration = CommandConfiguration(
    commandName: "power",
    abstract: "Determine how the received level shifts distances.",
    discussion: """
      Two boards range at many known distances, so that levels range from strong to weak: 0.5 to \
      30 m in the open are about 35 dB.
        uwbctl calibrate power --board A=/dev/ttyACM0 --board B=/dev/ttyACM1 --distance 1 \
      --distance 2 --distance 4 --output board.json

      --from reads a table: truth_m,range_m,rx_power_dbm [, peer, time_s]. Levels of one peer are \
      smoothed over time.

      Output: delay_m (or delays_m by peer) at the mean level, power_bias with rx_power_dbm and \
      bias_m, and residuals, as written by compute ss-twr --learn. It cannot be written to chips, \
      which have no such table.
      """)

  @Option(help: "Read measurements from this table (CSV) instead of boards; - is standard input.")
  var from: String?
  @Option(name: .customLong("distance"), help: "A distance in metres; repeatable.")
  var distances: [Double] = []
  @OptionGroup(title: "Boards") var boards: BoardOptions
  @OptionGroup(title: "Result") var result: CalibrationResult

  func validate() throws {
    guard !result.write else {
      throw ValidationError("Chips have no such table: use --output.")
    }
    guard distances.allSatisfy({ 0.05...1000 ~= $0 }) else {
      throw ValidationError("--distance takes metres, 0.05 to 1000.")
    }
  }

  func calibrate(from table: CSVTable) async throws {
    try result.save(try PowerCalibration(table) { warn([$0]) }.report())
  }

  func calibrateBoards() async throws {
    let calibration = try await boards.withBench(usual: 2, hasBias: true) { bench, console in
      try await PowerCalibration(
        on: bench, distances: distances.isEmpty ? [1, 1.5, 2, 3, 4, 6, 8, 12] : distances, console,
        isInteractive: !result.consent.yes)
    }
    try result.save(try calibration.report())
  }
}
