// SPDX-License-Identifier: Apache-2.0

import SiteScenarios
import Testing

@testable import UWBSite

@Suite struct DemoWorldTests {
  @Test("The anchors of the demo find their places, within the stated deviations")
  func survey() throws {
    for seed in 1...5 as ClosedRange<UInt64> {
      let demo = try DemoSurvey(seed: seed, tags: 20)
      #expect(demo.site.anchors.count == 6 && demo.site.zones.count == 6)
      #expect(demo.site.tags.map(\.id).prefix(2) == ["T01", "T02"])
      for (place, error) in zip(demo.survey.places, demo.errors) {
        #expect(error <= 4 * max(place.ellipse.axes.major, 0.001))
      }
    }
  }

  @Test("Rounds follow the plan; one anchor is away from 40 to 60 % of the time")
  func plan() throws {
    var world = try DemoWorld(seed: 1, tags: 20, duration: 20)
    var (rounds, last) = (0, -1.0)
    var changes: [Double] = []
    var away = 0
    while let step = world.step() {
      switch step {
      case .round(let tag, let time, let ranges, let truth):
        #expect(time > last && tag == rounds % 20)
        #expect((0...18).contains(truth.x) && (0...12).contains(truth.y))
        (rounds, last) = (rounds + 1, time)
        if (8..<12).contains(time) { away += ranges.count { $0.anchor == 3 } }
        #expect(ranges.allSatisfy { (0...25).contains($0.distance) })
      case .unplugged(3, let time), .pluggedIn(3, let time): changes.append(time)
      default: Issue.record("\(step)")
      }
    }
    #expect(rounds == 800 && away == 0)
    #expect(changes == [8, 12])
  }

  @Test("Tags walk no faster than 1.2 m/s, and through doors only")
  func walls() throws {
    var world = try DemoWorld(seed: 2, tags: 1, duration: 600)
    var before: (time: Double, place: SIMD3<Double>)?
    var crossings = 0
    while let step = world.step() {
      guard case .round(_, let time, _, let place) = step else { continue }
      defer { before = (time, place) }
      guard let before else { continue }
      #expect((place - before.place).length <= 1.2 * (time - before.time) + 1e-6)
      // Doors are in the middle of the walls at x = 6 and 12, and y = 6.
      for wall in [6.0, 12] where (place.x < wall) != (before.place.x < wall) {
        crossings += 1
        #expect(abs(place.y - 3) < 0.7 || abs(place.y - 9) < 0.7)
      }
      if (place.y < 6) != (before.place.y < 6) {
        crossings += 1
        #expect([3, 9, 15].contains { abs(place.x - $0) < 0.7 })
      }
    }
    #expect(crossings > 10)
  }
}
