// SPDX-License-Identifier: Apache-2.0
import Ranging
import Testing

@Suite struct ProximityZoneTests {
  /// The hysteresis includes its ends.
  @Test(arguments: [(1.0, false), (1.0.nextDown, true)], [(2.0, false), (2.0.nextUp, true)])
  func `A zone changes beyond its ends only`(
    _ entry: (at: Double, changes: Bool), _ exit: (at: Double, changes: Bool)
  ) {
    var zone = ProximityZone(enter: 1, leave: 2, confirmations: 1)
    #expect((zone.update(distance: entry.at) == .entered) == entry.changes)
    _ = zone.update(distance: 0)
    #expect((zone.update(distance: exit.at) == .left) == exit.changes)
  }

  @Test func `A zone does not toggle at its boundary`() {
    var noise = Noise(seed: 23)
    var zone = ProximityZone(around: 2, standardDeviation: 0.1, speed: 1, interval: 0.2)
    var estimator = RangeEstimator()
    var events: [ProximityZone.Event] = []
    func stay(_ distance: Double, _ from: Double, _ seconds: Double) {
      for step in 0..<Int(seconds * 5) {
        let sample = RangeSample(
          time: from + Double(step) / 5, distance: distance + 0.1 * noise.normal())
        if let distance = estimator.update(sample)?.distance,
          let event = zone.update(distance: distance)
        {
          events.append(event)
        }
      }
    }
    stay(4, 0, 20)
    stay(2, 20, 3600)
    #expect(events == [.left])
    stay(1, 3620, 20)
    stay(2, 3640, 3600)
    stay(3, 7240, 20)
    #expect(events == [.left, .entered, .left])
  }
}
