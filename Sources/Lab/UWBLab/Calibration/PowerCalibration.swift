// SPDX-License-Identifier: Apache-2.0

import Estimators
import Formats
import Ranging

/// Determines the ranging bias at each received level.
package struct PowerCalibration {
  private var ranges = KnownRanges()

  /// Measures two boards at several distances.
  package init(
    on bench: BoardBench, distances: [Double], _ console: any CalibrationConsole,
    isInteractive: Bool
  ) async throws {
    let name = "\(bench.boards[0].name) – \(bench.boards[1].name)"
    let kept = try await Guide<[BoardBench.Reading]>.distances(console, isInteractive).run(
      distances.map { .init(name: name, value: $0) },
      measure: { try await bench.range(0, 1, distance: $1).readings },
      summary: { readings, truth in
        let powers = readings.compactMap(\.power)
        let mean = powers.reduce(0, +) / Double(max(1, powers.count))
        return readings.summary(truth: truth)
          + (powers.isEmpty ? "; no level" : "; \(fixed(mean, 1)) dBm")
      })
    for (_, truth, readings) in kept {
      var level = LevelTracker()
      for reading in readings {
        guard let range = reading.range else { continue }
        let power = reading.power.map { level.update($0, time: reading.time) }
        ranges.add(peer: "", measured: range, truth: truth, power: power)
      }
    }
  }

  /// Reads measurements from a table (columns `truth`, `range`, `rx_power`, and optionally `peer`
  /// and `time`).
  ///
  /// - Throws: `LabError` if a column is missing or no row can be used.
  package init(_ table: CSVTable, _ warn: (String) -> Void) throws(LabError) {
    var reader = TableReader(table)
    let truth = try reader.require("truth", .length)
    let range = try reader.require("range", .length)
    let power = try reader.require("rx_power", .level)
    let time = reader.find("time", .time)
    var levels: [String: LevelTracker] = [:]
    var ranges = KnownRanges()
    let rows = try reader.rows { [reader] row, status in
      let known = reader.value(row, truth, &status)
      let measured = reader.value(row, range, &status)
      let received = reader.value(row, power, &status)
      guard let known, let measured, let received else { return nil as Void? }
      let peer = reader.peer(row)
      let level = levels[peer, default: LevelTracker()].update(
        received, time: reader.value(row, time))
      ranges.add(peer: peer, measured: measured, truth: known, power: level)
      return ()
    }
    rows.warnings.forEach(warn)
    self.ranges = ranges
  }

  /// - Throws: `LabError` if the measurements are not sufficient.
  package func report() throws(LabError) -> CalibrationReport {
    guard !ranges.list.isEmpty, let fit = RangeBiasFit(ranges.list) else {
      throw .insufficient("Nothing was measured with a level and a known distance.")
    }
    guard !fit.powerBias.knots.isEmpty else {
      throw .insufficient("The levels are all within a decibel, or missing.")
    }
    let calibration = ranges.calibration(fit)
    let rows = fit.powerBias.knots.map {
      "\(fixed($0.power, 1).right(7)) dBm  \(fixed($0.bias * 100, 1).right(6)) cm\n"
    }
    return CalibrationReport(
      text: rows.joined() + calibration.summary + "\n", calibration: calibration,
      charts: charts(fit))
  }

  private func charts(_ fit: RangeBiasFit) -> [Chart] {
    var before: [Chart.Point] = []
    var after: [Chart.Point] = []
    for range in ranges.list {
      guard let power = range.power, fit.delays.indices.contains(range.pair) else { continue }
      let error = range.measured - range.truth - fit.delays[range.pair]
      before.append((power, 100 * error))
      after.append((power, 100 * (error - fit.powerBias.bias(at: power))))
    }
    let line = fit.powerBias.knots.map { (x: $0.power, y: 100 * $0.bias) }
    return [
      Chart(
        title: "Range bias over received level", x: "received level (dBm)", y: "too long (cm)",
        series: [
          .init("measured", .grey, .points, before, fits: false),
          .init("table", .blue, .line, line),
        ]
      ).showing(before),
      Chart(
        title: "Residuals", x: "received level (dBm)", y: "residual (cm)",
        series: [.init("", .blue, .points, after, fits: false)]
      ).showing(after),
    ]
  }
}

extension Chart {
  /// Returns the chart with axes that show all but the farthest points.
  fileprivate func showing(_ points: [Point]) -> Chart {
    let ys = points.map(\.y).sorted()
    guard ys.count >= 2 else { return self }
    let outside = ys.count / 50
    let low = ys[outside]
    let high = ys[ys.count - 1 - outside]
    let room = 0.4 * (high - low)
    let xs = points.map(\.x)
    var chart = self
    chart.series.append(
      Series(
        "", .grey, .line, [(xs.min() ?? 0, low - room), (.nan, .nan), (xs.max() ?? 1, high + room)])
    )
    return chart
  }
}
