// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Ranging

/// `uwbctl compute ss-twr`.
struct ComputeSSTWR: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ss-twr",
    abstract: "Distances from the four stamps of single-sided ranging.",
    discussion: """
      Input: t1,t2,t3,t4 in ticks of 15.65 ps: poll sent and received, response sent and received \
      [, cfo_ppm, peer, rx_power_dbm, time_s; for --calibration with the delays of boards also \
      board_a, board_b, channel, antenna_a, antenna_b]. cfo_ppm says by how much the initiator's clock is \
      faster than the responder's. It is used for rounds whose polls cannot be compared with those \
      of the round before; comparing needs time_s when polls are further apart than the counter \
      counts (17.2 s with 40 bits, 67 ms with 32).
      Output: distance_m, sigma_m, status.

      --learn FILE with --truth COLUMN fits the delay of each peer and what the received level \
      adds; --calibration FILE takes both away again.
      """)

  /// The table of DW1000 for the received level.
  enum PowerTable: String, ExpressibleByArgument, CaseIterable {
    case none
    case dw1000PRF64 = "dw1000-prf64"
    case dw1000PRF16 = "dw1000-prf16"
  }

  @OptionGroup var files: ComputeFiles
  @OptionGroup var radio: RadioOptions
  @OptionGroup var plot: PlotOptions
  @Option(help: "Write delay and power table here (JSON); needs --truth.") var learn: String?
  @Option(help: "The column with the true distance (distance_m), or a number in metres.")
  var truth: String?
  @Option(help: "Delays and power table, as calibrate and --learn write them.")
  var calibration: String?
  @Option(
    help: """
      Without --calibration: the vendor's table of what the received level adds, for chips that are \
      known to be a DW1000 (stamps do not say it, and other chips differ).
      """)
  var powerTable = PowerTable.none

  func validate() throws {
    guard (learn == nil) == (truth == nil) else {
      throw ValidationError("--learn and --truth belong together.")
    }
    guard learn == nil || calibration == nil else {
      throw ValidationError("--learn and --calibration exclude each other.")
    }
  }

  func run() throws {
    try computing {
      let table = try files.table()
      var ranges = try SingleSidedRanges(table, radio.parameters)
      var correction = try calibration.map { path in
        try RangeCorrection(RangingCalibration(file: path), table, path: path)
      }
      if let learn, let truth {
        let learned = try ranges.learned(truth: truth)
        try learned.write(to: learn)
        correction = try RangeCorrection(learned, table, path: learn)
        standardError.write(learned.summary + "\n")
      } else if correction == nil {
        correction = powerTable.correction
      }
      if let correction { ranges.take(correction) }
      let timeColumn = table.find("time", .time)
      var chart = RangeChart("Single-sided two-way ranging", hasTime: timeColumn != nil)
      var writer = try files.writer(table, adding: ["distance_m", "sigma_m", "status"])
      for row in 0..<table.rowCount {
        let result = ranges.results[row]
        if plot.plot != nil, let result {
          chart.add(
            peer: ranges.peers[row], time: table.value(row, timeColumn) ?? Double(row),
            measured: nil, estimate: result.distance, sigma: result.standardDeviation)
        }
        writer.begin(copying: row)
        writer.add(result?.distance, digits: 4)
        writer.add(result?.standardDeviation, digits: 4)
        writer.add(ranges.statuses[row].word)
        try writer.end()
      }
      try plot.write([chart.chart])
      try writer.finish()
    }
  }
}

extension ComputeSSTWR.PowerTable {
  var correction: RangeCorrection? {
    switch self {
    case .none: nil
    case .dw1000PRF64: RangeCorrection(.dw1000PRF64)
    case .dw1000PRF16: RangeCorrection(.dw1000PRF16)
    }
  }
}
