// SPDX-License-Identifier: Apache-2.0

import SiteScenarios
import Testing

@testable import UWBSite

@Suite("Zones")
struct ZoneMonitorTests {
  static let hall = ZoneScenarios.rectangle("hall", SIMD2(0, 0), SIMD2(20, 10))
  static let desk = ZoneScenarios.rectangle("desk", SIMD2(8, 3), SIMD2(12, 7))
  static let aisle = ZoneScenarios.rectangle("aisle", SIMD2(10, 0), SIMD2(14, 10))

  /// Moves a tag along x at y = 5, ten estimates a second.
  func walk(
    _ monitor: inout ZoneMonitor, from: Double, to: Double, speed: Double = 1, start: Double = 0,
    deviation: Double = 0.1, floor: String? = nil
  ) -> [ZoneEvent] {
    let count = Int(abs(to - from) / speed * 10)
    return (0...count).flatMap { step in
      let time = Double(step) / 10
      let x = from + (to > from ? 1 : -1) * speed * time
      return monitor.update(
        "tag", at: start + time, PlaneEstimate(mean: SIMD2(x, 5), deviation: deviation),
        floor: floor)
    }
  }

  @Test("nested and overlapping zones have their own events, with both times")
  func nested() {
    var monitor = ZoneMonitor([Self.hall, Self.desk, Self.aisle])
    let events = walk(&monitor, from: -3, to: 17)
    #expect(
      events.map(\.kind).filter { if case .entered = $0 { true } else { false } } == [
        .entered(zone: "hall"), .entered(zone: "desk"), .entered(zone: "aisle"),
      ])
    let happened = events.map(\.happened)
    #expect(zip(happened, [3, 11, 13, 15, 17]).allSatisfy { abs($0 - $1) < 1e-9 })
    for event in events {
      #expect(event.decided - event.happened > 0.4 && event.decided - event.happened < 0.7)
      #expect(event.happenedDeviation > 0.1 && event.happenedDeviation < 0.11)
    }
    guard case .left("desk", let dwell) = events[3].kind else {
      Issue.record("the fourth event is \(events[3])")
      return
    }
    #expect(abs(dwell - 4) < 1e-9)
    #expect(monitor.count(in: "hall") == 1 && monitor.count(in: "aisle") == 0)
    #expect(monitor.tags(in: "hall") == ["tag"] && monitor.tags(in: "nowhere") == [])
    #expect(monitor.probability("tag", in: "hall") == 1)
  }

  @Test("a tag that is inside from its first estimate enters, at an unknown time")
  func first() {
    var monitor = ZoneMonitor([Self.hall, Self.desk])
    let events = walk(&monitor, from: 2, to: 2.5)
    #expect(events.map(\.kind) == [.entered(zone: "hall")])
    #expect(events.first?.happenedDeviation == .infinity)
  }

  @Test("a single estimate on the other side changes nothing")
  func outlier() {
    var monitor = ZoneMonitor([Self.desk])
    _ = walk(&monitor, from: 9, to: 11)
    for (time, x) in [(2.1, 30.0), (2.2, 11), (2.3, 11), (2.4, 30), (2.5, 11)] {
      let estimate = PlaneEstimate(mean: SIMD2(x, 5), deviation: 0.1)
      let events = monitor.update("tag", at: time, estimate)
      #expect(events.isEmpty)
    }
    #expect(monitor.count(in: "desk") == 1)
  }

  @Test("an unsure place changes nothing, and a place that is sure enough does at last")
  func unsure() {
    var monitor = ZoneMonitor([Self.desk])
    let unsure = walk(&monitor, from: 8.2, to: 11.8, deviation: 3)
    #expect(unsure.isEmpty)
    let middle = PlaneEstimate(mean: SIMD2(10, 5), deviation: 0.8)
    var decided: [Double] = []
    for step in 0..<300 {
      let time = 10 + Double(step) / 10
      decided += monitor.update("tag", at: time, middle).map(\.decided)
    }
    // The tag is 2.5 deviations from each edge: it is probably inside, but sure only after some
    // time.
    #expect(decided.count == 1)
    #expect((decided.first ?? 0) > 20)
  }

  @Test("a margin delays the change, and another floor is outside")
  func marginAndFloor() {
    var zone = Self.desk
    zone.margin = 1.6
    zone.floor = "ground"
    var monitor = ZoneMonitor([zone])
    let edge = walk(&monitor, from: 5, to: 8.7, floor: "ground")
    #expect(edge.isEmpty)
    let inside = walk(&monitor, from: 8.7, to: 10, start: 5, floor: "ground")
    #expect(inside.count == 1)
    let upstairs = walk(&monitor, from: 10, to: 10.5, start: 10, floor: "first")
    #expect(upstairs.count == 1)
    let unknown = walk(&monitor, from: 10, to: 10.5, start: 20, floor: nil)
    #expect(unknown.count == 1)
  }

  @Test("a silent tag stays in its zones", arguments: [2.0, 100, 1e6])
  func silence(_ seconds: Double) {
    var monitor = ZoneMonitor([Self.desk])
    _ = walk(&monitor, from: 6, to: 10)
    let back = monitor.update(
      "tag", at: 4 + seconds, PlaneEstimate(mean: SIMD2(10, 5), deviation: 0.1))
    #expect(back.isEmpty)
    #expect(monitor.tags(in: "desk") == ["tag"])
  }

  @Test("late, repeated and unusable estimates are counted and have no effect")
  func ignored() {
    var monitor = ZoneMonitor([Self.desk])
    _ = walk(&monitor, from: 9, to: 11)
    let away = PlaneEstimate(mean: SIMD2(0, 0), deviation: 0.1)
    let line = PlaneEstimate(mean: SIMD2(0, 0), xx: 1, xy: 1, yy: 1)
    let events =
      [0.5, 2, .nan].flatMap { monitor.update("tag", at: $0, away) }
      + monitor.update("tag", at: 3, line)
    #expect(events.isEmpty)
    #expect(monitor.ignored == 4)
    #expect(monitor.probability("tag", in: "desk") == 1)
  }

  @Test("the doubt follows from the allowed rate of wrong changes")
  func rules() {
    var rules = ZoneRules()
    #expect(rules.doubt > 1e-8 && rules.doubt < 1e-7)
    #expect(rules.longest > 10 && rules.longest < 20)
    rules.wrongChangesPerSecond = 1 / 3600.0
    #expect(rules.doubt > 1e-5)
    rules.wrongChangesPerSecond = 100
    #expect(rules.doubt <= 0.5 && rules.longest >= 0)
  }

  @Test(
    "a tag at an edge never changes, where simple rules change all the time", arguments: [0, 1.0])
  func rest(memory: Double) {
    let changes = ZoneScenarios.rest(
      hours: 0.3, distance: 0, deviation: 0.1, memory: memory, seed: 11)
    #expect(changes.decided == 0)
    #expect(changes.plain > 500)
    #expect(changes.margin > 5)
  }

  @Test("walks through a room are reported in time", arguments: [0, 1.0])
  func walks(memory: Double) {
    let walks = ZoneScenarios.walks(60, deviation: 0.1, memory: memory, seed: 12)
    #expect(walks.missed == 0 && walks.extra == 0)
    let sorted = walks.delays.sorted()
    #expect(sorted[sorted.count / 2] < 0.6)
    #expect(sorted.last ?? 9 < 1)
    let within = walks.timeErrors.count { abs($0) < 2 }
    #expect(within > walks.timeErrors.count * 80 / 100)
  }

  @Test("rooms bounce less than with the nearest anchor and with a fixed margin")
  func bounces() {
    var scenario = RoomScenario(seed: 13, memory: 1)
    let result = scenario.run(hours: 0.5)
    #expect(result.changes > 5)
    #expect(result.decided.bounces == 0)
    #expect(result.nearest.bounces > 10)
  }

  @Test(
    "a tag at rest on an edge changes no zone, however long its errors last", arguments: [1.0, 10])
  func slowErrors(memory: Double) {
    let changes = ZoneScenarios.rest(
      hours: 2, distance: 0, deviation: 0.1, memory: memory, rate: 5, seed: 110)
    #expect(changes.decided == 0)
    #expect(changes.plain > 100)
  }
}
