// SPDX-License-Identifier: Apache-2.0

import Foundation
package import UWBSite

/// Simulates tags that walk through the rooms of the demo, and their ranges by a plan.
package struct DemoWorld: Sendable {
  package enum Step: Sendable, Hashable {
    /// The ranges of one round, with the true place of its tag.
    case round(tag: Int, time: Double, [Range], truth: SIMD3<Double>)
    case unplugged(anchor: Int, time: Double)
    case pluggedIn(anchor: Int, time: Double)
  }

  package struct Range: Sendable, Hashable {
    package var anchor: Int
    package var distance: Double
  }

  /// The stated deviation of a range in metres; walls add more than that.
  package static let deviation = 0.1
  private static let noise = 0.06
  /// The anchor that is unplugged for some time.
  private static let unplugged = 3

  package let plan: Plan
  package let tags: [String]
  package let anchors: [String]
  /// The duration in seconds.
  package let duration: Double

  private var noise: ScenarioNoise
  private var walkers: [DemoWalker]
  private var delays: [Double]
  private var constants: [[Double]]
  private var block = 0
  private var next = 0
  private var isAway = false

  /// - Parameter duration: the duration in seconds. From 40 to 60 % of it, an anchor is unplugged.
  package init(seed: UInt64, tags count: Int, duration: Double) throws(PlanRefusal) {
    plan = try Plan(
      .twoWayByTags, PlanRequest(anchors: DemoBuilding.anchors.count, tags: count, rate: 2))
    self.duration = duration
    tags = (0..<count).map(DemoBuilding.tag)
    anchors = DemoBuilding.anchors.indices.map { "A\($0)" }
    var noise = ScenarioNoise(seed: seed, stream: 0xDE30)
    walkers = (0..<count).map { DemoWalker(room: $0 % 6, &noise) }
    delays = (0..<count).map { _ in DemoBuilding.delay + 0.03 * noise.normal() }
    constants = (0..<count).map { _ in DemoBuilding.anchors.map { _ in 0.03 * noise.normal() } }
    self.noise = noise
  }

  /// Returns the next round of the plan, or a change of an anchor; nil at the end.
  package mutating func step() -> Step? {
    let round = plan.rounds[next]
    let time = Double(block) * plan.block + round.start
    guard time < duration else { return nil }
    let isAway = (0.4..<0.6).contains(time / duration)
    if isAway != self.isAway {
      self.isAway = isAway
      return isAway
        ? .unplugged(anchor: Self.unplugged, time: time)
        : .pluggedIn(anchor: Self.unplugged, time: time)
    }
    let tag = next
    next += 1
    if next == plan.rounds.count { (next, block) = (0, block + 1) }
    let place = walkers[tag].place(at: time, &noise)
    let ranges = DemoBuilding.anchors.indices.compactMap { range($0, tag, place) }
    return .round(tag: tag, time: time, ranges, truth: place)
  }

  /// Returns a range; nil if the anchor is unplugged, or its answer was lost.
  private mutating func range(_ anchor: Int, _ tag: Int, _ place: SIMD3<Double>) -> Range? {
    guard !(isAway && anchor == Self.unplugged), noise.uniform() > 0.03 else { return nil }
    let arm = place - DemoBuilding.anchors[anchor]
    let there = SIMD2(DemoBuilding.anchors[anchor].x, DemoBuilding.anchors[anchor].y)
    let walls = DemoBuilding.walls(SIMD2(place.x, place.y), there)
    var distance =
      (arm * arm).sum().squareRoot() + DemoBuilding.delay + delays[tag] + constants[tag][anchor]
    distance += Self.noise * noise.normal()
    for _ in 0..<walls {
      // Plaster delays the signal a little. Sometimes only a signal on a detour arrives.
      distance += 0.03
      if noise.uniform() < 0.08 { distance += noise.exponential(0.5) }
    }
    return Range(anchor: anchor, distance: max(0, (distance * 1000).rounded() / 1000))
  }
}

/// A tag that rests in a room, then walks to the next room through the door.
struct DemoWalker: Sendable {
  private static let speed = 1.2

  private var place: SIMD2<Double>
  private var room: Int
  private var path: [SIMD2<Double>] = []
  private var rest: Double
  private var time = 0.0
  private let height: Double

  init(room: Int, _ noise: inout ScenarioNoise) {
    self.room = room
    place = Self.spot(room, &noise)
    rest = noise.uniform(0, 15)
    height = noise.uniform(0.9, 1.3)
  }

  /// Returns a place in a room, away from its walls.
  private static func spot(_ room: Int, _ noise: inout ScenarioNoise) -> SIMD2<Double> {
    DemoBuilding.center(room) + SIMD2(noise.uniform(-2.3, 2.3), noise.uniform(-2.3, 2.3))
  }

  /// Moves the tag to its place at a time.
  mutating func place(at now: Double, _ noise: inout ScenarioNoise) -> SIMD3<Double> {
    var left = now - time
    time = now
    while left > 0 {
      if path.isEmpty {
        let pause = min(rest, left)
        (rest, left) = (rest - pause, left - pause)
        if rest <= 0 { leave(&noise) }
      } else {
        let gap = path[0] - place
        let length = (gap * gap).sum().squareRoot()
        let way = min(length, Self.speed * left)
        place += length > 0 ? way / length * gap : .zero
        left -= max(way / Self.speed, 1e-9)
        if way >= length { path.removeFirst() }
        if path.isEmpty { rest = noise.uniform(4, 20) }
      }
    }
    return SIMD3(place.x, place.y, height)
  }

  private mutating func leave(_ noise: inout ScenarioNoise) {
    let beside = DemoBuilding.neighbours(room)
    let goal = beside[min(beside.count - 1, Int(noise.uniform(0, Double(beside.count))))]
    let door = (DemoBuilding.center(room) + DemoBuilding.center(goal)) / 2
    path = [DemoBuilding.center(room), door, DemoBuilding.center(goal), Self.spot(goal, &noise)]
    room = goal
  }
}
