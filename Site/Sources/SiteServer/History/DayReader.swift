// SPDX-License-Identifier: Apache-2.0

import GRDB

/// A day's file that is open for reading, even while another program writes it.
struct DayReader: Sendable {
  private let file: String
  private let database: DatabaseQueue
  /// The names of tags by their number.
  let tags: [(id: Int64, name: String)]
  /// The least time between two places of a tag, in milliseconds; 0 before thinning.
  let thinned: Int64
  /// The version of the file; measurements exist since version 2.
  private let version: Int64

  init(_ day: UTCDay, in folder: HistoryFolder) throws(HistoryFailure) {
    let file = folder.file(day)
    self.file = file
    do {
      database = try DatabaseQueue(
        path: file, configuration: DayLayout.configuration(isReadOnly: true))
      (tags, thinned, version) = try database.read { db in
        let version = try DayLayout.check(db, file)
        let names = try Row.fetchAll(db, sql: "SELECT id, name FROM tag ORDER BY id").map {
          (id: $0[0] as Int64? ?? 0, name: Self.text($0, 1))
        }
        return (names, try DayLayout.number(db, "SELECT thinned FROM day"), version)
      }
    } catch { throw HistoryFailure(error, file) }
  }

  private static func text(_ row: Row, _ index: Int) -> String {
    // In a damaged file, this column may contain a blob, which becomes an empty text.
    String.fromDatabaseValue(row[index] as DatabaseValue) ?? ""
  }

  /// Calls `body` with the places of a tag in the order of their times, until it returns false.
  ///
  /// - Parameter times: A range of milliseconds since 1970.
  func places(
    tag: (id: Int64, name: String), _ times: Range<Int64>, _ body: (HistoryPlace) -> Bool
  ) throws(HistoryFailure) -> Bool {
    do {
      return try database.read { db in
        let statement = try db.cachedStatement(
          sql: """
            SELECT time, \(HistoryPlace.columns) FROM place WHERE tag = ? AND time >= ? AND time < ?
            ORDER BY time
            """)
        let rows = try Row.fetchCursor(
          statement, arguments: [tag.id, times.lowerBound, times.upperBound])
        while let row = try rows.next() {
          let place = HistoryPlace(tag: tag.name, time: row[0] as Int64? ?? 0) {
            row[$0 + 1] as Int64?
          }
          guard body(place) else { return false }
        }
        return true
      }
    } catch { throw HistoryFailure(error, file) }
  }

  /// Returns the times of the first and the last place in a range of times; nil without places.
  func extent(_ times: Range<Int64>) throws(HistoryFailure) -> ClosedRange<Int64>? {
    do {
      return try database.read { db in
        // SQLite reads all rows for a query of both ends, but a single row for a query of one end.
        func end(_ function: String) throws -> [Int64] {
          try tags.compactMap { tag in
            try Int64.fetchOne(
              db,
              sql: "SELECT \(function)(time) FROM place WHERE tag = ? AND time >= ? AND time < ?",
              arguments: [tag.id, times.lowerBound, times.upperBound])
          }
        }
        guard let first = try end("min").min(), let last = try end("max").max() else { return nil }
        return first...last
      }
    } catch { throw HistoryFailure(error, file) }
  }

  /// Calls `body` with the events in the order of their times, until it returns false.
  func events(
    _ times: Range<Int64>, _ body: (HistoryEvent) -> Bool
  ) throws(HistoryFailure) -> Bool {
    let names = Dictionary(tags.map { ($0.id, $0.name) }, uniquingKeysWith: { one, _ in one })
    do {
      return try database.read { db in
        let rows = try Row.fetchCursor(
          db,
          sql: """
            SELECT time, decided, tag, kind, body FROM event WHERE time >= ? AND time < ?
            ORDER BY time, number
            """, arguments: [times.lowerBound, times.upperBound])
        while let row = try rows.next() {
          let event = HistoryEvent(
            time: row[0] as Int64? ?? 0, decided: row[1] as Int64? ?? 0,
            tag: (row[2] as Int64?).flatMap { names[$0] }, kind: Self.text(row, 3),
            body: Self.text(row, 4))
          guard body(event) else { return false }
        }
        return true
      }
    } catch { throw HistoryFailure(error, file) }
  }

  /// Calls `body` with the measurements of a range of times in the order of their arrival, until it
  /// returns false.
  ///
  /// - Parameters:
  ///   - number: the number of the measurement after which reading starts.
  ///   - most: the greatest number of measurements to read.
  /// - Returns: the number of the last measurement; nil if there are no more.
  func measurements(
    _ times: Range<Int64>, after number: Int64 = 0, most: Int = .max,
    _ body: (HistoryMeasurement) -> Bool
  ) throws(HistoryFailure) -> Int64? {
    guard version > 1 else { return nil }
    do {
      return try database.read { db in
        let names = Dictionary(
          try Row.fetchAll(db, sql: "SELECT id, name FROM board").map {
            ($0[0] as Int64? ?? 0, Self.text($0, 1))
          }, uniquingKeysWith: { one, _ in one })
        let rows = try Row.fetchCursor(
          db,
          sql: """
            SELECT number, \(HistoryMeasurement.columns) FROM measurement
            WHERE number > ? AND time >= ? AND time < ? ORDER BY number LIMIT ?
            """, arguments: [number, times.lowerBound, times.upperBound, most])
        var last: Int64?
        while let row = try rows.next() {
          last = row[0] as Int64?
          guard let record = Self.measurement(row, names) else { continue }
          guard body(record) else { return nil }
        }
        return last
      }
    } catch { throw HistoryFailure(error, file) }
  }

  private static func measurement(_ row: Row, _ names: [Int64: String]) -> HistoryMeasurement? {
    func name(_ index: Int) -> String? { (row[index] as Int64?).flatMap { names[$0] } }
    guard let time = row[1] as Int64?, let tag = name(2), let board = name(3) else { return nil }
    return HistoryMeasurement(
      time: time, boards: (tag, board, name(4)), kind: row[5] as Int64? ?? -1,
      value: row[6] as Int64? ?? -1, deviation: row[7] as Int64?, blocked: row[8] as Int64?)
  }

  /// Returns the numbers of places, of events and of measurements.
  func counts() throws(HistoryFailure) -> (places: Int64, events: Int64, measurements: Int64) {
    do {
      return try database.read { db in
        (
          try DayLayout.number(db, "SELECT count(*) FROM place"),
          try DayLayout.number(db, "SELECT count(*) FROM event"),
          version < 2 ? 0 : try DayLayout.number(db, "SELECT count(*) FROM measurement")
        )
      }
    } catch { throw HistoryFailure(error, file) }
  }

  /// Writes a copy with the places that a thinning keeps, all events, and no measurements.
  ///
  /// - Returns: the numbers of places in the file and in the copy.
  func write(
    thinnedTo interval: Int64, file copy: String
  ) throws(HistoryFailure) -> (before: Int, after: Int) {
    var thinning = Thinning(interval: interval)
    var counts = (before: 0, after: 0)
    do {
      let target = try DatabaseQueue(
        path: copy, configuration: DayLayout.configuration(isReadOnly: false))
      try target.write { to in
        try DayLayout.create(to, thinned: interval)
        try database.read { from in
          for table in ["tag", "event"] { try Self.copy(table, from, to) }
          let writer = try PlaceWriter(to)
          let rows = try Row.fetchCursor(
            from, sql: "SELECT tag, time, \(HistoryPlace.columns) FROM place ORDER BY tag, time")
          while let row = try rows.next() {
            counts.before += 1
            let values = (0..<(HistoryPlace.columnCount + 2)).map { row[$0] as Int64? ?? 0 }
            guard thinning.keeps(tag: values[0], time: values[1]) else { continue }
            try writer.write(values)
            counts.after += 1
          }
        }
      }
      try target.close()
    } catch { throw HistoryFailure(error, file) }
    return counts
  }

  private static func copy(_ table: String, _ from: Database, _ to: Database) throws {
    let rows = try Row.fetchCursor(from, sql: "SELECT * FROM \(table)")
    while let row = try rows.next() {
      let values = Array(row.databaseValues)
      let marks = values.map { _ in "?" }.joined(separator: ", ")
      try to.execute(
        sql: "INSERT INTO \(table) VALUES (\(marks))", arguments: StatementArguments(values))
    }
  }
}
