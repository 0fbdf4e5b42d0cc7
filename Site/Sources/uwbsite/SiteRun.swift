// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import UWBSite

enum PlaceFormat: String, ExpressibleByArgument, CaseIterable { case text, json }

/// The times at which measurements are taken.
struct Pace {
  /// Nil for a recording that is read as fast as possible.
  private let speed: Double?
  private let isLive: Bool
  private let start = ContinuousClock.now
  private var first: Double?

  init(speed: Double?, isLive: Bool) { (self.speed, self.isLive) = (speed, isLive) }

  /// Seconds by the clock of the engine; nil for recordings.
  var now: Double? {
    guard isLive else { return nil }
    let passed = ContinuousClock.now - start
    return Double(passed.components.seconds) + 1e-18 * Double(passed.components.attoseconds)
  }

  /// Waits until a time of a recording with a speed.
  mutating func wait(for time: Double) {
    guard let speed else { return }
    let from = first ?? time
    first = from
    let until = start + .seconds(max(0, (time - from) / speed))
    while ContinuousClock.now < until, !Interrupt.isSet {
      Interrupt.sleep(min(until - ContinuousClock.now, .milliseconds(100)))
    }
  }
}

/// A line that cannot be used.
struct LineFailure: Error, CustomStringConvertible {
  let description: String
}

/// Turns lines into measurements, and events into lines.
struct SiteRun {
  private static let shownProblems = 10

  private var engine: Engine
  private let format: PlaceFormat
  private let device: String?
  private var columns: [String]?
  private let isTable: Bool
  private var pace: Pace
  private var line = 0
  private var bad = 0
  private var unknown = 0
  private var withoutTag = 0
  private var failed = 0
  private var places = 0
  private var output = ""
  /// The tags whose places are refused, for text.
  private var refused: Set<Int> = []

  init(_ site: Site, format: PlaceFormat, device: String?, isTable: Bool, _ pace: Pace) {
    engine = Engine(site)
    (self.format, self.device, self.isTable) = (format, device, isTable)
    self.pace = pace
  }

  // MARK: input

  /// Takes a line of the input.
  mutating func take(_ bytes: [UInt8]) throws(CommandFailure) {
    line += 1
    guard bytes.contains(where: { $0 > 32 }) else { return }
    do throws(LineFailure) {
      guard let one = try read(bytes) else { return failed += 1 }
      pace.wait(for: one.time)
      switch engine.add(one, arrival: pace.now) {
      case .added: break
      case .unknown: unknown += 1
      case .withoutTag: withoutTag += 1
      }
    } catch {
      bad += 1
      if bad <= Self.shownProblems { Terminal.note("line \(line): \(error)") }
    }
    if pace.now == nil { try report(isComplete: false) }
  }

  /// Reads a line of JSON or a row of a table.
  ///
  /// - Returns: nil for lines without a measurement.
  private mutating func read(_ bytes: [UInt8]) throws(LineFailure) -> RangeLine? {
    if isTable {
      let cells = Self.cells(bytes)
      guard let columns else {
        self.columns = cells
        return nil
      }
      return try measurement { key in
        guard let index = columns.firstIndex(of: key), index < cells.count, !cells[index].isEmpty
        else { return nil }
        return .text(cells[index])
      }
    }
    let value: JSONValue
    do { value = try JSONValue(bytes) } catch {
      throw LineFailure(description: "column \(error.column): \(error.reason)")
    }
    guard case .object = value else {
      throw LineFailure(description: "a line is an object of JSON")
    }
    return try measurement { key in
      switch value[key] {
      case nil, .null: nil
      case .number(let number): .number(number)
      case .string(let text): .text(text)
      case .bool: .other(kind: "true or false")
      case .array: .other(kind: "a list")
      case .object: .other(kind: "an object")
      }
    }
  }

  private func measurement(
    _ field: (String) -> RangeLine.Field?
  ) throws(LineFailure) -> RangeLine? {
    do { return try RangeLine(device: device, field) } catch {
      throw LineFailure(description: "\(error)")
    }
  }

  private static func cells(_ bytes: [UInt8]) -> [String] {
    bytes.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map { cell in
      var text = String(decoding: cell, as: UTF8.self)[...]
      while text.first == " " || text.first == "\"" { text.removeFirst() }
      while text.last == " " || text.last == "\"" || text.last == "\r" { text.removeLast() }
      return String(text)
    }
  }

  // MARK: output

  /// Prints the places of complete rounds, where no line is waiting.
  mutating func pause() throws(CommandFailure) {
    try report(isComplete: pace.now != nil)
    try flush()
  }

  /// Prints the last places and the summary.
  mutating func finish() throws(CommandFailure) {
    try report(isComplete: true)
    try flush()
    let counters = engine.counters
    var words = ["\(line) lines", "\(places) places", "\(counters.used) measurements used"]
    for (count, word) in [
      (counters.rejected, "outliers"), (counters.late, "late"), (counters.repeated, "repeated"),
      (counters.unusable, "unusable"), (unknown, "of unknown boards"),
      (withoutTag, "without a tag"), (failed, "without a measurement"), (bad, "bad lines"),
    ] where count > 0 { words.append("\(count) \(word)") }
    Terminal.note(words.joined(separator: ", "))
  }

  private mutating func flush() throws(CommandFailure) {
    guard !output.isEmpty else { return }
    try Terminal.write(output)
    output = ""
  }

  private mutating func report(isComplete: Bool) throws(CommandFailure) {
    var events: [Engine.Event] = []
    engine.drain(now: pace.now, isComplete: isComplete) { events.append($0) }
    for event in events {
      let line = format == .json ? json(event) : text(event)
      output += line
      if case .place = event { places += 1 }
    }
    if output.utf8.count > 32_768 { try flush() }
  }

  private func json(_ event: Engine.Event) -> String {
    var members: [JSONMember] = []
    func add(_ key: String, _ value: Double, digits: Int = 3) {
      members.append(JSONMember(key, .number(Self.rounded(value, digits))))
    }
    func add(_ key: String, _ text: String) { members.append(JSONMember(key, .string(text))) }
    func add(_ key: String, _ values: [Double], digits: Int = 3) {
      let rounded = values.map { JSONValue.number(Self.rounded($0, digits)) }
      members.append(JSONMember(key, .array(rounded)))
    }
    switch event {
    case .place(let tag, let place):
      add("t", place.time)
      add("tag", engine.tags[tag].name)
      add("position_m", [place.position.x, place.position.y, place.position.z])
      add("velocity_m_s", [place.velocity.x, place.velocity.y, place.velocity.z])
      let spread = place.spread
      add(
        "covariance_m2", [spread.xx, spread.xy, spread.xz, spread.yy, spread.yz, spread.zz],
        digits: 6)
      add("r95_m", place.r95)
      add("motion", place.motion.rawValue)
    case .refused(let tag, let reason, let place):
      add("t", place.time)
      add("tag", engine.tags[tag].name)
      add("refused", reason.word)
      add("r95_m", place.r95)
    case .lost(let tag, let since):
      add("t", since)
      add("tag", engine.tags[tag].name)
      add("event", "lost")
    case .unknown(let address):
      add("event", "unknown_address")
      add("address", address)
    case .anchorMoved(let anchor, let time, let by):
      add("t", time)
      add("anchor", engine.anchors[anchor].name)
      add("event", "anchor_moved")
      add("by_m", [by.x, by.y, by.z], digits: 1)
    case .anchorDoubtful(let anchor, let time), .anchorRestored(let anchor, let time):
      add("t", time)
      add("anchor", engine.anchors[anchor].name)
      if case .anchorDoubtful = event { add("event", "anchor_doubtful") }
      if case .anchorRestored = event { add("event", "anchor_restored") }
    case .clockSet(_, let change):
      add("event", "clock_set")
      add("by_s", change)
    }
    return JSONValue.object(members).description + "\n"
  }

  private mutating func text(_ event: Engine.Event) -> String {
    func number(_ value: Double, _ width: Int) -> String {
      let text = JSONValue.number(Self.rounded(value, 2)).description
      return String(repeating: " ", count: max(0, width - text.count)) + text
    }
    switch event {
    case .place(let tag, let place):
      refused.remove(tag)
      let name = engine.tags[tag].name
      let here = place.position
      let columns = [number(here.x, 8), number(here.y, 8), number(here.z, 6), number(place.r95, 6)]
      return "\(number(place.time, 10))  \(name)  \(columns.joined(separator: " "))"
        + "  \(place.motion.rawValue)\n"
    case .refused(let tag, let reason, let place):
      guard refused.insert(tag).inserted else { return "" }
      return "\(number(place.time, 10))  \(engine.tags[tag].name)  no place: \(reason.sentence)\n"
    case .lost(let tag, let since):
      return "\(number(since, 10))  \(engine.tags[tag].name)  lost: no measurement since\n"
    case .unknown(let address): return "the board \(address) is not in the site file\n"
    case .anchorMoved(let anchor, let time, let by):
      let length = (by * by).sum().squareRoot()
      return "\(number(time, 10))  anchor \(engine.anchors[anchor].name) is not at its place: "
        + "it seems to have moved by \(number(length, 0)) m\n"
    case .anchorDoubtful(let anchor, let time):
      return "\(number(time, 10))  anchor \(engine.anchors[anchor].name): "
        + "its ranges do not fit its place\n"
    case .anchorRestored(let anchor, let time):
      return "\(number(time, 10))  anchor \(engine.anchors[anchor].name) fits its place again\n"
    case .clockSet(_, let change): return "the source's clock was set by \(number(change, 0)) s\n"
    }
  }

  private static func rounded(_ value: Double, _ digits: Int) -> Double {
    let factor = [1.0, 10, 100, 1000, 1e4, 1e5, 1e6][digits]
    return (value * factor).rounded() / factor
  }
}

extension TagTrack.Refusal {
  var word: String {
    switch self {
    case .ambiguous: "ambiguous"
    case .uncertain: "uncertain"
    }
  }

  var sentence: String {
    switch self {
    case .ambiguous(let other):
      "a second place at \(other.x.rounded()), \(other.y.rounded()) is likely, too"
    case .uncertain: "the anchors do not determine it well enough here"
    }
  }
}
