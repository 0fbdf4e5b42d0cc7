// SPDX-License-Identifier: Apache-2.0

import SiteScenarios
import Testing

@testable import UWBSite

@Suite("Doors")
struct DoorTests {
  /// Adds rounds without noise of a tag on the x axis. The tag is outside if x is positive.
  func rounds(
    _ watch: inout DoorWatch, from start: Double, xs: [Double], separation: Double = 0.4
  ) -> [Bool] {
    xs.enumerated().map { index, x in
      watch.update(
        at: start + Double(index) / 10, inside: abs(x + separation / 2),
        outside: abs(x - separation / 2), deviation: 0.05)
    }
  }

  /// The places of a walk at 1.2 m/s.
  func places(from: Double, to: Double) -> [Double] {
    let step = from > to ? -0.12 : 0.12
    return Array(stride(from: from, through: to, by: step))
  }

  @Test("an approach from outside unlocks once, and again after the tag has gone")
  func approach() {
    var watch = DoorWatch(separation: 0.4)
    let coming = rounds(&watch, from: 0, xs: places(from: 4, to: 0.5))
    #expect(coming.count { $0 } == 1)
    #expect(watch.state.side == .outside)
    #expect(abs(watch.state.approach - 1.2) < 0.01)
    let staying = rounds(&watch, from: 4, xs: Array(repeating: 0.5, count: 20))
    #expect(!staying.contains(true))
    _ = rounds(&watch, from: 7, xs: places(from: 0.5, to: 4))
    let again = rounds(&watch, from: 12, xs: places(from: 4, to: 0.5))
    #expect(again.count { $0 } == 1)
  }

  @Test("a door unlocks in time for persons outside, and for none inside")
  func manyPersons() {
    var scenario = DoorScenario(seed: 113)
    let right = scenario.run(.approach, count: 300)
    #expect(right.delays.count { $0 <= 0.7 } >= 294)
    let along = scenario.run(.along, count: 300)
    #expect(along.unlocked == 0 && along.single > 0)
  }

  @Test("inside, and outside without an approach, the door stays locked")
  func others() {
    var watch = DoorWatch(separation: 0.4)
    let coming = rounds(&watch, from: 0, xs: places(from: -4, to: -0.5))
    #expect(!coming.contains(true))
    #expect(watch.state.side == .inside && watch.state.outside < 1e-4)
    watch = DoorWatch(separation: 0.4)
    let standing = rounds(&watch, from: 0, xs: Array(repeating: 1, count: 50))
    #expect(!standing.contains(true))
    #expect(watch.state.side == .outside)
    // A tag that goes out is outside, but moves away from the door.
    watch = DoorWatch(separation: 0.4)
    let going = rounds(&watch, from: 0, xs: places(from: -1, to: 4))
    #expect(!going.contains(true))
  }

  @Test("one round, or rounds with a gap, decide nothing")
  func few() {
    var watch = DoorWatch(separation: 0.4)
    let short = rounds(&watch, from: 0, xs: [1.4, 1.28, 1.16])
    #expect(!short.contains(true))
    #expect(watch.state == DoorWatch.State())
    var sparse = DoorWatch(separation: 0.4)
    for index in 0..<10 {
      let x = 4 - 0.4 * Double(index)
      let isUnlocked = sparse.update(
        at: Double(index), inside: x + 0.2, outside: x - 0.2, deviation: 0.05)
      #expect(!isUnlocked)
    }
    let isUnlocked = sparse.update(at: 20, inside: .nan, outside: 1, deviation: 0.05)
    #expect(!isUnlocked)
  }

  @Test("beside the door, and with unsure boards, the side is not stated")
  func unsure() {
    var watch = DoorWatch(separation: 0.4)
    for index in 0..<10 {
      _ = watch.update(at: Double(index) / 10, inside: 1.1, outside: 1, deviation: 0.05)
    }
    #expect(watch.state.side == .unsure)
    var rules = DoorRules()
    rules.biasDeviation = 0.3
    watch = DoorWatch(separation: 0.4, rules: rules)
    let coming = rounds(&watch, from: 0, xs: places(from: 4, to: 0.5))
    #expect(!coming.contains(true))
    #expect(watch.state.side == .unsure)
  }

  @Test("in simulated passes the door opens for the ones outside only")
  func passes() {
    var scenario = DoorScenario(seed: 21)
    let right = scenario.run(.approach, count: 200)
    #expect(right.delays.count { $0 <= 0.7 } >= 190)
    for walk in [DoorScenario.Walk.along, .insideApproach] {
      let wrong = scenario.run(walk, count: 200)
      #expect(wrong.unlocked == 0)
    }
    let along = scenario.run(.along, count: 200)
    #expect(along.single > 0)
  }
}

@Suite("Floors")
struct FloorTests {
  static let floors = [
    Site.Floor(id: "first", height: 3.5), Site.Floor(id: "ground", height: 0),
    Site.Floor(id: "second", height: 7),
  ]

  /// Adds rounds of a tag on a floor. The probability that a round has an anchor depends on the
  /// distance to the anchor.
  func stay(
    _ filter: inout FloorFilter, on floor: Int, seconds: Double, from start: Double,
    connection: Double = 0, noise: inout ScenarioNoise
  ) -> [FloorFilter.Change] {
    let names = ["ground", "first", "second"]
    return (0..<Int(seconds * 5)).compactMap { step in
      let anchors = names.enumerated().flatMap { index, name in
        let slabs = abs(index - floor)
        return (0..<3).map { _ in
          let isReached = noise.uniform() < [0.85, 0.3, 0.03][slabs]
          let loss = Double(slabs) * 15 + 8 * noise.normal()
          return FloorEvidence.Anchor(
            floor: name, isReached: isReached, excessLoss: isReached ? loss : nil)
        }
      }
      return filter.update(
        at: start + Double(step) / 5, FloorEvidence(anchors: anchors), connection: connection)
    }
  }

  @Test("a floor is decided in seconds, and changes in the stairs")
  func stairs() {
    var noise = ScenarioNoise(seed: 31)
    var filter = FloorFilter(Self.floors)
    let first = stay(&filter, on: 0, seconds: 20, from: 0, noise: &noise)
    #expect(first.map(\.to) == ["ground"] && first.first?.from == nil)
    #expect((first.first?.decided ?? 99) < 8)
    let climbing = stay(&filter, on: 1, seconds: 20, from: 20, connection: 1, noise: &noise)
    #expect(climbing.map(\.to) == ["first"] && climbing.first?.from == "ground")
    #expect((climbing.first?.decided ?? 99) < 30)
    #expect((climbing.first?.happened ?? 0) >= 20)
    #expect(filter.floor == "first" && filter.probability(of: "first") > 0.95)
  }

  @Test("an hour on one floor has no changes, and wrong rounds of a second neither")
  func rest() {
    var noise = ScenarioNoise(seed: 32)
    var filter = FloorFilter(Self.floors)
    _ = stay(&filter, on: 1, seconds: 20, from: 0, noise: &noise)
    var changes = stay(&filter, on: 1, seconds: 600, from: 20, noise: &noise)
    changes += stay(&filter, on: 2, seconds: 1, from: 620, noise: &noise)
    changes += stay(&filter, on: 1, seconds: 20, from: 621, noise: &noise)
    #expect(changes.isEmpty && filter.floor == "first")
  }

  @Test("a height is evidence, and an unusable one is none")
  func height() {
    var filter = FloorFilter(Self.floors)
    var evidence = FloorEvidence()
    evidence.height = 4.8
    evidence.heightDeviation = 0.5
    let changes = (0..<100).compactMap {
      filter.update(at: Double($0) / 5, evidence, connection: 0)
    }
    #expect(changes.map(\.to) == ["first"])
    evidence.height = .nan
    let unusable = filter.update(at: 100, evidence, connection: 0)
    let late = filter.update(at: 50, evidence, connection: 0)
    #expect(unusable == nil && late == nil)
    #expect(filter.floor == "first")
  }

  @Test("without floors there is nothing to decide")
  func none() {
    var filter = FloorFilter([])
    let change = filter.update(at: 0, FloorEvidence(), connection: 1)
    #expect(change == nil)
    #expect(filter.floor == nil && filter.probability(of: "ground") == 0)
  }
}
