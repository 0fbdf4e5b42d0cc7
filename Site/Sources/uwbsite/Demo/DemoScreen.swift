// SPDX-License-Identifier: Apache-2.0

import SiteServer
import UWBSite

/// Shows the places and the changes of the demo: a table that stays, or lines.
final class DemoScreen: SiteSink {
  /// The seconds between two tables on a terminal; elsewhere the simulated seconds between two
  /// lines.
  private static let refresh = 0.2
  private static let pause = 10.0

  /// The numbers of places and changes, and the errors against the true places.
  struct Score {
    var places = 0
    var squares = 0.0
    var within = 0
    var compared = 0
    var changes = 0
    var refused = 0

    var rms: Double { (squares / Double(max(1, compared))).squareRoot() }
    var share: Double { 100 * Double(within) / Double(max(1, compared)) }
  }

  private let truth: DemoTruth
  private let duration: Double
  /// The columns and lines of the terminal; nil without a terminal.
  private let size: () -> (width: Int, height: Int)?
  private let write: (String) throws(SinkFailure) -> Void
  private let clock = ContinuousClock()
  private var table: DemoTable
  private let tags: [String: Int]
  private var inside: [[String]]
  private(set) var score = Score()
  private var time = 0.0
  private var shownLines = 0
  private var lastTable: ContinuousClock.Instant?
  private var nextLine = DemoScreen.pause

  init(
    _ tags: [String], duration: Double, _ truth: DemoTruth,
    size: @escaping () -> (width: Int, height: Int)?,
    write: @escaping (String) throws(SinkFailure) -> Void
  ) {
    (self.truth, self.duration, self.size, self.write) = (truth, duration, size, write)
    table = DemoTable(rows: tags.map { DemoTable.Row(name: $0) })
    self.tags = Dictionary(uniqueKeysWithValues: tags.enumerated().map { ($1, $0) })
    inside = tags.map { _ in [] }
  }

  func receive(_ batch: SiteBatch) throws(SinkFailure) {
    var lines: [String] = []
    for event in batch.events {
      if let line = add(event) { lines.append(line) }
    }
    time = max(time, batch.now)
    guard let size = size() else {
      if time >= nextLine {
        nextLine += Self.pause
        lines.append(status)
      }
      if !lines.isEmpty { try write(lines.joined(separator: "\n") + "\n") }
      return
    }
    let now = clock.now
    let isDue = lastTable.map { now - $0 >= .seconds(Self.refresh) } ?? true
    if isDue || !lines.isEmpty { try draw(lines, size, now) }
  }

  func finish(_ counters: SiteCounters) throws(SinkFailure) {
    if let size = size() { try draw([], size, clock.now) }
    try write(summary)
  }

  // MARK: events

  /// Updates the table; returns the line of a change.
  private func add(_ event: SiteEvent) -> String? {
    switch event.kind {
    case .place(let name, let place, _):
      guard let tag = tags[name] else { return nil }
      score.places += 1
      if let error = truth.error(place, tag) {
        score.compared += 1
        score.squares += error * error
        if error <= place.r95 { score.within += 1 }
      }
      (table.rows[tag].place, table.rows[tag].state) = (place, nil)
      return nil
    case .refused(let name, _, _):
      score.refused += 1
      if let tag = tags[name] { table.rows[tag].state = "unsure" }
      return nil
    case .zone(let change):
      score.changes += 1
      if let tag = tags[change.tag] { update(tag, change) }
    case .lost(let name, _, _):
      if let tag = tags[name] { table.rows[tag].state = "lost" }
    case .source(_, .interrupted(let reason, _)): return "\(moment)  \(reason)"
    case .source(_, .connected(let identity?)): return "\(moment)  \(identity)"
    default: break
    }
    return event.text
  }

  private func update(_ tag: Int, _ change: ZoneChange) {
    inside[tag].removeAll { $0 == change.zone }
    if case .entered = change.side { inside[tag].append(change.zone) }
    table.rows[tag].zone = inside[tag].last ?? ""
  }

  /// The simulated time, in the width of the lines of `uwbsite run`.
  private var moment: String {
    let text = DemoTable.fixed(time)
    return String(repeating: " ", count: max(0, 10 - text.count)) + text
  }

  // MARK: output

  private var status: String {
    let known = table.rows.compactMap { $0.state == nil ? $0.place : nil }
    let mean = known.map(\.r95).reduce(0, +) / Double(max(1, known.count))
    return
      "\(DemoTable.fixed(time, 1)) s of \(DemoTable.fixed(duration, 1)) s, \(known.count) tags,"
      + " r95 \(DemoTable.fixed(mean)) m on average, \(score.changes) changes of zones"
  }

  private func draw(
    _ lines: [String], _ size: (width: Int, height: Int), _ now: ContinuousClock.Instant
  ) throws(SinkFailure) {
    lastTable = now
    // The cursor moves to the first line of the table, and the rest of the screen is cleared.
    var text = shownLines > 1 ? "\u{1B}[\(shownLines - 1)A" : ""
    text += "\r\u{1B}[J"
    for line in lines { text += DemoTable.clip(line, size.width) + "\n" }
    table.status = status + ", q ends"
    let shown = table.lines(width: size.width - 1, height: size.height - 1)
    shownLines = shown.count
    try write(text + shown.joined(separator: "\n"))
  }

  /// The summary below the last table.
  private var summary: String {
    let start = shownLines > 0 ? "\n" : ""
    var text =
      "\(start)\(DemoTable.fixed(time, 1)) s: \(score.places) places, \(score.changes) changes of "
      + "zones\n"
    guard score.compared > 0 else { return text }
    text += "error \(DemoTable.fixed(score.rms)) m RMS; "
    text += "\(DemoTable.fixed(score.share, 1)) % of the places within their stated r95\n"
    if score.refused > 0 { text += "\(score.refused) places were too unsure to be stated\n" }
    return text
  }
}
