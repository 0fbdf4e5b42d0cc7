// SPDX-License-Identifier: Apache-2.0

import SiteScenarios
import Testing

@testable import UWBSite

/// Drones among anchors that are off by centimetres, with differences alone.
@Suite struct FlightTests {
  private struct Flown {
    var squares: [Double] = []
    /// The errors along each axis, divided by the stated deviations.
    var multiples: [Double] = []

    var rms: Double { (squares.reduce(0, +) / Double(max(1, squares.count))).squareRoot() }
  }

  private func fly(_ seeds: ClosedRange<UInt64>, _ height: TagTrack.Height) -> Flown {
    var flown = Flown()
    let anchors = FlightScenario.anchors.map {
      TagTrack.Anchor($0, deviation: 0.05, delayDeviation: 0)
    }
    for seed in seeds {
      var scenario = FlightScenario()
      (scenario.seconds, scenario.rate, scenario.slow) = (15, 200, 0.05)
      (scenario.speed, scenario.seed) = (1.5, seed)
      var track = TagTrack(.drone, height)
      var next = 3.0
      for sample in scenario.run() {
        _ = track.add(sample.measurement, anchors)
        guard sample.measurement.time >= next else { continue }
        next += 0.1
        guard case .place(let place) = track.answer() else { continue }
        let error = place.position - sample.truth
        flown.squares.append((error * error).sum())
        let spread = place.spread
        flown.multiples += [
          error.x / spread.xx.squareRoot(), error.y / spread.yy.squareRoot(),
          error.z / spread.zz.squareRoot(),
        ]
      }
    }
    return flown
  }

  @Test("Places of flights have honest deviations, and slow errors do not look like speed")
  func places() {
    let flown = fly(3001...3004, .within(0...3.5))
    #expect(flown.squares.count > 470)
    #expect(flown.rms < 0.14, "\(flown.rms)")
    let within = Double(flown.multiples.count { abs($0) < 2 }) / Double(flown.multiples.count)
    #expect(within > 0.92, "\(within)")
  }

  @Test("The height of the room gives a drone its start, and does not pull it afterwards")
  func band() {
    let (low, wide) = (fly(3001...3001, .within(0...2.5)), fly(3001...3001, .within(0...20)))
    #expect(abs(low.rms - wide.rms) < 0.03, "\(low.rms) \(wide.rms)")
  }

  @Test("Scenarios of near seeds have no numbers in common")
  func seeds() {
    func numbers(_ seed: UInt64) -> Set<Double> {
      var noise = ScenarioNoise(seed: seed)
      return Set((0..<200).map { _ in noise.uniform() })
    }
    let all = (1000...1010).map { numbers(UInt64($0)) }
    for (first, second) in zip(all, all.dropFirst()) { #expect(first.isDisjoint(with: second)) }
    #expect(numbers(7) == numbers(7))
  }
}
