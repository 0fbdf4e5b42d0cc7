// SPDX-License-Identifier: Apache-2.0

import SiteScenarios
import Testing

@testable import UWBSite

/// Rounds of downlink TDoA with missing values, restarts and several clusters.
@Suite struct DownlinkRoundsTests {
  private func error(
    _ arrivals: Arrivals, _ anchor: Int, _ truth: SIMD3<Double>
  ) -> Double {
    let (near, far) = (DownlinkScenario.anchors[0], DownlinkScenario.anchors[anchor])
    return (arrivals.difference(0, anchor) ?? .infinity)
      - ((truth - far).length - (truth - near).length)
  }

  @Test("A single round without carriers has no differences; with carriers they are rough")
  func firstRound() {
    var (bare, rough) = (0, [Double]())
    for seed in 0..<20 {
      var scenario = DownlinkScenario()
      (scenario.blocks, scenario.seed) = (1, UInt64(seed))
      let (truth, messages) = scenario.run()
      var rounds = DownlinkRounds(places: DownlinkScenario.anchors)
      for message in messages {
        var message = message
        message.anchorOffset = nil
        bare += rounds.add(message).count
      }
      rounds = DownlinkRounds(places: DownlinkScenario.anchors)
      for arrivals in messages.flatMap({ rounds.add($0) }) {
        rough += (1...6).map { error(arrivals, $0, truth) }
      }
    }
    #expect(bare == 0 && rough.count == 120)
    let rms = (rough.reduce(0) { $0 + $1 * $1 } / 120).squareRoot()
    // 0.05 ppm of replies of 2 to 12 ms.
    #expect(0.06...0.2 ~= rms, "\(rms)")
  }

  @Test("Without a time of flight and without places, a responder is left out")
  func withoutFlight() {
    let (truth, messages) = DownlinkScenario().run()
    var rounds = DownlinkRounds()
    var found = messages.flatMap { rounds.add($0) }
    #expect(found.isEmpty)
    rounds = DownlinkRounds()
    for message in messages {
      var message = message
      let arm = DownlinkScenario.anchors[message.anchor] - DownlinkScenario.anchors[0]
      if message.anchor == 4 { message.flight = arm.length / Ticks.metres }
      found += rounds.add(message)
    }
    #expect(found.allSatisfy { $0.entries.map(\.anchor) == [0, 4] })
    #expect(found.last.map { abs(error($0, 4, truth)) < 0.3 } == true)
  }

  @Test("Times that all anchors share lead to the same differences as their own")
  func commonTimeBase() {
    var errors: [Double] = []
    for seed in UInt64(0)..<20 {
      var scenario = DownlinkScenario()
      (scenario.isCommonTimeBase, scenario.seed) = (true, seed)
      let (truth, messages) = scenario.run()
      // Works without places, since the times of sending contain the flight between anchors.
      var rounds = DownlinkRounds()
      let last = messages.flatMap { rounds.add($0) }.last
      errors += (1...6).compactMap { anchor in last.map { error($0, anchor, truth) } }
    }
    let rms = (errors.reduce(0) { $0 + $1 * $1 } / Double(max(1, errors.count))).squareRoot()
    // Each error comes from two stamps of 120 ps, one of which is the mean of two stamps.
    #expect(errors.count == 120 && 0.02...0.07 ~= rms, "\(errors.count) \(rms)")
  }

  @Test("A restarted responder is compared by its new stamps only")
  func restartedResponder() {
    let (truth, messages) = DownlinkScenario().run()
    var rounds = DownlinkRounds(places: DownlinkScenario.anchors)
    var errors: [Double] = []
    for message in messages {
      var message = message
      if message.anchor == 3, message.block >= 3 {
        message.sent = (message.sent &+ 123_456_789_012) & (1 << 40 - 1)
      }
      for arrivals in rounds.add(message) { errors.append(error(arrivals, 3, truth)) }
    }
    #expect(errors.count == 6 && errors.allSatisfy { abs($0) < 0.6 }, "\(errors)")
  }

  @Test("Clusters in rounds of their own do not mix")
  func clusters() {
    let (truth, messages) = DownlinkScenario().run()
    var rounds = DownlinkRounds(places: DownlinkScenario.anchors)
    var found: [Arrivals] = []
    for block in 0..<6 {
      for round in 0..<2 {
        for message in messages where message.block == block {
          var message = message
          message.round = round
          // The second cluster starts 50 ms later by all clocks.
          message.sent = (message.sent &+ UInt64(round) * 3_194_880_000) & (1 << 40 - 1)
          message.received = (message.received &+ UInt64(round) * 3_194_880_000) & (1 << 40 - 1)
          found += rounds.add(message)
        }
      }
    }
    #expect(found.count == 12 && rounds.finish().isEmpty)
    #expect(found.suffix(2).allSatisfy { abs(error($0, 2, truth)) < 0.3 })
  }

  @Test("Messages that arrive twice, or without a poll, do no harm")
  func strayMessages() {
    let (truth, messages) = DownlinkScenario().run()
    var rounds = DownlinkRounds(places: DownlinkScenario.anchors)
    var found: [Arrivals] = []
    for message in messages where !(message.kind == .poll && message.block == 2) {
      found += rounds.add(message)
      if message.kind == .response { found += rounds.add(message) }
    }
    #expect(found.count == 5)
    #expect(found.last.map { abs(error($0, 1, truth)) < 0.3 } == true)
    #expect(found.allSatisfy { $0.entries.allSatisfy { $0.metres.isFinite && $0.deviation > 0 } })
  }

  @Test(
    "With anchors at different heights, the height is found; arrivals that disagree are refused")
  func freeHeight() throws {
    let places: [SIMD3<Double>] = [
      SIMD3(0, 0, 0.3), SIMD3(9, 0, 4), SIMD3(9, 8, 0.5), SIMD3(0, 8, 4), SIMD3(4, 4, 5),
      SIMD3(5, 0, 0.2),
    ]
    let solver = ArrivalSolver(places: places)
    let tag = SIMD3(3.0, 5, 1.7)
    let entries = places.indices.map {
      Arrivals.Entry(anchor: $0, metres: -4 + (places[$0] - tag).length, deviation: 0.05)
    }
    let place = try solver.solve(Arrivals(entries))
    #expect((place.position - tag).length < 0.01)
    #expect(0.02...0.5 ~= place.heightDeviation && 0.02...0.2 ~= place.deviation)
    var wrong = entries
    for index in wrong.indices { wrong[index].metres += Double(index * index) * 1.7 }
    #expect(throws: ArrivalSolver.Refusal.self) { try solver.solve(Arrivals(wrong)) }
  }
}
