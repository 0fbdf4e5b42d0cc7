// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import NearbyInteraction

/// Regions with radii of 1.5 and 3 metres.
@Suite struct RegionTests {
  private let token = NIDiscoveryToken.accessory()

  private func object(_ metres: Float?) -> NINearbyObject {
    NINearbyObject(token: token, distance: metres)
  }

  /// A walk towards an object and away from it.
  @Test func boundariesAreCrossedOncePerWalk() {
    var regions = NIProximityRegions([3, 1.5])
    var seen: [String] = []
    let way = stride(from: Float(5), to: 0.5, by: -0.05)
    for metres in Array(way) + Array(way).reversed() {
      for change in regions.update(object(metres)) {
        #expect(change.object == token)
        seen.append("\(change.event) \(change.radius)")
        let gap = abs(metres - change.radius)
        #expect(gap < 0.5, "\(metres)")
      }
    }
    #expect(seen == ["entered 3.0", "entered 1.5", "left 1.5", "left 3.0"])
    #expect(regions.smallest(around: token) == nil)
  }

  @Test func objectsAtTheBoundaryDoNotToggle() {
    var regions = NIProximityRegions([1.5])
    var changes = 0
    for step in 0..<1_000 {
      changes += regions.update(object(1.5 + 0.15 * (step % 2 == 0 ? 1 : -1))).count
    }
    #expect(changes == 0)
    for _ in 0..<3 { changes += regions.update(object(1)).count }
    #expect(changes == 1 && regions.smallest(around: token) == 1.5)
    for step in 0..<1_000 {
      changes += regions.update(object(1.5 + 0.15 * (step % 2 == 0 ? 1 : -1))).count
    }
    #expect(changes == 1)
    // An object that stays slightly inside, then slightly outside, causes no event either.
    for step in 0..<1_000 {
      changes += regions.update(object(1.5 + 0.15 * (step / 50 % 2 == 0 ? 1 : -1))).count
    }
    #expect(changes == 1)
  }

  @Test func startingInsideEntersAndStartingOutsideDoesNothing() {
    var regions = NIProximityRegions([1.5, 3], confirmations: 1)
    #expect(regions.update(object(10)).isEmpty)
    #expect(regions.update(object(nil)).isEmpty)
    #expect(regions.update(object(.nan)).isEmpty)
    let inside = regions.update(object(1))
    #expect(inside.map(\.radius) == [3, 1.5] && inside.allSatisfy { $0.event == .entered })
    let gone = regions.remove(object(nil))
    #expect(gone.map(\.radius) == [1.5, 3] && gone.allSatisfy { $0.event == .left })
    #expect(regions.remove(object(nil)).isEmpty)
  }
}
