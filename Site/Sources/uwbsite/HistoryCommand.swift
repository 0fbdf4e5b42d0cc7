// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import SiteServer
import UWBSite

/// The times of a history that a command reads.
struct HistoryTimes: ParsableArguments {
  @Option(help: "The first time.") var from: String?
  @Option(help: "The time after the last one.") var to: String?

  var areAll: Bool { from == nil && to == nil }

  func validate() throws { _ = try query() }

  /// Returns a query of all records between the times.
  func query() throws(ValidationError) -> History.Query {
    var query = History.Query()
    query.from = try Self.time("--from", from)
    query.to = try Self.time("--to", to)
    return query
  }

  private static func time(
    _ option: String, _ text: String?
  ) throws(ValidationError) -> Int64? {
    guard let text else { return nil }
    guard let time = HistoryTime.read(text) else {
      throw ValidationError(
        "\(option) \(text): a time such as 2026-11-27T10:30 or seconds since 1970 belongs here")
    }
    return time
  }
}

struct HistoryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "history",
    abstract: "Read and thin the history of a site.",
    discussion: """
      Reads the folder that `uwbsite run --history` fills: a file of SQLite for each day in UTC. A \
      place is recorded if the tag has moved by 2 cm, or after 1 s; changes of zones, doors and \
      floors always.

      Prints the days. --show places prints the places by time, --show events the changes, and \
      --show measurements the ranges that `uwbsite run --raw` has recorded, as lines that \
      `uwbsite run` reads. \
      Times are days (2026-11-27), days with a time in UTC (2026-11-27T10:30), or seconds since \
      1970. Places as JSON have the keys of `uwbsite run --format json`.

      A file that cannot be read is a line on standard error; the others are printed, and the \
      status is 65.
      """)

  enum Content: String, ExpressibleByArgument, CaseIterable {
    case days, places, events, measurements
  }
  enum Format: String, ExpressibleByArgument, CaseIterable { case text, csv, json }

  @Argument(help: "The folder.", completion: .directory)
  var folder: String

  @Option(help: "days, places, events or measurements.") var show = Content.days
  @Option(help: "A tag; may be repeated.") var tag: [String] = []
  @OptionGroup var times: HistoryTimes
  @Option(help: "A rectangle in metres, for places: X1,Y1,X2,Y2.") var area: String?
  @Option(help: "text, csv or json.") var format = Format.text
  @Flag(help: "Thin days: after a week one place a second, after a year one a minute.")
  var thin = false

  func validate() throws {
    if show == .days, !tag.isEmpty || area != nil {
      throw ValidationError("--tag and --area need --show places or --show events")
    }
    if show == .events || show == .measurements, area != nil {
      throw ValidationError("--area needs --show places")
    }
    if thin, show != .days || !times.areAll {
      throw ValidationError("--thin changes all days; it takes no filter")
    }
    _ = try query()
  }

  func query() throws(ValidationError) -> History.Query {
    var query = try times.query()
    query.tags = Set(tag)
    guard let area else { return query }
    let numbers = area.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
    let values = numbers.compactMap(\.self)
    guard numbers.count == 4, values.count == 4, values.allSatisfy(\.isFinite) else {
      throw ValidationError("--area \(area): X1,Y1,X2,Y2 in metres belongs here")
    }
    query.area = History.Query.Area(
      SIMD2(min(values[0], values[2]), min(values[1], values[3])),
      SIMD2(max(values[0], values[2]), max(values[1], values[3])))
    return query
  }

  func run() throws {
    let query = try query()
    try Terminal.run { () throws(CommandFailure) in
      let history: History
      do throws(HistoryFailure) { history = try History(HistoryFolder(folder)) } catch {
        throw CommandFailure(.noInput, error.description)
      }
      if thin { return try thinDays(history) }
      try HistoryPrinter(history, query, show, format).run()
    }
  }

  private func thinDays(_ history: History) throws(CommandFailure) {
    let lock: HistoryLock
    do throws(HistoryFailure) { lock = try HistoryLock.take(history.folder) } catch {
      throw CommandFailure(.cannotCreate, "\(error); a run thins by itself")
    }
    defer { withExtendedLifetime(lock) {} }
    var lines = ""
    var problems: [HistoryFailure] = []
    for day in history.days {
      do throws(HistoryFailure) {
        guard let copy = try history.thinned(day) else { continue }
        try copy.replace()
        lines += "\(day): \(copy.before) places before, \(copy.after) now\n"
      } catch { problems.append(error) }
    }
    try Terminal.write(lines)
    try HistoryPrinter.fail(problems)
  }
}

/// Prints the answer to a query.
struct HistoryPrinter {
  private let history: History
  private let query: History.Query
  private let content: HistoryCommand.Content
  private let format: HistoryCommand.Format
  private var output = ""
  private var failure: CommandFailure?

  init(
    _ history: History, _ query: History.Query, _ content: HistoryCommand.Content,
    _ format: HistoryCommand.Format
  ) {
    (self.history, self.query, self.content, self.format) = (history, query, content, format)
  }

  consuming func run() throws(CommandFailure) {
    var printer = self
    try printer.print()
  }

  private mutating func print() throws(CommandFailure) {
    var problems: [HistoryFailure] = []
    if let header { output += header + "\n" }
    for day in history.days(query) {
      do throws(HistoryFailure) { try print(day) } catch { problems.append(error) }
      if let failure { throw failure }
    }
    try Terminal.write(output)
    try Self.fail(problems)
  }

  /// Exits with the problems of files that cannot be read.
  static func fail(_ problems: [HistoryFailure]) throws(CommandFailure) {
    guard !problems.isEmpty else { return }
    throw CommandFailure(.data, problems.map(\.description).joined(separator: "\n"))
  }

  private var header: String? {
    switch (content, format) {
    case (.days, .text): "day         tags      places    events     KiB  thinned"
    case (.days, .csv): "day,tags,places,events,octets,thinned_ms,measurements"
    case (.measurements, .text), (.measurements, .csv): HistoryText.measurementColumns
    case (.places, .csv): HistoryText.placeColumns
    case (.events, .csv): HistoryText.eventColumns
    default: nil
    }
  }

  private mutating func print(_ day: UTCDay) throws(HistoryFailure) {
    switch content {
    case .days: output += Self.line(try history.summary(day), format) + "\n"
    case .places:
      try history.places(query, day) { place in
        switch format {
        case .text: add(HistoryText.text(place))
        case .csv: add(HistoryText.csv(place))
        case .json: add(HistoryText.json(place).description)
        }
      }
    case .measurements:
      try history.measurements(query, day) { record in
        add(
          format == .json ? HistoryText.json(record).description : HistoryText.csv(record))
      }
    case .events:
      try history.events(query, day) { event in
        switch format {
        case .text: add(HistoryText.text(event))
        case .csv: add(HistoryText.csv(event))
        case .json: add(event.body)
        }
      }
    }
  }

  /// Adds a line; returns whether the output takes more lines.
  private mutating func add(_ line: String) -> Bool {
    output += line + "\n"
    guard output.utf8.count > 32_768 else { return true }
    do { try Terminal.write(output) } catch {
      failure = error
      return false
    }
    output.removeAll(keepingCapacity: true)
    return true
  }

  private static func line(_ day: History.Day, _ format: HistoryCommand.Format) -> String {
    switch format {
    case .text:
      let known = [0: "", 1000: "  1 a second", 60_000: "  1 a minute"][day.thinned]
      let raw = day.measurements > 0 ? "  \(day.measurements) measurements" : ""
      return "\(day.day)" + padded(day.tags, 6) + padded(Int(day.places), 12)
        + padded(Int(day.events), 10) + padded(day.octets / 1024, 8)
        + (known ?? "  \(day.thinned) ms") + raw
    case .csv:
      return "\(day.day),\(day.tags),\(day.places),\(day.events),\(day.octets),\(day.thinned),"
        + "\(day.measurements)"
    case .json:
      return "{\"day\": \"\(day.day)\", \"tags\": \(day.tags), \"places\": \(day.places), "
        + "\"events\": \(day.events), \"octets\": \(day.octets), \"thinned_ms\": \(day.thinned), "
        + "\"measurements\": \(day.measurements)}"
    }
  }

  private static func padded(_ number: Int, _ width: Int) -> String {
    let text = "\(number)"
    return String(repeating: " ", count: max(1, width - text.count)) + text
  }
}
