// SPDX-License-Identifier: Apache-2.0

import Foundation
import SiteScenarios
import Synchronization
import Testing
import UWBSite

@testable import SiteServer

/// A run that ends at any moment, and another one that continues its state.
@Suite(.timeLimit(.minutes(5))) struct StateTests {
  /// A hall with two floors and a door, so that each part of a state has a content.
  private static let text = """
    {"version": 1, "gauge": {"kind": "measured"},
     "floors": [{"id": "g", "height_m": 0}, {"id": "u", "height_m": 5}],
     "anchors": [
       {"id": "A0", "floor": "g", "position_m": [0, 0, 2.5], "position_sd_m": [0, 0, 0]},
       {"id": "A1", "floor": "g", "position_m": [10, 0, 3], "position_sd_m": [0, 0, 0]},
       {"id": "A2", "floor": "g", "position_m": [10, 8, 2.5], "position_sd_m": [0, 0, 0]},
       {"id": "A3", "floor": "g", "position_m": [0, 8, 3], "position_sd_m": [0, 0, 0]}],
     "tags": [{"id": "T", "height_m": 1}, {"id": "U", "carrier": "fixed", "height_m": 1},
       {"id": "V", "carrier": "drone", "height_range_m": [0, 4]}],
     "doors": [{"id": "gate", "floor": "g", "ends_m": [[0, 0], [0, 8]], "inside_anchor": "A0",
       "outside_anchor": "A3"}],
     "zones": [{"id": "dock", "polygon_m": [[5, 1], [9.5, 1], [9.5, 7], [5, 7]]}]}
    """

  private static func site(_ text: String = Self.text) throws -> Site {
    try Site(json: Array(text.utf8))
  }

  /// Returns a round of each tag at 10 Hz, with errors; the first one crosses the zone.
  private static func rounds(_ numbers: Range<Int>) -> [SourceItem] {
    numbers.flatMap { number in
      let time = Double(number) / 10
      let places: [(String, SIMD3<Double>)] = [
        ("T", [5 + 3 * sin(time / 3), 4, 1]), ("U", [2, 2, 1]), ("V", [6, 3, 1 + time / 60]),
      ]
      return places.flatMap { tag, place in
        SiteScene.round(at: time, place, tag: tag).enumerated().map { anchor, item in
          guard case .measurement(var line) = item, case .distance(let metres) = line.quantities[0]
          else { return item }
          line.quantities = [.distance(metres + 0.05 * sin(Double(number * 7 + anchor * 13)))]
          return .measurement(line)
        }
      }
    }
  }

  private static func run(
    _ site: Site, _ items: [SourceItem], from state: SiteState.Resumed? = nil
  ) throws -> (events: [String], state: SiteState, run: SiteRun?) {
    let collector = Collector()
    let run = SiteRun(site, sources: ["a"], isLive: true, epoch: 0)
    var loop = try SiteLoop(run, sinks: [collector], from: state)
    for item in items {
      loop.add(item, from: 0)
      try loop.turn(now: nil, isComplete: false)
    }
    return (collector.events.map(\.json.description), loop.state(now: nil), collector.run)
  }

  @Test(
    "A run that continues a state has the same events as one without an end, to the last digit",
    arguments: [1, 3, 44, 150, 299])
  func same(_ end: Int) throws {
    let site = try Self.site()
    let whole = try Self.run(site, Self.rounds(0..<400)).events
    let first = try Self.run(site, Self.rounds(0..<end))
    let resumed = try SiteState.read(first.state.text(), site)
    #expect(resumed.header.lines == 12 * end)
    let second = try Self.run(site, Self.rounds(end..<400), from: resumed)
    #expect(first.events + second.events == whole)
    #expect(whole.count { $0.contains("entered") } >= 2 && whole.contains { $0.contains("left") })
  }

  @Test("The zones of a state are the ones of the service from the start")
  func zones() throws {
    let site = try SiteScene().site
    let rounds = (0..<50).flatMap { SiteScene.round(at: Double($0) / 10, [7, 4, 1]) }
    let first = try Self.run(site, rounds)
    let resumed = try SiteState.read(first.state.text(), site)
    let run = try #require(try Self.run(site, [], from: resumed).run)
    #expect(run.zones == ["T": ["dock"]])
    let service = SiteService(run, run: "r")
    #expect(service.tags[0].zones == ["dock"] && service.counts == ["dock": 1])
  }

  @Test("A state of another site, another version or other bytes is refused with its reason")
  func refused() throws {
    let site = try Self.site()
    let text = try Self.run(site, Self.rounds(0..<30)).state.text()
    func problem(_ text: [UInt8], _ site: Site) -> SiteState.Problem? {
      do throws(SiteState.Problem) {
        _ = try SiteState.read(text, site)
        return nil
      } catch { return error }
    }
    #expect(problem(text, site) == nil)
    #expect(problem(text, try SiteScene().site) == .site)
    #expect(problem([], site) == .damaged)
    #expect(problem(text.dropLast(), site) == .damaged)
    var other = text
    other[text.count / 2] ^= 1
    #expect(problem(other, site) == .damaged)
    let newer = String(decoding: text, as: UTF8.self).replacing(
      #""version":1"#, with: #""version":2"#, maxReplacements: 1)
    #expect(problem(Array(newer.utf8), site) == .version(2))
  }

  @Test("Damaged values end in a refusal or in places, never in the end of the program")
  func damaged() throws {
    var fuzz = try StateFuzz(seed: 5)
    let result = try fuzz.run(200)
    #expect(result.wrong == [])
    #expect(result.resumed > 20 && result.refused > 20)
  }

  // MARK: files

  private func withFile(_ body: (String) throws -> Void) throws {
    let folder = FileManager.default.temporaryDirectory.path + "/state-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try body(folder + "/state")
  }

  private struct Items: Recording {
    var items: ArraySlice<SourceItem>
    mutating func next() -> SourceItem? { items.popFirst() }
  }

  private func run(_ site: Site, _ items: [SourceItem], _ path: String, _ notes: Notes) throws
    -> Collector
  {
    let collector = Collector()
    var runner = try SiteRunner(
      site, [Source("a", .recording(Items(items: items[...])))], sinks: [collector], epoch: 1000,
      state: StateFile(path) { notes.add($0) })
    try runner.run()
    return collector
  }

  private final class Notes: Sendable {
    private let lines = Mutex<[String]>([])
    func add(_ line: String) { lines.withLock { $0.append(line) } }
    var all: [String] { lines.withLock { $0 } }
  }

  @Test("A run writes its state at its end, and the next one continues it")
  func file() throws {
    try withFile { path in
      let (site, notes) = (try Self.site(), Notes())
      _ = try run(site, Self.rounds(0..<30), path, notes)
      let second = try run(site, Self.rounds(30..<32), path, notes)
      #expect(second.places.count >= 5)
      #expect(notes.all == [])
      #expect(try run(try SiteScene().site, Self.rounds(32..<33), path, notes).places.isEmpty)
      #expect(
        notes.all == [
          "\(path) belongs to another site file; the run begins without it, and replaces it"
        ])
    }
  }

  @Test("A file that cannot be written is a sentence, once, and the run goes on")
  func unwritable() throws {
    try withFile { path in
      let (site, notes) = (try Self.site(), Notes())
      let places = try run(site, Self.rounds(0..<30), path + "/none/state", notes).places
      #expect(places.count > 50)
      #expect(
        notes.all == [
          "\(path)/none/state cannot be written: check its folder and the space on its disk"
        ])
    }
  }

  @Test("States are written one after the other, and not more often than each 5 s")
  func pauses() throws {
    try withFile { path in
      let state = try Self.run(try Self.site(), Self.rounds(0..<2)).state
      let file = StateFile(path) { Issue.record("\($0)") }
      var made = 0
      func offer(_ now: Double) {
        file.offer(
          {
            made += 1; return state
          }, at: now)
        file.finish(state)
      }
      for now in [0, 1, 4.9] { offer(now) }
      #expect(made == 1)
      offer(1000)
      #expect(made == 2)
    }
  }
}
