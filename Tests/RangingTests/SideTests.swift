// SPDX-License-Identifier: Apache-2.0
import RangingScenes
import Testing

/// Directions whose phases are nearly those of another direction.
@Suite("Sides of rings", .timeLimit(.minutes(10)))
struct SideTests {
  private static func share(_ told: [RingScene.Told]) -> Double {
    Double(told.count(where: \.isRight)) / Double(max(1, told.count))
  }

  private static func certain(_ told: [RingScene.Told]) -> Double {
    Double(told.count { $0.probability >= 0.9 }) / Double(told.count)
  }

  @Test("Directions are as often on the right side as they say", arguments: [false, true])
  func sides(live: Bool) {
    let resting = RingScene.told(spacing: 0.495, walks: false, live: live, seeds: 1..<25)
    let (sure, unsure) = (
      resting.filter { $0.probability >= 0.9 }, resting.filter { $0.probability < 0.7 }
    )
    #expect(Self.share(resting) < 0.99 && !sure.isEmpty && !unsure.isEmpty)
    #expect(Self.share(sure) > 0.9, "\(Self.share(sure)) of \(sure.count)")
    #expect(0.4...0.9 ~= Self.share(unsure), "\(Self.share(unsure)) of \(unsure.count)")
    let mean = resting.reduce(0) { $0 + $1.probability } / Double(resting.count)
    #expect(mean < Self.share(resting) + 0.02, "\(mean) \(Self.share(resting))")
    // Who walks round has been seen elsewhere.
    let walking = RingScene.told(spacing: 0.495, walks: true, live: live, seeds: 1..<9)
    #expect(Self.share(walking.filter { $0.probability >= 0.7 }) == 1)
    let told = Self.certain(walking)
    #expect(told > 0.9, "\(told)")
  }

  @Test("Antennas that are nearer to each other tell sides", arguments: [false, true])
  func near(live: Bool) {
    for walks in [false, true] {
      let told = RingScene.told(spacing: 0.42, walks: walks, live: live, seeds: 1..<5)
      #expect(Self.share(told) == 1)
      #expect(Self.certain(told) > 0.98)
    }
  }
}
