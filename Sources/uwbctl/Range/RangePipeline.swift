// SPDX-License-Identifier: Apache-2.0

import Ranging
import UCI
import UWB

/// Prints measurements with their estimates, and summarises them.
struct RangePipeline {
  /// Whether the chip reports RSSI, as since FiRa 2.0.
  var hasRSSI: Bool
  private(set) var summary = RangeSummary()
  private var printer: RangePrinter
  private var start: UInt64?

  /// - Parameter showsComputed: whether text output has computed values, too; JSON and CSV always do.
  init(_ format: RangeFormat, hasRSSI: Bool, showsComputed: Bool = false) {
    printer = RangePrinter(format, showsComputed: showsComputed)
    self.hasRSSI = hasRSSI
  }

  mutating func take(_ computed: EstimatedMeasurement) {
    let measurement = computed.measurement
    let beginning = start ?? measurement.receivedAt
    start = beginning
    let seconds = Double(Int64(truncatingIfNeeded: measurement.receivedAt &- beginning)) / 1e9
    let row = RangeRow(
      seconds: seconds, measurement: measurement, estimate: computed.track, hasRSSI: hasRSSI,
      computed: computed)
    summary.add(row)
    printer.print(row, summary)
  }

  /// - Parameter dropped: the number of notifications that were not read in time.
  mutating func finish(dropped: Int) -> RangeSummary {
    summary.dropped = dropped
    printer.finish(summary)
    return summary
  }
}

extension RangeFormat {
  /// A table on a terminal, lines elsewhere.
  static var standard: RangeFormat { standardOutput.isTerminal ? .table : .text }
}
