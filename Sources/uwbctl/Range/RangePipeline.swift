// SPDX-License-Identifier: Apache-2.0

import Ranging
import UCI
import UWBDriver

/// From measurements, of a device or of a capture, to estimates, printed lines and a summary.
struct RangePipeline {
  /// Estimates of one peer in different sessions are independent.
  private struct Track: Hashable {
    var session: UInt32
    var peer: MACAddress
  }

  /// Whether the chip reports RSSI, which it does since FiRa 2.0.
  var hasRSSI: Bool
  private(set) var summary = RangeSummary()
  private var printer: RangePrinter
  private var estimators: [Track: RangeEstimator] = [:]
  private var start: UInt64?

  /// Metres. FiRa notifications carry no uncertainty of the distance; 2 to 5 cm is what boards with
  /// line of sight show.
  private static let chipStandardDeviation = 0.05

  init(_ format: RangeFormat, hasRSSI: Bool) {
    printer = RangePrinter(format)
    self.hasRSSI = hasRSSI
  }

  mutating func take(_ measurement: RangingMeasurement) {
    let beginning = start ?? measurement.receivedAt
    start = beginning
    let seconds = Double(Int64(truncatingIfNeeded: measurement.receivedAt &- beginning)) / 1e9
    var row = RangeRow(
      seconds: seconds, measurement: measurement, estimate: nil, hasRSSI: hasRSSI)
    if let centimetres = measurement.result.distanceCentimetres {
      let track = Track(session: measurement.sessionToken, peer: measurement.result.peer)
      row.estimate = estimators[track, default: RangeEstimator()].update(
        RangeSample(
          time: seconds, distance: Double(centimetres) / 100,
          standardDeviation: Self.chipStandardDeviation, nonLineOfSight: row.nonLineOfSight))
    }
    summary.add(row)
    printer.print(row, summary)
  }

  /// - Parameter dropped: notifications that were not taken in time.
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
