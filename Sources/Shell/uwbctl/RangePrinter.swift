// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Formats
import Ranging
import Synchronization
import UCI
import UCIReference
import UWB
import UWBTools

enum RangeFormat: String, ExpressibleByArgument, CaseIterable {
  case table, text, json, csv

  /// The default format: a table on a terminal, lines elsewhere.
  static var standard: RangeFormat { standardOutput.canRedraw ? .table : .text }
}

/// Prints measurements with their estimates, and summarises them.
final class RangePrinter: Sendable {
  private struct State {
    var summary = RangeSummary()
    /// The origin of printed times.
    var start: UInt64?
    var drawnAt: UInt64 = 0
    var trends: [MACAddress: Trend] = [:]
    var table = RangeTable()
    var live: LiveLines?
    var isFinished = false

    /// Returns the time in seconds since the first printed measurement.
    mutating func seconds(of time: UInt64) -> Double {
      let beginning = start ?? time
      start = beginning
      return Double(Int64(truncatingIfNeeded: time &- beginning)) / 1e9
    }
  }

  private let format: RangeFormat
  /// Whether text includes computed values; JSON and CSV always do.
  private let showsComputed: Bool
  /// The peers that the table shows from the beginning.
  private let peers: [MACAddress]
  private let interval: Duration
  private let clock: (@Sendable () -> UInt64)?
  private let state: Mutex<State>
  /// The columns of CSV. The number of the status is left out, because its name is there.
  private static let columns = RangeRow.json.columns.filter { $0.key.path != "status_code" }

  /// Creates a printer.
  ///
  /// - Parameters:
  ///   - showsComputed: Whether text includes computed values; JSON and CSV always do.
  ///   - peers: The peers that the table shows from the beginning.
  ///   - interval: The time between two rounds; nil to measure it.
  ///   - clock: The time in nanoseconds of CLOCK_MONOTONIC; nil for the time of the last round.
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

  /// Prints the header before the first round.
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

  /// Prints a round.
  ///
  /// - Parameter hasRSSI: Whether the chip reports RSSI.
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
      if let centimetres = row.result.distanceCentimetres {
        state.trends[row.result.peer, default: Trend()].add(
          row.estimate?.distance ?? Double(centimetres) / 100, at: measurement.receivedAt)
      }
      return row
    }
    switch format {
    case .table: drawSoon(measurement.receivedAt)
    case .text: standardOutput.write(standardOutput.wrapped(text(row), indent: 14) + "\n")
    case .json: standardOutput.write(RangeRow.json.line(row))
    case .csv: standardOutput.write(Self.csv(Self.columns.map { $0.plain(row) ?? "" }))
    }
  }

  /// Prints an empty round, in text only. In JSON and CSV, it shows as a gap in the sequence
  /// numbers.
  private func take(_ round: EmptyRound) {
    let seconds = state.withLock { state in
      state.summary.add(round)
      return format == .text ? state.seconds(of: round.receivedAt) : 0
    }
    switch format {
    case .table: drawSoon(round.receivedAt)
    case .text:
      standardOutput.write(
        "\(fixed(seconds, 3).right(9)) s  #\(round.sequenceNumber)  no peer was measured\n")
    case .json, .csv: break
    }
  }

  /// Prints a message without disturbing the table.
  func say(_ text: String) {
    guard let live = state.withLock({ $0.live }) else { return note(text) }
    live.write(message(text), to: standardError)
  }

  /// Prints the summary.
  ///
  /// - Parameter dropped: The number of notifications that were not read in time.
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

  /// Draws the table at most ten times a second, the limit of legibility.
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
      let foot = foot(state, size)
      // The window also holds a title, a line above the foot, the foot, and the cursor.
      let most = max(1, size.rows - 3 - max(1, foot.count))
      let rows = (peers + others).prefix(most).map { address in
        RangeTable.Row(
          address: address, peer: summary.peers[address], trend: state.trends[address], now: now,
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
      if hidden > 0 {
        lines.append(
          "… and \(counted(hidden, "more peer")); enlarge the window to see "
            + (hidden == 1 ? "it" : "them"))
      }
      return lines + foot
    }
  }

  /// Returns the summary below the table. Empty below the last table if the summary follows on a
  /// terminal.
  private func foot(_ state: State, _ size: Output.Size) -> [String] {
    if state.isFinished, standardError.isTerminal { return [] }
    let end = state.isFinished ? "" : "; Ctrl-C ends" + LiveLines.keyHint
    return LiveLines.wrapped(state.summary.line + end, in: size)
  }

  /// Returns the seconds since a peer was measured; nil for gaps that occur by chance.
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
        line += "  \(estimate.text)"
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

extension EstimatedMeasurement {
  /// The computed values as text; empty without any.
  fileprivate var text: String {
    var parts: [String] = []
    if let distance, let deviation = distanceDeviation {
      parts.append("\(fixed(distance, deviation: deviation)) m")
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
}

extension RangeSummary {
  /// Explains the two most frequent failures. Returns an empty text if at most a tenth of the
  /// measurements failed, because lost rounds are normal.
  func failuresExplained(in dialect: Dialect) -> String {
    guard failed * 10 > measured else { return "" }
    return failures.prefix(2).map { status, count in
      let raw = hexNumber(status.rawValue)
      let rounds = counted(count, "measurement")
      guard let known = status.explained(in: dialect) else {
        return "\(rounds): \(status) (\(raw)), which is not documented.\n"
      }
      return "\(rounds): \(known.name) (\(raw)). \(known.meaning)\n" + known.listed(indent: "  ")
    }.joined()
  }
}
