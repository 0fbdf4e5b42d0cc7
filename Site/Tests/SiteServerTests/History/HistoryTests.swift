// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import UWBSite

@testable import SiteServer

@Suite struct HistoryTests {
  private let scene: HistoryScene
  private let start = HistoryScene.start

  init() throws { scene = try HistoryScene() }

  @Test("Places and events come back, by tag, time and area")
  func queries() throws {
    let places = (0..<200).flatMap { step in
      ["T", "U"].map { HistoryScene.place($0, start + Int64(step) * 1000, Double(step), 2) }
    }
    #expect(
      scene.write(places, [HistoryScene.event("U", start), HistoryScene.event(nil, start + 5)])
        .isEmpty)
    #expect(try scene.places().map(\.time) == places.map(\.time))
    #expect(try scene.places().map(\.tag).prefix(3) == ["T", "U", "T"])
    var query = History.Query()
    query.tags = ["U"]
    (query.from, query.to) = (start + 10_000, start + 100_000)
    #expect(try scene.places(query).count == 90)
    #expect(try scene.events(query).isEmpty)
    query.area = .init([19.5, 0], [30, 3])
    #expect(try scene.places(query).map(\.place.position.x) == (20...30).map(Double.init))
    (query.from, query.to, query.area) = (nil, nil, nil)
    #expect(try scene.events(query) == [HistoryScene.event("U", start)])
    #expect(try scene.events().count == 2)
    let day = try History(scene.folder).summary(HistoryScene.day)
    #expect((day.tags, day.places, day.events, day.thinned) == (2, 400, 2, 0))
  }

  @Test("A query ends early, and a folder without a history is missing")
  func ends() throws {
    scene.write((0..<10).map { HistoryScene.place("T", start + $0) })
    var count = 0
    try History(scene.folder).places(.init(), HistoryScene.day) { _ in
      count += 1
      return count < 3
    }
    #expect(count == 3)
    #expect {
      _ = try History(HistoryFolder(scene.folder.path + "/none"))
    } throws: { ($0 as? HistoryFailure)?.kind == .missing }
  }

  @Test("A second run continues the day; a repeated place replaces the former one")
  func continued() throws {
    scene.write([HistoryScene.place("T", start, 1), HistoryScene.place("U", start, 1)])
    scene.write([HistoryScene.place("U", start, 5), HistoryScene.place("V", start, 6)])
    #expect(try scene.places().map(\.place.position.x) == [1, 5, 6])
    #expect(!scene.folder.hasLog(HistoryScene.day))
  }

  @Test("Midnight begins a new file, and late records reach the former one")
  func midnight() throws {
    let end = HistoryScene.day.start + UTCDay.milliseconds
    var writer = HistoryWriter(scene.folder)
    for (now, time) in [end - 200, end + 100, end - 100, end + 200].enumerated() {
      let batch = HistoryScene.batch([HistoryScene.place("T", time)])
      let notes = writer.write(batch, now: Double(now))
      #expect(notes.isEmpty)
    }
    writer.close()
    #expect(try History(scene.folder).days.map(\.description) == ["2026-11-27", "2026-11-28"])
    #expect(try scene.places().map(\.time) == [end - 200, end - 100, end + 100, end + 200])
  }

  @Test("Without a disk the run goes on: one note, attempts every 5 s, a note at the end")
  func fullDisk() throws {
    // A folder has the name of the file, since root may write to any file.
    let obstacle = scene.folder.file(HistoryScene.day)
    try FileManager.default.createDirectory(atPath: obstacle, withIntermediateDirectories: false)
    var writer = HistoryWriter(scene.folder)
    let first = writer.write(HistoryScene.batch([HistoryScene.place("T", start)]), now: 100)
    guard case .failed(let failure)? = first.first else {
      Issue.record("\(first)")
      return
    }
    #expect(failure.kind == .unusable && failure.file == obstacle)
    let many = (1...Int64(HistoryWriter.mostWaiting + 9)).map {
      HistoryScene.place("T", start + $0)
    }
    let events = HistoryScene.batch([], [HistoryScene.event("T", start)])
    let silent =
      writer.write(HistoryScene.batch(many), now: 101) + writer.write(events, now: 105.1)
    try FileManager.default.removeItem(atPath: obstacle)
    let early = writer.write(HistoryBatch(), now: 107)
    #expect((silent + early).isEmpty)
    let last = writer.write(HistoryBatch(), now: 110.2)
    #expect(last == [.resumed(lost: 10)])
    #expect(writer.missing == 0)
    writer.close()
    #expect(try scene.places().count == HistoryWriter.mostWaiting)
    #expect(try scene.events().count == 1)
  }

  @Test("A damaged file of today is kept under another name, and a new one begins")
  func damaged() throws {
    scene.write((0..<500).map { HistoryScene.place("T", start + $0) })
    let file = scene.folder.file(HistoryScene.day)
    var bytes = try Data(contentsOf: URL(fileURLWithPath: file))
    for index in 4096..<bytes.count { bytes[index] = 0x55 }
    try bytes.write(to: URL(fileURLWithPath: file))
    let aside = "\(scene.folder.path)/\(HistoryScene.day).damaged-1"
    #expect(scene.write([HistoryScene.place("T", start)]) == [.setAside(aside)])
    #expect(try Data(contentsOf: URL(fileURLWithPath: aside))[4096...] == bytes[4096...])
    #expect(try scene.places().count == 1)
  }

  @Test("A database of another program is neither read nor written")
  func foreign() throws {
    try scene.change(HistoryScene.day, "CREATE TABLE music (name TEXT)")
    let before = try Data(contentsOf: URL(fileURLWithPath: scene.folder.file(HistoryScene.day)))
    guard case .failed(let failure)? = scene.write([HistoryScene.place("T", start)]).first else {
      Issue.record("no failure")
      return
    }
    #expect(failure.kind == .foreign)
    #expect(throws: failure) { try scene.places() }
    let after = try Data(contentsOf: URL(fileURLWithPath: scene.folder.file(HistoryScene.day)))
    #expect(before == after)
  }

  @Test("A newer version, other tables and values of other types are no crash")
  func strange() throws {
    scene.write([HistoryScene.place("T", start)], [HistoryScene.event("T", start)])
    try scene.change(
      HistoryScene.day, "UPDATE place SET x = 'far', y = NULL, xx = x'00', motion = 99",
      "UPDATE tag SET name = x'ff00'", "UPDATE event SET body = x'ff', kind = NULL, tag = 7")
    let place = try #require(try scene.places().first)
    #expect(place.place.position.x == 0 && place.place.motion == .walk)
    #expect(HistoryText.csv(place).hasPrefix("1795773600,"))
    let event = try #require(try scene.events().first)
    #expect(event.tag == nil && !HistoryText.text(event).isEmpty)
    try scene.change(HistoryScene.day, "CREATE TABLE more (x)")
    #expect { try scene.places() } throws: { ($0 as? HistoryFailure)?.kind == .damaged }
    try scene.change(HistoryScene.day, "DROP TABLE more", "PRAGMA user_version = 3")
    #expect { try scene.places() } throws: { ($0 as? HistoryFailure)?.kind == .newer }
  }

  @Test("Old days are thinned once, and keep their events")
  func thinned() throws {
    let second = (0..<50).map { HistoryScene.place("T", start + 100 * $0) }
    let events = [HistoryScene.event("T", start)]
    scene.write(second, events)
    #expect(try History(scene.folder).thinned(HistoryScene.day) == nil)
    let week = start + 8 * UTCDay.milliseconds
    scene.write([HistoryScene.place("T", week)])
    let copy = try #require(try History(scene.folder).thinned(HistoryScene.day))
    try copy.replace()
    #expect((copy.before, copy.after) == (50, 5))
    #expect(
      try scene.places().map(\.time) == [0, 1000, 2000, 3000, 4000].map { start + $0 } + [week])
    #expect(try scene.events() == events)
    #expect(try History(scene.folder).thinned(HistoryScene.day) == nil)
    scene.write([HistoryScene.place("T", start + 400 * UTCDay.milliseconds)])
    let year = try #require(try History(scene.folder).thinned(HistoryScene.day))
    try year.replace()
    #expect((year.before, year.after) == (5, 1))
    #expect(try History(scene.folder).summary(HistoryScene.day).thinned == 60_000)
  }

  @Test("A day that is written while it is thinned stays as it is")
  func writtenWhileThinned() throws {
    scene.write((0..<50).map { HistoryScene.place("T", start + 100 * $0) })
    scene.write([HistoryScene.place("T", start + 9 * UTCDay.milliseconds)])
    let copy = try #require(try History(scene.folder).thinned(HistoryScene.day))
    scene.write([HistoryScene.place("U", start)])
    #expect { try copy.replace() } throws: { ($0 as? HistoryFailure)?.kind == .busy }
    #expect(try scene.places().count == 52)
    let names = try FileManager.default.contentsOfDirectory(atPath: scene.folder.path)
    #expect(names.sorted() == ["2026-11-27.sqlite", "2026-12-06.sqlite"])
  }

  @Test("One program writes a history at a time")
  func lock() throws {
    var first: HistoryLock? = try HistoryLock.take(scene.folder)
    #expect(first != nil)
    #expect { try HistoryLock.take(scene.folder) } throws: {
      ($0 as? HistoryFailure)?.kind == .busy
    }
    first = nil
    #expect(throws: Never.self) { try HistoryLock.take(scene.folder) }
  }

  @Test("Bits that flip anywhere are a sentence or other values, never a crash")
  func bitFlips() throws {
    scene.write(
      (0..<300).map { HistoryScene.place("T\($0 % 3)", start + 100 * $0, Double($0)) },
      (0..<20).map { HistoryScene.event("T1", start + $0) })
    let file = URL(fileURLWithPath: scene.folder.file(HistoryScene.day))
    let whole = try Data(contentsOf: file)
    var random = SplitMix64(seed: 11)
    var (answered, refused) = (0, 0)
    for round in 0..<80 {
      var bytes = whole
      for _ in 0...(round % 4) {
        // Half of the flips hit the first page, which has the header and the tables.
        let range = random.uniform() < 0.5 ? 4096 : bytes.count
        bytes[Int(random.uniform() * Double(range))] ^= 1 << UInt8(random.uniform() * 8)
      }
      try bytes.write(to: file)
      do {
        _ = try (scene.places(), scene.events())
        answered += 1
      } catch {
        #expect("\(error)".hasPrefix(scene.folder.path))
        refused += 1
      }
    }
    #expect(answered > 10 && refused > 10)
  }
}

@Suite struct HistorySinkTests {
  private final class Notes: @unchecked Sendable {
    private let lock = NSLock()
    private var lines: [String] = []
    func add(_ line: String) { lock.withLock { lines.append(line) } }
    var all: [String] { lock.withLock { lines } }
  }

  @Test("A recorded run has its places and its changes in the history, and few places at rest")
  func run() throws {
    let scene = try HistoryScene()
    let notes = Notes()
    let sink = try HistorySink(scene.folder) { notes.add($0) }
    let collector = Collector()
    var loop = try SiteLoop(
      SiteRun(SiteScene().site, sources: ["a"], isLive: true, epoch: 1_795_773_600),
      sinks: [sink, collector])
    for number in 0..<300 {
      let time = Double(number) / 10
      let place: SIMD3<Double> = [min(3 + max(0, time - 10), 7), 4, 1]
      for item in SiteScene.round(at: time, place) { loop.add(item, from: 0, arrival: time) }
      try loop.turn(now: time, isComplete: true)
    }
    try loop.finish(now: 30)
    #expect(notes.all.isEmpty)
    let places = try scene.places()
    #expect(places.count > 50 && places.count < 110)
    #expect(
      places.allSatisfy { (HistoryScene.start...(HistoryScene.start + 30_000)).contains($0.time) })
    #expect(try scene.events().map(\.kind) == ["entered"])
    // A line of the history is a line of the run.
    let last = try #require(collector.places.last)
    let line = HistoryText.json(try #require(places.last))
    #expect(line["position_m"] != nil && line["covariance_m2"] != nil)
    #expect(abs(last.position.x - (places.last?.place.position.x ?? 0)) < 0.03)
  }

  @Test("A recording waits for the disk instead of losing records")
  func recording() throws {
    let scene = try HistoryScene()
    let recorder = try HistoryRecorder(scene.folder) { _ in }
    for part in 0..<12 {
      let start = HistoryScene.start + Int64(part) * 2500
      recorder.add(
        HistoryScene.batch((0..<2500).map { HistoryScene.place("T", start + $0) }), waits: true)
    }
    recorder.finish(unusable: 0)
    #expect(try scene.places().count == 30_000)
  }
}

@Suite struct HistoryTextTests {
  @Test("Cells with commas and quotation marks are quoted")
  func cells() throws {
    let place = HistoryScene.place("a,\"b\"", HistoryScene.start, -0.004)
    #expect(HistoryText.csv(place).hasPrefix("1795773600,\"a,\"\"b\"\"\",-0.004,2.0,1.0,0.5,"))
    #expect(
      HistoryText.placeColumns.split(separator: ",").count
        == HistoryText.csv(HistoryScene.place("T", 0)).split(separator: ",").count)
    #expect(
      HistoryText.text(HistoryScene.place("T", HistoryScene.start))
        == "2026-11-27T10:00:00.000Z  T      1.00     2.00   1.00   0.31  walk")
    let event = HistoryScene.event("T", HistoryScene.start)
    #expect(HistoryText.text(event) == "2026-11-27T10:00:00.000Z  T  entered: zone dock")
    #expect(HistoryText.csv(event).hasPrefix("1795773600,1795773600.7,T,entered,\"{"))
  }
}
