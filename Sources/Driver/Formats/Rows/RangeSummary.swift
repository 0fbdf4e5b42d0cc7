// SPDX-License-Identifier: Apache-2.0

package import UCI
package import UWB

/// The rate and the losses of a run, in total and for each peer.
package struct RangeSummary: Sendable {
  package struct Peer: Sendable {
    package var measured = 0
    package var failed = 0
    package var failures: [Status: Int] = [:]
    package var last: RangeRow?
    /// The time of the last measurement in nanoseconds of CLOCK_MONOTONIC.
    package var measuredAt: UInt64?
  }

  package private(set) var peers: [MACAddress: Peer] = [:]
  package private(set) var rounds = 0
  /// The number of rounds in which a peer was measured.
  package private(set) var measuredRounds = 0
  /// The number of most recent rounds in which no peer was measured.
  package private(set) var silentRounds = 0
  /// The number of rounds without an entry for any peer.
  package private(set) var empty = 0
  package private(set) var missing = 0
  /// The beginning of the run; the time of its first round if it was not given.
  package private(set) var firstTime: UInt64?
  /// The time of the last reported round.
  package private(set) var lastTime: UInt64?
  private var firstRound: UInt64?
  /// The sequence number of the last measured round.
  package private(set) var lastSequence: UInt32?
  /// The number of measurements in the last measured round.
  package private(set) var rowsInRound = 0
  private var lastSequences: [UInt32: UInt32] = [:]
  /// The number of notifications that were dropped because they were not read in time.
  package var dropped = 0

  /// - Parameter start: the beginning in nanoseconds of CLOCK_MONOTONIC; nil: the first round.
  package init(since start: UInt64? = nil) { firstTime = start }

  package var measured: Int { peers.values.reduce(0) { $0 + $1.measured } }
  package var failed: Int { peers.values.reduce(0) { $0 + $1.failed } }

  /// - Returns: the number of rounds that are missing just before.
  @discardableResult
  package mutating func add(_ row: RangeRow) -> Int {
    let measurement = row.measurement
    let lost = begin(
      measurement.sequenceNumber, measurement.sessionToken, measurement.receivedAt,
      isFirst: measurement.followsInterruption)
    rowsInRound += 1
    var peer = peers[row.result.peer] ?? Peer()
    if row.result.distanceCentimetres != nil {
      if silentRounds > 0 {
        measuredRounds += 1
        silentRounds = 0
      }
      peer.measured += 1
      peer.measuredAt = measurement.receivedAt
    } else {
      peer.failed += 1
      peer.failures[row.result.status, default: 0] += 1
    }
    peer.last = row
    peers[row.result.peer] = peer
    return lost
  }

  package mutating func add(_ round: EmptyRound) {
    _ = begin(
      round.sequenceNumber, round.sessionToken, round.receivedAt,
      isFirst: round.followsInterruption)
    empty += 1
  }

  /// - Parameter isFirst: whether the round follows a loss of the device. The numbers then begin at
  ///   0 again, although the token of the session may be the same.
  private mutating func begin(
    _ number: UInt32, _ token: UInt32, _ time: UInt64, isFirst: Bool
  ) -> Int {
    let before = isFirst ? nil : lastSequences[token]
    guard number != before else { return 0 }
    rounds += 1
    // A row of the round with a distance resets this count.
    silentRounds += 1
    rowsInRound = 0
    lastSequences[token] = number
    lastSequence = number
    firstTime = firstTime ?? time
    firstRound = firstRound ?? time
    lastTime = time
    // The numbers between two notifications belong to missing rounds.
    guard let before, number > before else { return 0 }
    missing += Int(number - before) - 1
    return Int(number - before) - 1
  }

  package var rate: Double {
    guard let firstRound, let lastTime, rounds > 1, lastTime > firstRound else { return 0 }
    return Double(rounds - 1) * 1e9 / Double(lastTime - firstRound)
  }

  /// The last line of the live table as text.
  package var line: String {
    "\(counted(rounds, "round")), \(fixed(rate, 1)) Hz" + (empty > 0 ? ", \(empty) empty" : "")
      + ", \(missing) lost"
  }

  package func text(_ statistics: String) -> String {
    let why = failures.map { "\($0.count) \($0.status)" }
    return "\(counted(rounds, "round")), \(fixed(rate, 1)) Hz, \(counted(peers.count, "peer"))"
      + ", \(measured) measured, \(failed) failed"
      + (why.isEmpty ? "" : " (\(why.joined(separator: ", ")))")
      + (empty > 0 ? ", \(empty) empty" : "")
      + ", \(missing) lost, \(dropped) dropped, \(statistics)"
  }
}

extension RangeSummary {
  /// The count of each failure, the most frequent first.
  package var failures: [(status: Status, count: Int)] {
    var counts: [Status: Int] = [:]
    for peer in peers.values { counts.merge(peer.failures) { $0 + $1 } }
    return counts.map { (status: $0.key, count: $0.value) }
      .sorted { ($1.count, $0.status.rawValue) < ($0.count, $1.status.rawValue) }
  }
}
