// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import UWBSite

@Suite("One tag and one zone")
struct ZonePresenceTests {
  let rules = ZoneRules()

  /// Adds ten estimates a second, with the given distances and a deviation of 10 cm.
  func changes(
    _ presence: inout ZonePresence, _ distances: [Double], from start: Double = 0,
    interval: Double = 0.1, margin: Double = 0
  ) -> [(step: Int, change: ZonePresence.Change)] {
    distances.enumerated().compactMap { step, distance in
      presence.update(
        time: start + Double(step) * interval, distance: distance, deviation: 0.1,
        probability: Math.normalBelow(distance / 0.1), margin: margin, rules: rules
      ).map { (step, $0) }
    }
  }

  func crossing(_ change: ZonePresence.Change?) -> ZonePresence.Crossing? {
    switch change {
    case .entered(let crossing), .left(let crossing, _): crossing
    case nil: nil
    }
  }

  @Test("the first decision outside is silent, the first one inside is an event")
  func first() {
    var outside = ZonePresence()
    let none = changes(&outside, Array(repeating: -2, count: 10))
    #expect(none.isEmpty)
    #expect(!outside.isInside && outside.probability < 1e-9)
    var inside = ZonePresence()
    let entered = changes(&inside, Array(repeating: 2, count: 10))
    #expect(entered.count == 1 && inside.isInside)
    #expect(crossing(entered.first?.change)?.time == 0)
    #expect(crossing(entered.first?.change)?.deviation == .infinity)
  }

  @Test("the time at the edge is interpolated, and its deviation follows from the speed")
  func interpolation() {
    var presence = ZonePresence()
    _ = changes(&presence, Array(repeating: -2, count: 10), from: -5)
    let entered = changes(&presence, [-0.3, 0.1, 0.5, 0.9, 1.3, 1.7])
    let time = crossing(entered.first?.change)
    #expect(abs((time?.time ?? 0) - 0.075) < 1e-12)
    // At 4 m/s, the deviation of the estimates is 25 ms, and the interval adds 29 ms.
    #expect(abs((time?.deviation ?? 0) - 0.0382) < 1e-4)
    let left = changes(&presence, [1, 0.2, -0.2, -0.6, -1, -1.4, -1.8], from: 10)
    guard case .left(let crossing, let dwell) = left.first?.change else {
      Issue.record("the tag has not left")
      return
    }
    #expect(abs(crossing.time - 10.15) < 1e-12)
    #expect(abs(dwell - 10.075) < 1e-12)
  }

  @Test("a gap makes the time at the edge uncertain")
  func gap() {
    var presence = ZonePresence()
    _ = changes(&presence, Array(repeating: -2, count: 10), from: -5)
    let entered = changes(&presence, [2, 2, 2, 2], from: 60)
    let time = crossing(entered.first?.change)
    #expect((time?.deviation ?? 0) > 18)
    #expect((time?.time ?? 0) > 27 && (time?.time ?? 99) < 29)
  }

  @Test("a place that is sure at once still waits for the shortest time")
  func shortest() {
    var presence = ZonePresence()
    _ = changes(&presence, Array(repeating: -2, count: 10), from: -5)
    let fast = changes(&presence, [3, 3, 3, 3])
    #expect(fast.first?.step == 2)
    var slow = ZonePresence()
    _ = changes(&slow, Array(repeating: -2, count: 10), from: -50, interval: 5)
    let found = changes(&slow, [3, 3], interval: 5)
    #expect(found.first?.step == 1)
  }

  @Test("a likely place is decided after the longest time, unless it is interrupted")
  func longest() {
    var presence = ZonePresence()
    _ = changes(&presence, Array(repeating: -2, count: 10), from: -5)
    let likely = Array(repeating: 0.2, count: 200)
    let steps = changes(&presence, likely).map(\.step)
    #expect(steps.count == 1)
    #expect(abs(Double(steps.first ?? 0) / 10 - rules.longest) < 0.2)
    var interrupted = ZonePresence()
    _ = changes(&interrupted, Array(repeating: -2, count: 10), from: -5)
    var distances = likely
    for index in stride(from: 50, to: 200, by: 50) { distances[index] = 0 }
    let none = changes(&interrupted, distances)
    #expect(none.isEmpty)
  }

  @Test("the last crossing counts, not an earlier one that was not decided")
  func lastCrossing() {
    var presence = ZonePresence()
    _ = changes(&presence, Array(repeating: -2, count: 10), from: -5)
    let entered = changes(&presence, [-0.1, 0.1, -0.1, 0.1, 1, 1, 1, 1])
    #expect(abs((crossing(entered.first?.change)?.time ?? 0) - 0.25) < 1e-12)
  }

  @Test("within a margin nothing changes, in both directions")
  func margin() {
    var presence = ZonePresence()
    _ = changes(&presence, Array(repeating: -2, count: 10), from: -5, margin: 2)
    let still = changes(&presence, Array(repeating: 0.9, count: 300), margin: 2)
    #expect(still.isEmpty)
    let entered = changes(&presence, Array(repeating: 1.1, count: 5), from: 40, margin: 2)
    #expect(entered.count == 1)
    let staying = changes(&presence, Array(repeating: -0.9, count: 300), from: 50, margin: 2)
    #expect(staying.isEmpty)
    let left = changes(&presence, Array(repeating: -1.1, count: 5), from: 90, margin: 2)
    #expect(left.count == 1)
  }
}
