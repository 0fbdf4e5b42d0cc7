// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Ranging
import Synchronization
import UCI
import UCIReference
import UWB
import UWBLab

enum RangeFormat: String, ExpressibleByArgument, CaseIterable {
  case table, text, json, csv

  /// A table on a terminal, lines elsewhere.
  static var standard: RangeFormat { standardOutput.canRedraw ? .table : .text }
}

/// Prints measurements with their estimates, and summarises them.
final class RangePrinter: Sendable {
  private struct State {
    var summary = RangeSummary()
    /// Where printed times begin.
    var start: UInt64?
    var drawnAt: UInt64 = 0
    var table = RangeTable()
    var live: LiveLines?
    var isFinished = false

    /// Since the first one that is printed.
    mutating func seconds(of time: UInt64) -> Double {
      let beginning = start ?? time
      start = beginning
      return Double(Int64(truncatingIfNeeded: time &- beginning)) / 1e9
    }
  }

  private let format: RangeFormat
  /// Whether text has computed values, too; JSON and CSV always do.
  private let showsComputed: Bool
  /// Those that the table shows from the beginning.
  private let peers: [MACAddress]
  private let interval: Duration
  private let clock: (@Sendable () -> UInt64)?
  private let state: Mutex<State>
  /// Of CSV: the status by name is enough.
  private static let columns = RangeRow.json.values.filter { $0.key.path != "status_code" }

  /// - Parameters:
  ///   - showsComputed: whether text has computed values, too; JSON and CSV always do.
  ///   - peers: shown in the table from the beginning.
  ///   - interval: between two rounds; nil: as they come.
  ///   - clock: CLOCK_MONOTONIC in nanoseconds; nil: the time of the last round.
  init(
    _ format: RangeFormat, showsComputed: Bool, peers: [MACAddress] = [],
    interval: Duration = .zero, clock: (@Sendable () -> UInt64)? = nil
  ) {
    self.format = format
    self.showsComputed = showsComputed
    self.peers = peers
    self.interval = interval
    self.clock = clock
    state = Mutex(State())
  }

  /// Prints what comes before the first round.
  func begin() {
    state.withLock { $0.summary = RangeSummary(since: clock?()) }
    switch format {
    case .csv: standardOutput.write(Self.csv(Self.columns.map(\.key.path)))
    case .table:
      let live = LiveLines { [weak self] in self?.lines($0) ?? [] }
      state.withLock { $0.live = live }
      live.draw()
    case .text, .json: break
    }
  }

  var summary: RangeSummary { state.withLock { $0.summary } }

  /// - Parameter hasRSSI: whether the chip reports it.
  func take(_ round: EstimatedRound, hasRSSI: Bool) {
    switch round {
    case .estimate(let computed): take(computed, hasRSSI)
    case .empty(let round): take(round)
    }
  }

  private func take(_ computed: EstimatedMeasurement, _ hasRSSI: Bool) {
    let measurement = computed.measurement
    let row = state.withLock { state in
      var row = RangeRow(
        seconds: state.seconds(of: measurement.receivedAt), measurement: measurement,
        computed: computed, hasRSSI: hasRSSI)
      row.lostBefore = state.summary.add(row)
      return row
    }
    switch format {
    case .table: drawSoon(measurement.receivedAt)
    case .text: standardOutput.write(text(row) + "\n")
    case .json: standardOutput.write(RangeRow.json.line(row))
    case .csv: standardOutput.write(Self.csv(Self.columns.map { $0.value(row)?.plain ?? "" }))
    }
  }

  /// Programs see by the sequence numbers of the others that it was there.
  private func take(_ round: EmptyRound) {
    let seconds = state.withLock { state in
      state.summary.add(round)
      return format == .text ? state.seconds(of: round.receivedAt) : 0
    }
    switch format {
    case .table: drawSoon(round.receivedAt)
    case .text:
      standardOutput.write(
        "\(fixed(seconds, 3).right(9)) s  #\(round.sequenceNumber)  nobody was measured\n")
    case .json, .csv: break
    }
  }

  /// Tells the user something without disturbing the table.
  func say(_ text: String) {
    guard let live = state.withLock({ $0.live }) else { return note(text) }
    live.write(message(text), to: standardError)
  }

  /// - Parameter dropped: the number of notifications that were not read in time.
  @discardableResult
  func finish(dropped: Int) -> RangeSummary {
    let (summary, live) = state.withLock { state in
      state.summary.dropped = dropped
      state.isFinished = true
      return (state.summary, state.live)
    }
    live?.finish()
    return summary
  }

  // MARK: the table

  /// Ten times a second is as fast as anyone reads.
  private func drawSoon(_ time: UInt64) {
    let live = state.withLock { state -> LiveLines? in
      guard time &- state.drawnAt >= 100_000_000 else { return nil }
      state.drawnAt = time
      return state.live
    }
    live?.draw()
  }

  private func lines(_ size: Output.Size) -> [String] {
    state.withLock { state in
      let summary = state.summary
      let now = clock?() ?? summary.lastTime ?? 0
      let others = summary.peers.keys.filter { !peers.contains($0) }.sorted { $0.value < $1.value }
      // A title, two lines for the rest, and one for the cursor.
      let most = max(1, size.rows - 4)
      let rows = (peers + others).prefix(most).map { address in
        RangeTable.Row(
          address: address, peer: summary.peers[address],
          silence: silence(of: address, summary, now))
      }
      var lines = state.table.lines(rows, columns: size.columns - 1)
      let hidden = peers.count + others.count - rows.count
      if showsComputed, hidden == 0, size.rows > 2 * rows.count + 4 {
        for (index, row) in rows.enumerated().reversed() {
          let computed = row.peer?.last?.computed?.text ?? ""
          if !computed.isEmpty { lines.insert("  computed  " + computed, at: index + 2) }
        }
      }
      if hidden > 0 { lines.append("… and \(hidden) more peers; enlarge the window to see them") }
      lines.append(summary.line + (state.isFinished ? "" : "; Ctrl-C ends"))
      return lines
    }
  }

  /// Seconds for which a peer has not been measured; nil as long as that can be chance.
  private func silence(
    of peer: MACAddress, _ summary: RangeSummary, _ now: UInt64
  ) -> Double? {
    guard let since = summary.peers[peer]?.measuredAt ?? summary.firstTime, now > since else {
      return nil
    }
    let seconds = Double(now - since) / 1e9
    let usual = summary.rate > 0 ? 1 / summary.rate : 0
    return seconds >= max(1, 3 * max(usual, interval / .seconds(1))) ? seconds : nil
  }

  // MARK: text

  private func text(_ row: RangeRow) -> String {
    let result = row.result
    var line =
      "\(fixed(row.seconds, 3).right(9)) s  #\(row.measurement.sequenceNumber)"
      + "  \(result.peer)"
    if let centimetres = result.distanceCentimetres {
      line += "  \(fixed(Double(centimetres) / 100, 2)) m"
      if let estimate = row.estimate {
        line +=
          "  (\(fixed(estimate.distance, 3)) ± \(fixed(estimate.standardDeviation, 3)) m)"
      }
      if let azimuth = result.azimuth.valid { line += "  az \(fixed(azimuth, 1))°" }
      if let elevation = result.elevation.valid { line += "  el \(fixed(elevation, 1))°" }
      if let rssi = row.rssi { line += "  \(fixed(rssi, 1)) dBm" }
      if row.nonLineOfSight == true { line += "  NLoS" }
    } else {
      line += "  \(result.status)"
    }
    let computed = row.computed?.text ?? ""
    if showsComputed, !computed.isEmpty { line += "  computed: \(computed)" }
    return line
  }

  private static func csv(_ cells: [String]) -> String { cells.joined(separator: ",") + "\n" }
}

extension RangeRow {
  /// Names and meanings never change.
  static let json = JSONTable<RangeRow>("range", each: "measurement") {
    $0.key("time_s", "seconds since the first measurement") { Fixed($0.seconds, 6) }
    $0.key("session", "session token of the chip") { Int($0.measurement.sessionToken) }
    $0.key("sequence", "number of the ranging round, from 0") { Int($0.measurement.sequenceNumber) }
    $0.key("peer", "address") { $0.result.peer.description }
    $0.key("status", "status name") { $0.result.status.description }
    $0.key("status_code", "status number, 0 is OK") { Int($0.result.status.rawValue) }
    $0.key("distance_cm", "distance reported by the chip, centimetres") {
      $0.result.distanceCentimetres.map { Int($0) }
    }
    $0.key("estimate_m", "filtered distance, metres") { Fixed($0.estimate?.distance, 4) }
    $0.key("estimate_sd_m", "its standard deviation, metres") {
      Fixed($0.estimate?.standardDeviation, 4)
    }
    $0.key("velocity_m_s", "speed away from this device, metres per second") {
      Fixed($0.estimate?.velocity, 3)
    }
    $0.key("azimuth_deg", "degrees") { Fixed($0.result.azimuth.degrees, 2) }
    $0.key("azimuth_fom", "figure of merit, 0…100; 0: no azimuth") {
      Int($0.result.azimuth.figureOfMerit)
    }
    $0.key("elevation_deg", "degrees") { Fixed($0.result.elevation.degrees, 2) }
    $0.key("elevation_fom", "figure of merit, 0…100; 0: no elevation") {
      Int($0.result.elevation.figureOfMerit)
    }
    $0.key("rssi_dbm", "received power, dBm") { Fixed($0.rssi, 1) }
    $0.key("nlos", "true without line of sight") { $0.nonLineOfSight }
    $0.key("lost_before", "rounds lost just before, as the summary counts them") { $0.lostBefore }
    $0.key(
      "after_interruption",
      "true for the first one after the device was lost and found again"
    ) { $0.measurement.followsInterruption }
    $0.key("computed_m", "calibrated distance of this round, metres") {
      Fixed($0.computed?.distance, 4)
    }
    $0.key("computed_sd_m", "its standard deviation, metres") {
      Fixed($0.computed?.distanceDeviation, 4)
    }
    $0.key("no_computed", "why it is missing: not_measured or no_distance") {
      $0.computed?.noDistance?.word
    }
    $0.key("computed_azimuth_deg", "from phases of single frames, degrees to the right") {
      Fixed(degrees($0.computed?.azimuth?.angle), 2)
    }
    $0.key("computed_azimuth_sd_deg", "its standard deviation, degrees") {
      Fixed(degrees($0.computed?.azimuth?.standardDeviation), 2)
    }
    $0.key(
      "no_computed_azimuth",
      "why it is missing: not_measured, no_antenna_table, no_phases or phases_disagree"
    ) { $0.computed?.noAzimuth?.word }
    $0.key("computed_elevation_deg", "from phases of single frames, degrees upwards") {
      Fixed(degrees($0.computed?.elevation?.angle), 2)
    }
    $0.key("computed_elevation_sd_deg", "its standard deviation, degrees") {
      Fixed(degrees($0.computed?.elevation?.standardDeviation), 2)
    }
    $0.key("nlos_probability", "probability that the direct path is blocked, 0…1") {
      Fixed($0.computed?.nonLineOfSight, 3)
    }
    $0.key("cfo_ppm", "how much faster the peer's clock is, parts per million") {
      Fixed($0.computed?.carrierOffset, 3)
    }
    $0.key("rx_power_dbm", "received power used in computations, dBm") {
      Fixed($0.computed?.receivedPower, 1)
    }
    $0.key("fp_power_dbm", "power of the first path, dBm") { Fixed($0.computed?.firstPathPower, 1) }
    $0.key("diagnostics", "diagnostics of the round: used, missing, ambiguous or none") {
      $0.computed?.diagnostics.word
    }
    $0.key("diagnostics_frames", "number of frames or antennas in them") {
      $0.computed?.frames ?? 0
    }
  }
}

extension EstimatedMeasurement {
  /// The computed values as text; empty where there are none.
  fileprivate var text: String {
    var parts: [String] = []
    if let distance, let deviation = distanceDeviation {
      parts.append("\(fixed(distance, 3)) ± \(fixed(deviation, 3)) m")
    }
    for (name, estimate) in [("az", azimuth), ("el", elevation)] {
      if let angle = degrees(estimate?.angle), let deviation = degrees(estimate?.standardDeviation)
      {
        parts.append("\(name) \(fixed(angle, 1)) ± \(fixed(deviation, 1))°")
      }
    }
    if let nonLineOfSight { parts.append("NLoS \(fixed(nonLineOfSight * 100, 0)) %") }
    if let carrierOffset { parts.append("\(fixed(carrierOffset, 2)) ppm") }
    if case .missing = diagnostics { parts.append("diagnostics missing") }
    return parts.joined(separator: "  ")
  }

  /// The number of frames or antennas that the diagnostics cover.
  fileprivate var frames: Int {
    if case .used(let count) = diagnostics { count } else { 0 }
  }
}

private func degrees(_ radians: Double?) -> Double? { radians.map { $0 * 180 / .pi } }

extension NoEstimate {
  /// For programs.
  var word: String {
    switch self {
    case .notMeasured: "not_measured"
    case .noDistance: "no_distance"
    case .noAntennaTable: "no_antenna_table"
    case .noPhases: "no_phases"
    case .phasesDisagree: "phases_disagree"
    }
  }
}

extension DiagnosticsUse {
  /// For programs.
  var word: String {
    switch self {
    case .none: "none"
    case .missing: "missing"
    case .ambiguous: "ambiguous"
    case .used: "used"
    }
  }
}

/// A measurement with its estimate.
struct RangeRow {
  var seconds: Double
  var measurement: RangingMeasurement
  var computed: EstimatedMeasurement?
  /// Whether the chip reports RSSI, as since FiRa 2.0.
  var hasRSSI: Bool
  /// Rounds that were lost between the one before and this one.
  var lostBefore = 0

  var estimate: RangeEstimate? { computed?.track }
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
}

/// Rates and losses of a run, in total and by peer.
struct RangeSummary {
  struct Peer {
    var measured = 0
    var failed = 0
    var failures: [Status: Int] = [:]
    var last: RangeRow?
    /// When it was measured last.
    var measuredAt: UInt64?
  }

  private(set) var peers: [MACAddress: Peer] = [:]
  private(set) var rounds = 0
  /// Rounds without an entry for any peer.
  private(set) var empty = 0
  private(set) var missing = 0
  /// When the run began, or its first round.
  private(set) var firstTime: UInt64?
  /// When the last round was reported.
  private(set) var lastTime: UInt64?
  private var firstRound: UInt64?
  /// The round of the last measurement, and its number of measurements.
  private(set) var lastSequence: UInt32?
  private(set) var rowsInRound = 0
  private var lastSequences: [UInt32: UInt32] = [:]
  /// The number of notifications that were not read in time.
  var dropped = 0

  /// - Parameter start: CLOCK_MONOTONIC in nanoseconds; nil: the first round.
  init(since start: UInt64? = nil) { firstTime = start }

  var measured: Int { peers.values.reduce(0) { $0 + $1.measured } }
  var failed: Int { peers.values.reduce(0) { $0 + $1.failed } }

  /// - Returns: the number of rounds that were lost just before.
  @discardableResult
  mutating func add(_ row: RangeRow) -> Int {
    let measurement = row.measurement
    let lost = begin(
      measurement.sequenceNumber, measurement.sessionToken, measurement.receivedAt,
      isFirst: measurement.followsInterruption)
    rowsInRound += 1
    var peer = peers[row.result.peer] ?? Peer()
    if row.result.distanceCentimetres != nil {
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

  mutating func add(_ round: EmptyRound) {
    _ = begin(
      round.sequenceNumber, round.sessionToken, round.receivedAt,
      isFirst: round.followsInterruption)
    empty += 1
  }

  /// - Parameter isFirst: a device that was lost counts from 0 again, possibly in a session with the
  ///   same token.
  private mutating func begin(
    _ number: UInt32, _ token: UInt32, _ time: UInt64, isFirst: Bool
  ) -> Int {
    let before = isFirst ? nil : lastSequences[token]
    guard number != before else { return 0 }
    rounds += 1
    rowsInRound = 0
    lastSequences[token] = number
    lastSequence = number
    firstTime = firstTime ?? time
    firstRound = firstRound ?? time
    lastTime = time
    // Every number between those of two notifications is a lost round.
    guard let before, number > before else { return 0 }
    missing += Int(number - before) - 1
    return Int(number - before) - 1
  }

  var rate: Double {
    guard let firstRound, let lastTime, rounds > 1, lastTime > firstRound else { return 0 }
    return Double(rounds - 1) * 1e9 / Double(lastTime - firstRound)
  }

  /// What the live table ends with.
  var line: String {
    "\(rounds) rounds, \(fixed(rate, 1)) Hz" + (empty > 0 ? ", \(empty) empty" : "")
      + ", \(missing) lost"
  }

  func text(_ statistics: String) -> String {
    let why = failures.map { "\($0.count) \($0.status)" }
    return "\(rounds) rounds, \(fixed(rate, 1)) Hz, \(peers.count) "
      + (peers.count == 1 ? "peer" : "peers")
      + ", \(measured) measured, \(failed) failed"
      + (why.isEmpty ? "" : " (\(why.joined(separator: ", ")))")
      + (empty > 0 ? ", \(empty) empty" : "")
      + ", \(missing) lost, \(dropped) dropped, \(statistics)"
  }
}

extension RangeSummary {
  /// The number of each failure, the most frequent first.
  var failures: [(status: Status, count: Int)] {
    var counts: [Status: Int] = [:]
    for peer in peers.values { counts.merge(peer.failures) { $0 + $1 } }
    return counts.map { (status: $0.key, count: $0.value) }
      .sorted { ($1.count, $0.status.rawValue) < ($0.count, $1.status.rawValue) }
  }

  /// Explains the two most frequent failures; empty when at most every tenth measurement failed,
  /// because lost rounds are normal.
  func failuresExplained(in dialect: Dialect) -> String {
    guard failed * 10 > measured else { return "" }
    return failures.prefix(2).map { status, count in
      let raw = hexNumber(status.rawValue)
      let rounds = count == 1 ? "1 measurement" : "\(count) measurements"
      guard let known = status.explained(in: dialect) else {
        return "\(rounds): \(status) (\(raw)), which is not documented.\n"
      }
      return "\(rounds): \(known.name) (\(raw)). \(known.meaning)\n" + known.listed(indent: "  ")
    }.joined()
  }
}
