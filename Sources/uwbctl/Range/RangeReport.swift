// SPDX-License-Identifier: Apache-2.0

import UWBLab
import Ranging
import UCI
import UWB

/// A measurement with its estimate.
struct RangeRow {
  var seconds: Double
  var measurement: RangingMeasurement
  var estimate: RangeEstimate?
  var hasRSSI: Bool
  var computed: EstimatedMeasurement?

  var result: TwoWayMeasurement { measurement.result }

  /// nil where the chip cannot tell.
  var nonLineOfSight: Bool? {
    switch result.lineOfSight {
    case .lineOfSight: false
    case .nonLineOfSight: true
    default: nil
    }
  }

  var rssi: Double? { hasRSSI ? result.rssiDBm : nil }

  func angle(_ angle: Angle) -> Double? { angle.figureOfMerit > 0 ? angle.degrees : nil }
}

/// Rates and losses of a run, in total and by peer.
struct RangeSummary {
  struct Peer {
    var measured = 0
    var failed = 0
    var failures: [Status: Int] = [:]
    var last: RangeRow?
  }

  private(set) var peers: [MACAddress: Peer] = [:]
  private(set) var rounds = 0
  private(set) var missing = 0
  private(set) var first: Double?
  private(set) var last = 0.0
  /// The round of the last measurement, and its number of measurements.
  private(set) var lastSequence: UInt32?
  private(set) var rowsInRound = 0
  private var lastSequences: [UInt32: UInt32] = [:]
  /// The number of notifications that were not read in time.
  var dropped = 0

  var measured: Int { peers.values.reduce(0) { $0 + $1.measured } }
  var failed: Int { peers.values.reduce(0) { $0 + $1.failed } }

  mutating func add(_ row: RangeRow) {
    let number = row.measurement.sequenceNumber
    // A device that was lost counts from 0 again, possibly in a session with the same token.
    let before =
      row.measurement.followsInterruption ? nil : lastSequences[row.measurement.sessionToken]
    rowsInRound += 1
    if number != before {
      rounds += 1
      rowsInRound = 1
      // Every number between those of two notifications is a lost round.
      if let before, number > before { missing += Int(number - before) - 1 }
      lastSequences[row.measurement.sessionToken] = number
      lastSequence = number
      first = first ?? row.seconds
      last = row.seconds
    }
    var peer = peers[row.result.peer] ?? Peer()
    if row.result.distanceCentimetres != nil {
      peer.measured += 1
    } else {
      peer.failed += 1
      peer.failures[row.result.status, default: 0] += 1
    }
    peer.last = row
    peers[row.result.peer] = peer
  }

  /// Rounds per second.
  var rate: Double {
    guard let first, rounds > 1, last > first else { return 0 }
    return Double(rounds - 1) / (last - first)
  }

  /// One line.
  func text(_ statistics: String) -> String {
    let why = failures.map { "\($0.count) \($0.status)" }
    return "\(rounds) rounds, \(fixed(rate, 1)) Hz, \(peers.count) "
      + (peers.count == 1 ? "peer" : "peers")
      + ", \(measured) measured, \(failed) failed"
      + (why.isEmpty ? "" : " (\(why.joined(separator: ", ")))")
      + ", \(missing) lost, \(dropped) dropped, \(statistics)"
  }
}
