// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import Ranging

@Suite struct RegionTests {
  private typealias Region = RegionRules.Region

  private static func estimate(
    _ distance: Double, deviation: Double = 0, _ disposition: RangeEstimate.Disposition = .accepted
  ) -> RangeEstimate {
    RangeEstimate(
      time: 0, distance: distance, standardDeviation: 0.3, shortTermDeviation: deviation,
      velocity: 0, velocityStandardDeviation: 0, disposition: disposition)
  }

  /// `entered near` for each change.
  private static func words(_ changes: [RegionChange]) -> [String] {
    changes.map { "\($0.kind.rawValue) \($0.region.name) by \($0.cause.rawValue)" }
  }

  private struct Walk {
    var tracker: RegionTracker
    var time = 0.0
    var seen: [String] = []

    init(_ rules: RegionRules) { tracker = RegionTracker(rules) }

    mutating func stay(at distance: Double, deviation: Double = 0, for seconds: Double = 1) {
      for _ in 0..<Int(seconds * 5) {
        time += 0.2
        seen += words(tracker.update(estimate(distance, deviation: deviation), at: time))
      }
    }
  }

  @Test(arguments: [
    [Region("near", radius: .nan)], [Region("near", radius: -1)], [Region("near", radius: 0.2)],
    [Region("near", radius: .infinity)], [Region("near", radius: 1e5)],
    [Region("near", enter: 2, leave: 1)], [Region("near", enter: .nan, leave: 2)],
    [Region("near", enter: 1, leave: .infinity)],
    [Region("near", radius: 1), Region("near", radius: 3)],
    [Region("near", radius: 1), Region("far", radius: 1)],
    [Region("near", radius: 1), Region("far", radius: 1.15)],
    [Region("near", enter: 1, leave: 3), Region("far", enter: 2, leave: 2.5)],
    [Region("", radius: 1)], [Region("a b", radius: 1)], [Region("$(reboot)", radius: 1)],
    [Region("ä", radius: 1)], [Region(String(repeating: "a", count: 33), radius: 1)], [],
    (1...17).map { Region("r\($0)", radius: Double($0)) },
  ])
  func `Regions that cannot be are refused`(_ regions: [RegionRules.Region]) {
    let error = #expect(throws: RegionError.self) { try RegionRules(regions) }
    #expect(error?.description.hasSuffix(".") == true)
  }

  @Test(arguments: [0, -1, .nan, .infinity, 1e7])
  func `Times that cannot be are refused`(_ seconds: Double) {
    let near = [Region("near", radius: 1)]
    #expect(throws: RegionError.self) { try RegionRules(near, dwell: seconds) }
    #expect(throws: RegionError.self) { try RegionRules(near, absence: seconds) }
  }

  @Test func `The smallest radius can be entered`() throws {
    var walk = Walk(try RegionRules([Region("touch", radius: 0.3)]))
    walk.stay(at: 0.05, deviation: 10)
    #expect(walk.seen == ["entered touch by distance"])
  }

  @Test func `Larger regions are entered first and left last`() throws {
    var walk = Walk(try RegionRules([Region("far", radius: 4), Region("near", radius: 1)]))
    walk.stay(at: 5)
    walk.stay(at: 0.5)
    walk.stay(at: 9)
    #expect(
      walk.seen == [
        "entered far by distance", "entered near by distance", "left near by distance",
        "left far by distance",
      ])
  }

  @Test func `Noise at the boundary changes nothing, whatever its size`() throws {
    var noise = [0.12, -0.15, 0.08, -0.02, 0.18, -0.19].makeIterator()
    var walk = Walk(try RegionRules([Region("near", radius: 2)]))
    walk.stay(at: 1)
    while let error = noise.next() { walk.stay(at: 2 + error, deviation: 0.06) }
    // A poor distance has little weight.
    walk.stay(at: 2.8, deviation: 0.5)
    #expect(walk.seen == ["entered near by distance"])
    walk.stay(at: 2.8, deviation: 0.06)
    #expect(walk.seen.last == "left near by distance")
  }

  @Test func `A single estimate is not enough, and outliers do not count`() throws {
    var tracker = RegionTracker(try RegionRules([Region("near", radius: 2)]))
    for step in 0..<10 {
      let isNear = step % 3 != 2
      let changes = tracker.update(Self.estimate(isNear ? 1 : 3), at: Double(step) / 5)
      #expect(changes.isEmpty)
    }
    for step in 10..<20 {
      let rejected = Self.estimate(1, .rejectedAsOutlier)
      #expect(tracker.update(rejected, at: Double(step) / 5).isEmpty)
    }
  }

  @Test func `A peer that stays is told of once for each visit`() throws {
    var walk = Walk(try RegionRules([Region("near", radius: 2)], dwell: 3))
    for _ in 0..<2 {
      walk.stay(at: 1, for: 20)
      walk.stay(at: 5)
    }
    let visit = ["entered near by distance", "dwelled near by distance", "left near by distance"]
    #expect(walk.seen == visit + visit)
  }

  @Test func `A silent peer leaves in time, and enters again`() throws {
    let rules = try RegionRules(
      [Region("near", radius: 2), Region("far", radius: 4)], absence: 5)
    var walk = Walk(rules)
    #expect(walk.tracker.deadline == nil)
    walk.stay(at: 1)
    let heard = walk.time
    #expect(walk.tracker.deadline == heard + 5)
    #expect(walk.tracker.advance(to: heard + 4.9).isEmpty)
    let left = walk.tracker.advance(to: heard + 5)
    #expect(Self.words(left) == ["left near by silence", "left far by silence"])
    #expect(left.first?.estimate.distance == 1)
    #expect(walk.tracker.advance(to: heard + 50).isEmpty && walk.tracker.deadline == nil)
    // Without a call during the silence, the next distance reports the changes.
    walk.seen = []
    walk.time = heard + 60
    walk.stay(at: 1)
    #expect(walk.seen == ["entered far by distance", "entered near by distance"])
    walk.time += 10
    walk.stay(at: 1, for: 0.2)
    #expect(walk.seen.suffix(2) == ["left near by silence", "left far by silence"])
  }

  @Test func `At the end the peer is nowhere`() throws {
    var walk = Walk(try RegionRules([Region("near", radius: 2)]))
    #expect(walk.tracker.end(at: 0).isEmpty)
    walk.stay(at: 1)
    let end = walk.tracker.end(at: walk.time + 1)
    #expect(Self.words(end) == ["left near by ended"])
    #expect(abs((end.first?.duration ?? 0) - 1.4) < 1e-9)
    #expect(walk.tracker.end(at: walk.time + 2).isEmpty)
  }

  @Test func `A peer that is outside has not left`() throws {
    var walk = Walk(try RegionRules([Region("near", radius: 2)]))
    walk.stay(at: 9)
    #expect(walk.seen.isEmpty && walk.tracker.end(at: walk.time).isEmpty)
  }
}
