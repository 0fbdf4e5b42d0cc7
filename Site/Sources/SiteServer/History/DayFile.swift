// SPDX-License-Identifier: Apache-2.0

import GRDB
import UWBSite

/// The layout of a day's file.
enum DayLayout {
  /// The letters UWBH.
  static let application: Int64 = 0x5557_4248
  /// Version 2 adds measurements. A file without measurements keeps version 1.
  static let version: Int64 = 2

  static let tables = [
    // The column `thinned` is the least time between two places of a tag, in milliseconds.
    "CREATE TABLE day (thinned INTEGER NOT NULL)",
    "CREATE TABLE tag (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
    """
    CREATE TABLE place (tag INTEGER, time INTEGER, x INTEGER, y INTEGER, z INTEGER, \
    vx INTEGER, vy INTEGER, vz INTEGER, xx INTEGER, xy INTEGER, xz INTEGER, yy INTEGER, \
    yz INTEGER, zz INTEGER, motion INTEGER, PRIMARY KEY (tag, time)) WITHOUT ROWID
    """,
    """
    CREATE TABLE event (number INTEGER PRIMARY KEY, time INTEGER, decided INTEGER, tag INTEGER, \
    kind TEXT, body TEXT)
    """,
  ]
  /// The tables added by version 2, with measurements in the order of their arrival.
  static let laterTables = [
    "CREATE TABLE board (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
    """
    CREATE TABLE measurement (number INTEGER PRIMARY KEY, time INTEGER, tag INTEGER, \
    board INTEGER, reference INTEGER, kind INTEGER, value INTEGER, deviation INTEGER, \
    blocked INTEGER)
    """,
  ]

  /// Returns whether a database is empty, and so may become a history.
  static func isNew(_ db: Database) throws -> Bool {
    guard try number(db, "SELECT count(*) FROM sqlite_master") == 0 else { return false }
    return try number(db, "PRAGMA application_id") == 0
  }

  /// Checks the application id, the version and the tables, so that no later statement meets an
  /// unknown table.
  ///
  /// - Returns: the version.
  @discardableResult
  static func check(_ db: Database, _ file: String) throws -> Int64 {
    guard try number(db, "PRAGMA application_id") == application else {
      throw HistoryFailure(.foreign, file)
    }
    let version = try number(db, "PRAGMA user_version")
    guard version <= Self.version else { throw HistoryFailure(.newer, file) }
    let found = try String.fetchAll(
      db, sql: "SELECT coalesce(sql, '') FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid")
    guard version >= 1, found == tables + (version > 1 ? laterTables : []) else {
      throw HistoryFailure(.damaged, file, "its tables are not the ones of a history")
    }
    return version
  }

  /// Adds the tables of version 2 where they are missing, in the transaction of the caller.
  static func addMeasurements(_ db: Database) throws {
    guard try number(db, "PRAGMA user_version") < version else { return }
    for table in laterTables { try db.execute(sql: table) }
    try db.execute(sql: "PRAGMA user_version = \(version)")
  }

  /// Creates the tables, in the transaction of the caller.
  static func create(_ db: Database, thinned: Int64) throws {
    for table in tables { try db.execute(sql: table) }
    try db.execute(sql: "INSERT INTO day VALUES (?)", arguments: [thinned])
    try db.execute(sql: "PRAGMA application_id = \(application)")
    try db.execute(sql: "PRAGMA user_version = 1")
  }

  static func number(_ db: Database, _ sql: String) throws -> Int64 {
    try Optional<Int64>.fetchOne(db, sql: sql).flatMap(\.self) ?? 0
  }

  static func configuration(isReadOnly: Bool) -> Configuration {
    var configuration = Configuration()
    configuration.readonly = isReadOnly
    configuration.busyMode = .timeout(2)
    configuration.foreignKeysEnabled = false
    configuration.prepareDatabase { db in
      // The file may come from an untrusted sender, so its schema is not trusted.
      try db.execute(sql: "PRAGMA trusted_schema = OFF")
      try db.execute(sql: "PRAGMA cell_size_check = ON")
    }
    return configuration
  }
}

/// A day's file, opened by its only writer.
struct DayFile: Sendable {
  let day: UTCDay
  private let file: String
  private let database: DatabaseQueue
  private var tags: [String: Int64] = [:]
  private var boards: [String: Int64] = [:]

  /// Opens the file, or creates a new file.
  init(_ day: UTCDay, in folder: HistoryFolder) throws(HistoryFailure) {
    (self.day, file) = (day, folder.file(day))
    do {
      database = try DatabaseQueue(
        path: file, configuration: DayLayout.configuration(isReadOnly: false))
      let file = file
      try database.writeWithoutTransaction { db in
        let isNew = try DayLayout.isNew(db)
        if !isNew { try DayLayout.check(db, file) }
        // A commit survives a power failure, and readers do not block the writer.
        try db.execute(sql: "PRAGMA journal_mode = WAL")
        try db.execute(sql: "PRAGMA synchronous = FULL")
        guard isNew else { return }
        try db.inTransaction(.immediate) {
          try DayLayout.create(db, thinned: 0)
          return .commit
        }
      }
    } catch { throw HistoryFailure(error, folder.file(day)) }
  }

  /// Writes records in one transaction.
  mutating func write(_ batch: HistoryBatch) throws(HistoryFailure) {
    var (known, boards) = (tags, boards)
    do {
      try database.write { db in
        for name in Set(batch.places.map(\.tag)).union(batch.events.compactMap(\.tag))
        where known[name] == nil { known[name] = try Self.number(db, name, in: "tag") }
        let writer = try PlaceWriter(db)
        for place in batch.places { try writer.write(place, tag: known[place.tag] ?? 0) }
        let statement = try db.cachedStatement(
          sql: "INSERT INTO event (time, decided, tag, kind, body) VALUES (?, ?, ?, ?, ?)")
        for event in batch.events {
          try statement.execute(arguments: [
            event.time, event.decided, event.tag.flatMap { known[$0] }, event.kind, event.body,
          ])
        }
        try Self.write(batch.measurements, &boards, db)
      }
    } catch { throw HistoryFailure(error, file) }
    (tags, self.boards) = (known, boards)
  }

  private static func write(
    _ measurements: [HistoryMeasurement], _ boards: inout [String: Int64], _ db: Database
  ) throws {
    guard !measurements.isEmpty else { return }
    try DayLayout.addMeasurements(db)
    let statement = try db.cachedStatement(
      sql: "INSERT INTO measurement (\(HistoryMeasurement.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
    )
    func board(_ name: String) throws -> Int64 {
      if let number = boards[name] { return number }
      let number = try number(db, name, in: "board")
      boards[name] = number
      return number
    }
    for record in measurements {
      let (line, value) = (record.line, record.value)
      let values: [Int64?] = [
        record.time, try board(line.tag), try board(line.anchor), try line.reference.map(board),
        value.kind, value.value, record.deviation, record.blocked,
      ]
      statement.setUncheckedArguments(StatementArguments(values))
      try statement.execute()
    }
  }

  /// Returns the number of a name in a table of names. Adds the name if it is missing.
  private static func number(_ db: Database, _ name: String, in table: String) throws -> Int64 {
    let find = "SELECT id FROM \(table) WHERE name = ?"
    if let id = try Int64.fetchOne(db, sql: find, arguments: [name]) { return id }
    try db.execute(sql: "INSERT INTO \(table) (name) VALUES (?)", arguments: [name])
    return db.lastInsertedRowID
  }

  /// Closes the file. With `isComplete`, the content of the log is first moved into the file.
  func close(isComplete: Bool) {
    if isComplete {
      // A reader may prevent the move. The file then keeps its log, and remains complete.
      _ = try? database.writeWithoutTransaction { db in
        try String.fetchOne(db, sql: "PRAGMA journal_mode = DELETE")
      }
    }
    try? database.close()
  }
}

/// Inserts places.
struct PlaceWriter {
  private let statement: Statement

  init(_ db: Database, into table: String = "place") throws {
    let marks = String(repeating: ", ?", count: HistoryPlace.columnCount + 1)
    statement = try db.makeStatement(sql: "INSERT OR REPLACE INTO \(table) VALUES (?\(marks))")
  }

  func write(_ place: HistoryPlace, tag: Int64) throws {
    var values = [tag, place.time]
    values.reserveCapacity(HistoryPlace.columnCount + 2)
    place.write(to: &values)
    try write(values)
  }

  func write(_ values: [Int64]) throws {
    statement.setUncheckedArguments(StatementArguments(values))
    try statement.execute()
  }
}
