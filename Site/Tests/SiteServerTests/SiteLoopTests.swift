// SPDX-License-Identifier: Apache-2.0

import Testing
import UWBSite

@testable import SiteServer

@Suite struct SiteLoopTests {
  private let collector = Collector()

  private func loop(
    _ scene: SiteScene, sources: [String] = ["a"], isLive: Bool = true
  ) throws -> SiteLoop {
    try SiteLoop(
      SiteRun(scene.site, sources: sources, isLive: isLive, epoch: 1000), sinks: [collector])
  }

  /// Runs rounds at 10 Hz; the places are a function of time.
  private func follow(
    _ loop: inout SiteLoop, from start: Double = 0, rounds: Int, source: Int = 0,
    offset: Double = 0, tag: String = "T", _ place: (Double) -> SIMD3<Double>
  ) throws {
    for number in 0..<rounds {
      let time = start + Double(number) / 10
      for item in SiteScene.round(at: time + offset, place(time), tag: tag) {
        loop.add(item, from: source, arrival: time)
      }
      try loop.turn(now: time, isComplete: true)
    }
  }

  @Test("Measurements lead to places, numbered events, and counters")
  func places() throws {
    var loop = try loop(SiteScene())
    try follow(&loop, rounds: 30) { _ in [3, 5, 1] }
    loop.add(.failed, from: 0, arrival: 3)
    loop.add(.lost(7), from: 0, arrival: 3)
    try loop.finish(now: 3)
    let last = try #require(collector.places.last)
    #expect(abs(last.position.x - 3) < 0.1 && abs(last.position.y - 5) < 0.1)
    #expect(collector.events.map(\.number) == Array(1...collector.events.count))
    #expect(collector.measurements.count == 120)
    #expect(collector.measurements.allSatisfy { $0.time == $0.line.time })
    let counters = try #require(collector.counters)
    #expect((counters.measurements, counters.failed, counters.lost) == (120, 1, 7))
    #expect(counters.places == collector.places.count)
    #expect(collector.run?.epoch == 1000)
  }

  @Test("The clocks of two hosts are an hour apart, and the places are the ones of one clock")
  func clocks() throws {
    var loop = try loop(SiteScene(), sources: ["a", "b"])
    for number in 0..<50 {
      let time = Double(number) / 10
      for (index, item) in SiteScene.round(at: 0, [3, 5, 1]).enumerated() {
        guard case .measurement(var line) = item else { continue }
        line.time = index < 2 ? time : time + 3600
        loop.add(.measurement(line), from: index < 2 ? 0 : 1, arrival: time + 0.001)
      }
      try loop.turn(now: time + 0.002, isComplete: true)
    }
    #expect(collector.places.count >= 45)
    let last = try #require(collector.places.last)
    #expect(abs(last.position.x - 3) < 0.1 && abs(last.position.y - 5) < 0.1)
    #expect(abs(last.time - 4.9) < 0.1)
  }

  @Test("A clock that is set back by an hour is named, and the places go on")
  func clockSet() throws {
    var loop = try loop(SiteScene())
    try follow(&loop, rounds: 30) { _ in [3, 5, 1] }
    try follow(&loop, from: 3, rounds: 30, offset: -3600) { _ in [3, 5, 1] }
    let changes = collector.events.compactMap { event -> Double? in
      if case .clockSet("a", let change) = event.kind { change } else { nil }
    }
    #expect(changes.count == 1)
    #expect(abs((changes.first ?? 0) + 3600) < 1)
    let last = try #require(collector.places.last)
    #expect(abs(last.time - 5.9) < 0.1)
    #expect(abs(last.position.x - 3) < 0.1)
  }

  @Test("Repeated, late and disordered measurements are counted, and change nothing")
  func disorder() throws {
    var loop = try loop(SiteScene())
    try follow(&loop, rounds: 30) { _ in [3, 5, 1] }
    for item in SiteScene.round(at: 2.9, [3, 5, 1]) { loop.add(item, from: 0, arrival: 2.91) }
    for item in SiteScene.round(at: 1, [3, 5, 1]) { loop.add(item, from: 0, arrival: 2.92) }
    try loop.finish(now: 3)
    let engine = try #require(collector.counters).engine
    #expect((engine.repeated, engine.late) == (4, 4))
    #expect(collector.measurements.filter { $0.time == nil }.count == 8)
    let last = try #require(collector.places.last)
    #expect(abs(last.position.x - 3) < 0.1)
  }

  @Test("A tag that walks into a zone and out of it has events with both times and its dwell")
  func zones() throws {
    var loop = try loop(SiteScene())
    // The tag walks at 1 m/s from x = 2 to 8 and back. It crosses the edge at x = 5 after 3 s and 9
    // s.
    try follow(&loop, rounds: 121) { time in [time < 6 ? 2 + time : 14 - time, 4, 1] }
    try loop.finish(now: 12.1)
    try #require(collector.zones.count == 2)
    let (entered, left) = (collector.zones[0], collector.zones[1])
    #expect((entered.tag, entered.zone, entered.side, entered.count) == ("T", "dock", .entered, 1))
    #expect(abs(entered.happened - 3) < 0.3)
    guard case .left(let dwell) = left.side else {
      Issue.record("\(left)")
      return
    }
    #expect(abs(dwell - 6) < 0.5)
    #expect(left.count == 0)
    let decided = collector.events.compactMap { event -> Double? in
      if case .zone = event.kind { event.decided } else { nil }
    }
    #expect(decided[0] > entered.happened && decided[0] < entered.happened + 1.5)
  }

  @Test("A silent tag is lost in its zones, and found by its next place")
  func lost() throws {
    var loop = try loop(SiteScene())
    try follow(&loop, rounds: 50) { _ in [7, 4, 1] }
    try loop.turn(now: 6.5, isComplete: true)
    try follow(&loop, from: 20, rounds: 10) { _ in [7, 4, 1] }
    var kinds: [String] = []
    for event in collector.events {
      switch event.kind {
      case .lost("T", let since, let zones):
        #expect(abs(since - 4.9) < 1e-6)
        #expect(zones == ["dock"])
        kinds.append("lost")
      case .found("T", let time):
        #expect(time >= 20)
        kinds.append("found")
      case .zone(let change): kinds.append("\(change.zone) \(change.count)")
      default: break
      }
    }
    #expect(kinds == ["dock 1", "lost", "found"])
  }

  @Test("The first problems of a source are events, and all are counted")
  func problems() throws {
    var loop = try loop(SiteScene(), sources: ["a", "b"])
    for number in 0..<25 { loop.add(.bad("line \(number)"), from: 0, arrival: 0) }
    loop.add(.bad("line 1"), from: 1, arrival: 0)
    loop.add(.state(.connected(identity: "x")), from: 1, arrival: 0)
    try loop.finish(now: 1)
    #expect(collector.events.count == 12)
    #expect(collector.counters?.bad == 26)
    #expect(collector.events.last?.report == "b: connected, x")
  }
}
