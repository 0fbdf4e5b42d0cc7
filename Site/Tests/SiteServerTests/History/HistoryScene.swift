// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRDB
import UWBSite

@testable import SiteServer

/// A folder for one test, which is removed after the test.
final class HistoryScene {
  let folder = HistoryFolder(NSTemporaryDirectory() + "history-" + UUID().uuidString)
  /// 2026-11-27, 10:00.
  static let start: Int64 = 1_795_773_600_000
  static let day = UTCDay("2026-11-27")!

  init() throws { try folder.create() }

  deinit { try? FileManager.default.removeItem(atPath: folder.path) }

  static func place(
    _ tag: String, _ time: Int64, _ x: Double = 1, _ y: Double = 2
  ) -> HistoryPlace {
    HistoryPlace(
      tag: tag, time: time,
      TagPlace(
        time: 0, position: [x, y, 1], velocity: [0.5, 0, 0],
        spread: Spread(xx: 0.01, xy: 0.002, xz: 0, yy: 0.02, yz: 0, zz: 0.04), motion: .walk,
        moving: 1))
  }

  static func event(_ tag: String?, _ time: Int64, _ kind: String = "entered") -> HistoryEvent {
    HistoryEvent(
      time: time, decided: time + 700, tag: tag, kind: kind,
      body: #"{"t": 1, "event": "\#(kind)", "zone": "dock"}"#)
  }

  static func batch(_ places: [HistoryPlace], _ events: [HistoryEvent] = []) -> HistoryBatch {
    var batch = HistoryBatch()
    (batch.places, batch.events) = (places, events)
    return batch
  }

  /// Writes records as a run does.
  @discardableResult
  func write(_ places: [HistoryPlace], _ events: [HistoryEvent] = []) -> [HistoryWriter.Note] {
    var writer = HistoryWriter(folder)
    let notes = writer.write(Self.batch(places, events), now: 0)
    writer.close()
    return notes
  }

  func places(_ query: History.Query = .init()) throws -> [HistoryPlace] {
    let history = try History(folder)
    var found: [HistoryPlace] = []
    for day in history.days(query) {
      try history.places(query, day) {
        found.append($0)
        return true
      }
    }
    return found
  }

  func events(_ query: History.Query = .init()) throws -> [HistoryEvent] {
    let history = try History(folder)
    var found: [HistoryEvent] = []
    for day in history.days(query) {
      try history.events(query, day) {
        found.append($0)
        return true
      }
    }
    return found
  }

  /// Changes the database of a day with statements of SQL.
  func change(_ day: UTCDay = day, _ statements: String...) throws {
    let database = try DatabaseQueue(path: folder.file(day))
    try database.writeWithoutTransaction { db in
      for statement in statements { try db.execute(sql: statement) }
    }
    try database.close()
  }
}
