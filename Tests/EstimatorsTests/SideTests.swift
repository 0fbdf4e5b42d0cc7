// SPDX-License-Identifier: Apache-2.0
import Estimators
import Ranging
import RangingScenes
import Testing
import UWBTestSupport

/// Directions whose phases are nearly the phases of another direction.
@Suite("Sides of rings", .computes, .timeLimit(.minutes(10)))
struct SideTests {
  private static func share(_ told: [RingScene.Told]) -> Double {
    Double(told.count(where: \.isRight)) / Double(max(1, told.count))
  }

  private static func certain(_ told: [RingScene.Told]) -> Double {
    Double(told.count { $0.probability >= 0.9 }) / Double(told.count)
  }

  @Test("Directions are as often on the right side as they say", arguments: [false, true])
  func sides(live: Bool) {
    let resting = RingScene.told(spacing: 0.495, .resting, live: live, seeds: 1..<5)
    let (sure, unsure) = (
      resting.filter { $0.probability >= 0.9 }, resting.filter { $0.probability < 0.7 }
    )
    #expect(Self.share(resting) < 0.99 && !sure.isEmpty && !unsure.isEmpty)
    #expect(Self.share(sure) > 0.9, "\(Self.share(sure)) of \(sure.count)")
    #expect(0.4...0.9 ~= Self.share(unsure), "\(Self.share(unsure)) of \(unsure.count)")
    let mean = resting.reduce(0) { $0 + $1.probability } / Double(resting.count)
    #expect(mean < Self.share(resting) + 0.02, "\(mean) \(Self.share(resting))")
    // Earlier positions of a person who walks around determine the direction.
    let walking = RingScene.told(spacing: 0.495, .walking, live: live, seeds: 1..<3)
    #expect(Self.share(walking.filter { $0.probability >= 0.7 }) == 1)
    let told = Self.certain(walking)
    #expect(told > 0.9, "\(told)")
  }

  @Test("Antennas that are nearer to each other tell sides", arguments: [false, true])
  func near(live: Bool) {
    for path in [RingScene.Path.resting, .walking] {
      let told = RingScene.told(spacing: 0.42, path, live: live, seeds: 1..<2)
      #expect(Self.share(told) == 1)
      #expect(Self.certain(told) > 0.98)
    }
  }

  @Test(
    "Rows that have nothing to do with each other say nothing of sides",
    arguments: [false, true])
  func apart(live: Bool) {
    let told = RingScene.told(spacing: 0.495, .jumping, live: live, seeds: 1..<4)
    let wrong = told.count { !$0.isRight && $0.probability >= 0.7 }
    #expect(Double(wrong) < 0.02 * Double(told.count), "\(wrong) of \(told.count)")
    let sure = told.filter { $0.probability >= 0.9 }
    #expect(Self.share(sure) > 0.97, "\(Self.share(sure)) of \(sure.count)")
    #expect(2 * sure.count > told.count)
  }

  @Test("After an hour, nothing of before counts", arguments: [false, true])
  func gaps(live: Bool) throws {
    let radius = 0.495 / 2.0.squareRoot()
    let corners = [(radius, 0.0), (0, radius), (-radius, 0), (0, -radius)]
    let pairs = corners.indices.map { index in
      let (here, next) = (corners[index], corners[(index + 1) % 4])
      var pair = AntennaPair(.baseline(x: here.0 - next.0, y: here.1 - next.1, z: 0))
      pair.modelDeviation = 4 * .pi / 180
      return pair
    }
    let finder = try #require(DirectionFinder(pairs))
    func rows(_ degrees: Double, from start: Int) -> [(time: Double, phases: [Double?])] {
      (0..<40).map { step in
        (
          time: Double(start) + Double(step) / 10,
          phases: pairs.map { $0.phase(azimuth: degrees * .pi / 180, elevation: 0) }
        )
      }
    }
    let (before, after) = (rows(45, from: 0), rows(-135, from: 3_600))
    let alone = finder.directions(after, live: live)
    let found = finder.directions(before + after, live: live).suffix(after.count)
    for (found, alone) in zip(found, alone) {
      let (found, alone) = (try #require(found), try #require(alone))
      #expect(abs(found.azimuth - alone.azimuth) < 0.01)
      #expect(abs(found.probability - alone.probability) < 0.01)
    }
  }
}
