// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import SiteServer
import UWBSite

/// R13: the history beside plain SQLite in Python, with the same tables and transactions.
struct HistoryFigures: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "history", abstract: "Rows a second of one writer, and an hour of one tag.")

  @Option(help: "The number of places; a day of 100 tags at 10 Hz has 86 million.")
  var rows = 1_000_000
  @Option(help: "The number of places in a transaction.") var batch = 5000
  @Option(help: "The folder for the files; about 65 octets a place, twice.") var folder: String?

  private static let tags = 100
  /// 2026-11-27.
  private static let start: Int64 = 1_795_737_600_000

  func run() throws {
    let path = (folder ?? NSTemporaryDirectory()) + "/history-figures-" + UUID().uuidString
    defer { try? FileManager.default.removeItem(atPath: path) }
    let folder = HistoryFolder(path)
    try folder.create()
    let written = write(folder)
    let python = python(path)
    let size = try History(folder).summary(UTCDay("2026-11-27")!).octets
    var figures = [
      Figure(
        id: "R13", quantity: "\(rows) places, \(batch) in a transaction", unit: "places/s",
        textbook: python.map { ("sqlite3 of Python", $0.rate) }, value: written.rate,
        aim: 50_000...1e9),
      Figure(
        id: "R13", quantity: "the same by processor time", unit: "places/s",
        textbook: python.map { ("sqlite3 of Python", $0.processorRate) },
        value: written.processorRate),
      Figure(
        id: "R13", quantity: "size of a place", unit: "octets", value: Double(size) / Double(rows)),
    ]
    for (name, seconds) in [("an hour", 3600), ("six minutes", 360)] {
      let (count, time) = try query(folder, seconds: seconds)
      let isAsked = seconds == 3600
      figures.append(
        Figure(
          id: "R13", quantity: "\(name) of one tag, \(count) places", unit: "ms",
          textbook: isAsked ? python.map { ("sqlite3 of Python", $0.query) } : nil, value: time,
          aim: isAsked ? 0...20 : nil))
    }
    for figure in figures { print(figure.line) }
    if figures.contains(where: { !$0.isReached }) { throw ExitCode.failure }
  }

  /// Places of tags that walk, in the order of their times.
  private func places(_ range: Range<Int>) -> [HistoryPlace] {
    range.map { number in
      let (tag, step) = (number % Self.tags, number / Self.tags)
      let x = Double((number &* 7919) % 20_000) / 1000
      return HistoryPlace(
        tag: "tag \(tag)", time: Self.start + Int64(step) * 100,
        TagPlace(
          time: 0, position: [x, 15 - x / 2, 1.1], velocity: [0.5, 0.3, 0],
          spread: Spread(xx: 0.01, xy: 0.0002, xz: 0, yy: 0.012, yz: 0, zz: 0.04), motion: .walk,
          moving: 1))
    }
  }

  private func write(_ folder: HistoryFolder) -> (rate: Double, processorRate: Double) {
    var writer = HistoryWriter(folder)
    var (spent, processor) = (Duration.zero, 0)
    for first in stride(from: 0, to: rows, by: batch) {
      var part = HistoryBatch()
      part.places = places(first..<min(first + batch, rows))
      let begin = clock()
      spent += ContinuousClock().measure {
        for note in writer.write(part, now: 0) { print(note) }
      }
      processor += clock() - begin
    }
    writer.close()
    return (
      Double(rows) / (spent / .seconds(1)),
      Double(rows) * Double(CLOCKS_PER_SEC) / Double(max(1, processor))
    )
  }

  /// The number of places and the median of the time in milliseconds.
  private func query(_ folder: HistoryFolder, seconds: Int) throws -> (count: Int, time: Double) {
    let history = try History(folder)
    var query = History.Query()
    // The middle of the recording, where there is one.
    let length = Int64(rows / Self.tags) * 100
    let from = Self.start + max(0, (length - 1000 * Int64(seconds)) / 2)
    query.tags = ["tag 42"]
    (query.from, query.to) = (from, from + 1000 * Int64(seconds))
    var (count, times) = (0, [Double]())
    for _ in 0..<21 {
      count = 0
      let time = try ContinuousClock().measure {
        try history.places(query, history.days[0]) { _ in
          count += 1
          return true
        }
      }
      times.append(time / .milliseconds(1))
    }
    return (count, times.sorted()[10])
  }

  // MARK: the textbook

  private struct Python {
    var rate: Double
    var processorRate: Double
    var query: Double
  }

  private static let script = """
    import sqlite3, sys, time
    path, rows, batch = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    start = \(start)
    db = sqlite3.connect(path, isolation_level=None)
    db.execute("pragma journal_mode = wal")
    db.execute("pragma synchronous = full")
    db.execute("create table place (tag integer, time integer, x integer, y integer, z integer,"
      " vx integer, vy integer, vz integer, xx integer, xy integer, xz integer, yy integer,"
      " yz integer, zz integer, motion integer, primary key (tag, time)) without rowid")
    insert = "insert or replace into place values (" + ", ".join("?" * 15) + ")"
    spent = processor = 0
    for first in range(0, rows, batch):
      part = []
      for n in range(first, min(first + batch, rows)):
        x = n * 7919 % 20000
        part.append((n % 100, start + n // 100 * 100, x, 15000 - x // 2, 1100, 500, 300, 0,
          10001, 200, 0, 12001, 0, 40001, 1))
      began, used = time.perf_counter(), time.process_time()
      db.execute("begin")
      db.executemany(insert, part)
      db.execute("commit")
      spent += time.perf_counter() - began
      processor += time.process_time() - used
    since = start + max(0, (rows // 100 * 100 - 3600000) // 2)
    times = []
    for _ in range(21):
      began = time.perf_counter()
      db.execute("select * from place where tag = 42 and time >= ? and time < ? order by time",
        (since, since + 3600000)).fetchall()
      times.append(time.perf_counter() - began)
    print(rows / spent, rows / processor, 1000 * sorted(times)[10])
    """

  private func python(_ path: String) -> Python? {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["python3", "-c", Self.script, path + "/python", "\(rows)", "\(batch)"]
    let output = Pipe()
    process.standardOutput = output
    guard (try? process.run()) != nil else { return nil }
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    let numbers = text.split(separator: " ").compactMap {
      Double($0.trimmingCharacters(in: .newlines))
    }
    guard numbers.count == 3 else { return nil }
    return Python(rate: numbers[0], processorRate: numbers[1], query: numbers[2])
  }
}
