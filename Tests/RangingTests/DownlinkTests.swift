// SPDX-License-Identifier: Apache-2.0
import Ranging
import Testing

@Suite struct DownlinkTests {
  @Test func `Computes the exact difference without noise`() throws {
    for (x, y) in [(2.0, 5.0), (0.1, 0.1), (9, -3), (4, 0.5)] {
      var scene = DownlinkScene(seed: 1)
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

  /// Without the clocks' rates, the distance is wrong by metres: 26 ppm of 2 ms are 16 m.
  @Test func `Corrects for the clocks of the anchors`() throws {
    var scene = DownlinkScene(seed: 2)
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
      var scene = DownlinkScene(seed: 3)
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
      // The variance is about five times the variance of two-way ranging, whose deviation is 1.85
      // cm.
      if isDouble { #expect(0.035...0.05 ~= spread.deviation) }
    }
  }

  @Test func `Uses carriers until two messages can be compared`() throws {
    var scene = DownlinkScene(seed: 4)
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
    // Without transmission times in the messages, only the carriers show the clock offsets.
    var silent = DownlinkRanging()
    let without = try silent.difference(exchange, carriers: carriers)
    #expect(abs(without.metres - scene.truth) < 1e-3)
  }

  @Test func `Refuses invalid input`() {
    var scene = DownlinkScene(seed: 6)
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
