// SPDX-License-Identifier: Apache-2.0
import Ranging
import Testing

@Suite struct DownlinkTests {
  /// Two anchors and a tag with three clocks; what each stamps follows from real times and positions.
  struct Scene {
    var noise: Noise
    var initiator = SIMD3<Double>(0, 0, 2.5)
    var responder = SIMD3<Double>(8, 1, 2.2)
    var tag = SIMD3<Double>(2, 5, 1)
    /// By which parts the clocks are fast.
    var rates = (initiator: 12e-6, responder: -9e-6, tag: 17e-6)
    var starts = (initiator: 0x12_3456_7890, responder: 0xFF_FFFF_0000, tag: 0xFE_0000_0000)
    /// Seconds.
    var replies = (responder: 2e-3, initiator: 3e-3)
    var deviation = 0.0

    init(seed: UInt64) { noise = Noise(seed: seed) }

    var truth: Double { (tag - responder).length - (tag - initiator).length }

    func stamp(_ time: Double, _ rate: Double, _ start: Int) -> TickStamp {
      let ticks = time * (1 + rate) * DeviceTick.perSecond
      let whole = ticks.rounded(.down)
      var stamp = TickStamp(UInt64(start + Int(whole)) & 0xFF_FFFF_FFFF)
      stamp.fraction = ticks - whole
      return stamp
    }

    mutating func round(
      at start: Double = 0
    ) -> (exchange: DownlinkExchange, sent: (poll: TickStamp?, response: TickStamp?)) {
      let speed = SpeedOfLight.inAir
      let between = (responder - initiator).length / speed
      let near = (tag - initiator).length / speed
      let far = (tag - responder).length / speed
      let pollAtResponder = start + between + deviation * noise.normal()
      // The anchors reply so long after what they believe the reception to be.
      let response = pollAtResponder + replies.responder
      let responseAtInitiator = response + between + deviation * noise.normal()
      let final = responseAtInitiator + replies.initiator
      func heard(_ time: Double) -> TickStamp {
        stamp(time + deviation * noise.normal(), rates.tag, starts.tag)
      }
      let exchange = DownlinkExchange(
        pollReceived: heard(start + near), responseReceived: heard(response + far),
        finalReceived: heard(final + near),
        responderReply: replies.responder * (1 + rates.responder) * DeviceTick.perSecond,
        initiatorReply: replies.initiator * (1 + rates.initiator) * DeviceTick.perSecond,
        anchorFlight: DownlinkExchange.flight(from: initiator, to: responder))
      return (
        exchange,
        (
          stamp(start, rates.initiator, starts.initiator),
          stamp(response, rates.responder, starts.responder)
        )
      )
    }

    var clocks: (initiator: ClockOffset, responder: ClockOffset) {
      func offset(_ rate: Double) -> ClockOffset {
        ClockOffset((1 + rate) / (1 + rates.tag) - 1, standardDeviation: 1e-10)
      }
      return (offset(rates.initiator), offset(rates.responder))
    }
  }

  @Test func `Computes the exact difference without noise`() throws {
    for (x, y) in [(2.0, 5.0), (0.1, 0.1), (9, -3), (4, 0.5)] {
      var scene = Scene(seed: 1)
      scene.tag = SIMD3<Double>(x, y, 1)
      var (exchange, _) = scene.round()
      let both = try exchange.difference(scene.clocks)
      #expect(abs(both.metres - scene.truth) < 1e-3, "\(both.metres) for \(scene.truth)")
      (exchange.finalReceived, exchange.initiatorReply) = (nil, nil)
      let single = try exchange.difference(scene.clocks)
      #expect(abs(single.metres - scene.truth) < 1e-3)
      #expect(single.standardDeviation > both.standardDeviation)
    }
  }

  /// Without the clocks' rates it is wrong by metres: 26 ppm of 2 ms are 16 m.
  @Test func `Corrects for the clocks of the anchors`() throws {
    var scene = Scene(seed: 2)
    var (exchange, _) = scene.round()
    let equal = (initiator: ClockOffset(0), responder: ClockOffset(0))
    let both = try exchange.difference(equal)
    #expect(abs(both.metres - scene.truth) > 5)
    (exchange.finalReceived, exchange.initiatorReply) = (nil, nil)
    let failure = #expect(throws: RangingFailure.self) { try exchange.difference(equal) }
    #expect(failure == .implausibleClocks)
  }

  @Test func `The stated deviation matches the noise`() throws {
    for isDouble in [true, false] {
      var scene = Scene(seed: 3)
      scene.deviation = 100e-12
      var ranging = DownlinkRanging()
      var spread = Spread()
      var said = 0.0
      for round in 0..<600 {
        var (exchange, sent) = scene.round(at: Double(round) * 0.2)
        if !isDouble { (exchange.finalReceived, exchange.initiatorReply) = (nil, nil) }
        guard let found = try? ranging.difference(exchange, sent: sent) else {
          #expect(round == 0)
          continue
        }
        guard round >= 100 else { continue }
        spread.add(found.metres - scene.truth)
        said += found.standardDeviation / 500
      }
      #expect(abs(spread.mean) < 0.01)
      #expect(0.85...1.15 ~= spread.deviation / said, "\(spread.deviation) for \(said)")
      // Some five times the variance of two-way ranging, whose deviation is 1.85 cm.
      if isDouble { #expect(0.035...0.05 ~= spread.deviation) }
    }
  }

  @Test func `Uses carriers until two messages can be compared`() throws {
    var scene = Scene(seed: 4)
    var ranging = DownlinkRanging()
    let (exchange, sent) = scene.round()
    #expect(throws: RangingFailure.unknownClockOffset) {
      var fresh = ranging
      return try fresh.difference(exchange, sent: sent)
    }
    var carriers = scene.clocks
    carriers.initiator.standardDeviation = 0.1e-6
    carriers.responder.standardDeviation = 0.1e-6
    let found = try ranging.difference(exchange, sent: sent, carriers: carriers)
    #expect(abs(found.metres - scene.truth) < 1e-3 && found.standardDeviation > 0.04)
    // Messages without transmission times leave nothing but the carriers.
    var silent = DownlinkRanging()
    let without = try silent.difference(exchange, carriers: carriers)
    #expect(abs(without.metres - scene.truth) < 1e-3)
  }

  /// Differences to four anchors are a position.
  @Test func `Computes a position from differences`() throws {
    let anchors = [
      SIMD3<Double>(0, 0, 2.5), SIMD3<Double>(8, 1, 2.2), SIMD3<Double>(7, 7, 2.6),
      SIMD3<Double>(-1, 6, 0.6),
    ]
    var scene = Scene(seed: 5)
    var observations: [PositionObservation] = []
    for anchor in anchors.dropFirst() {
      scene.responder = anchor
      let (exchange, _) = scene.round()
      let found = try exchange.difference(scene.clocks)
      observations.append(
        PositionObservation(
          .difference(scene.initiator, anchor), found.metres,
          standardDeviation: found.standardDeviation))
    }
    let solver = PositionSolver(height: HeightPrior(1, standardDeviation: 0.02))
    let position = try #require(solver.solve(observations)).position
    #expect((position - scene.tag).length < 0.05)
  }

  @Test func `Refuses invalid input`() {
    var scene = Scene(seed: 6)
    let (exchange, _) = scene.round()
    for (key, value) in [
      (\DownlinkExchange.responderReply, 0.0), (\.responderReply, .nan), (\.responderReply, -5),
      (\.anchorFlight, .infinity),
    ] {
      var bad = exchange
      bad[keyPath: key] = value
      #expect(throws: RangingFailure.emptyInterval) { try bad.difference(scene.clocks) }
    }
    var bad = exchange
    bad.responseReceived = TickStamp(exchange.responseReceived.ticks &+ 100_000)
    #expect(throws: RangingFailure.implausibleClocks) { try bad.difference(scene.clocks) }
    bad = exchange
    bad.initiatorReply = -1
    #expect(throws: RangingFailure.emptyInterval) { try bad.difference(scene.clocks) }
  }
}
