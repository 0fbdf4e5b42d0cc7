// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Ranging

/// `uwbctl compute ds-twr`.
struct ComputeDSTWR: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ds-twr",
    abstract: "Distances from the six stamps of double-sided ranging.",
    discussion: """
      Input: t1,t2,t3,t4,t5,t6 in ticks of 15.65 ps: poll sent and received, response sent and \
      received, final sent and received [, peer, time_s, rx_power_dbm]; for --calibration with the \
      delays of boards also board_a,board_b [, channel, antenna_a, antenna_b].
      Output: distance_m, sigma_m, status. Where only the final is missing, the distance is \
      single-sided with the clock offset of that peer's earlier rounds, and the status is \
      single_sided.
      """)

  @OptionGroup var files: ComputeFiles
  @OptionGroup var radio: RadioOptions
  @OptionGroup var plot: PlotOptions
  @Option(help: "Delays and power table, as calibrate and ss-twr --learn write them.")
  var calibration: String?

  func run() throws {
    try computing {
      let table = try files.table()
      let columns = try ["t1", "t2", "t3", "t4", "t5", "t6"].map { try table.require($0, .ticks) }
      let peerColumn = table.find("peer", .number)
      let timeColumn = table.find("time", .time)
      let powerColumn = table.find("rx_power", .level)
      let correction = try calibration.map { path in
        try RangeCorrection(RangingCalibration(file: path), table, path: path)
      }
      var writer = try files.writer(table, adding: ["distance_m", "sigma_m", "status"])
      var chart = RangeChart("Double-sided two-way ranging", hasTime: timeColumn != nil)
      var responders: [String: ResponderRanging] = [:]
      var levels: [String: LevelTracker] = [:]
      for row in 0..<table.rowCount {
        let peer = peerColumn.map { table.text(row, $0.index) } ?? ""
        let time = table.value(row, timeColumn)
        var status = RowStatus.ok
        var result: TwoWayDistance?
        let stamps = columns.map { table.stamp(row, $0, &status) }
        if let t1 = stamps[0], let t2 = stamps[1], let t3 = stamps[2], let t4 = stamps[3] {
          let single = SingleSidedExchange(
            pollSent: t1, pollReceived: t2, responseSent: t3, responseReceived: t4)
          var whole: DoubleSidedExchange?
          if let t5 = stamps[4], let t6 = stamps[5] {
            whole = DoubleSidedExchange(
              pollSent: t1, pollReceived: t2, responseSent: t3, responseReceived: t4,
              finalSent: t5, finalReceived: t6)
          }
          do throws(RangingFailure) {
            result = try responders[peer, default: ResponderRanging(radio.parameters)]
              .distance(single, whole: whole, time: time)
            if whole == nil { status.word = "single_sided" }
          } catch {
            if whole != nil || error != .unknownClockOffset { status.word = error.word }
          }
        }
        if let correction {
          let power = table.value(row, powerColumn).map {
            levels[peer, default: LevelTracker()].update($0, time: time)
          }
          if let bias = correction.bias(row, peer: peer, power: power, &status) {
            correction.take(bias, from: &result)
          } else {
            result = nil
          }
        }
        if plot.plot != nil, let result {
          chart.add(
            peer: peer, time: time ?? Double(row), measured: nil, estimate: result.distance,
            sigma: result.standardDeviation)
        }
        writer.begin(copying: row)
        writer.add(result?.distance, digits: 4)
        writer.add(result?.standardDeviation, digits: 4)
        writer.add(status.word)
        try writer.end()
      }
      try plot.write([chart.chart])
      try writer.finish()
    }
  }
}
