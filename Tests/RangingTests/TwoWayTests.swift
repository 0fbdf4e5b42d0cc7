// SPDX-License-Identifier: Apache-2.0
import Ranging
import Testing

@Suite struct TwoWayTests {
  @Test func `Subtracts stamps across the wrap of the counter`() {
    let counter = TickCounter.bits40
    #expect(counter.interval(from: 5, to: 12) == 7)
    #expect(counter.interval(from: TickStamp(UInt64(0xFF_FFFF_FFFD)), to: 4) == 7)
    #expect(counter.interval(from: 12, to: 5) == 0x1p40 - 7)
    let low = TickCounter(bits: 32)
    #expect(low.interval(from: TickStamp(Int64(-3)), to: TickStamp(Int64(4))) == 7)
    #expect(low.interval(from: TickStamp(UInt64(0xFFFF_FFFD)), to: 4) == 7)
    #expect(low.interval(from: TickStamp(Int64.max), to: TickStamp(Int64.min)) == 1)
  }

  @Test func `Accepts stamps with a fraction`() throws {
    let stamp = try #require(TickStamp(exactly: -2.25))
    #expect(stamp.ticks == UInt64(bitPattern: -3) && stamp.fraction == 0.75)
    #expect(TickCounter.bits40.interval(from: stamp, to: 1) == 3.25)
    #expect(TickStamp(exactly: .nan) == nil)
    #expect(TickStamp(exactly: .infinity) == nil && TickStamp(exactly: 1e300) == nil)
  }

  /// The clocks are off by up to 40 ppm at each end, and the replies take 2 and 8 ms. With these
  /// values, the symmetric formula is wrong by metres.
  @Test(arguments: [(0.0, 0.0), (20, -20), (-20, 20), (40, -40), (40, 40)])
  func `Double-sided ranging allows unequal replies`(_ initiator: Double, _ responder: Double)
    throws
  {
    var scene = TwoWayScene(seed: 1)
    (scene.initiator, scene.responder) = (ppm(initiator), ppm(responder))
    for distance in [0, 0.1, 10, 300] {
      scene.distance = distance
      scene.anyOffsets()
      let result = try scene.exchange().distance()
      #expect(abs(result.distance - distance) < 45e-6 * distance + 2e-4)
      #expect(abs(result.clockOffset - ppm(initiator - responder)) < 4e-9)
    }
  }

  @Test func `Computes distances at every wrap of the counter`() throws {
    for bits in [32, 40] {
      var parameters = TwoWayParameters()
      parameters.counter = TickCounter(bits: bits)
      var scene = TwoWayScene(seed: 2)
      (scene.initiator, scene.responder) = (15e-6, -22e-6)
      // Shifts the counters so that each stamp in turn is the first one after the wrap.
      let plain = scene.exchange(whole: true)
      let stamps = [
        plain.pollSent, plain.pollReceived, plain.responseSent, plain.responseReceived,
        try #require(plain.finalSent), try #require(plain.finalReceived),
      ]
      let expected = try plain.distance(parameters)
      for stamp in stamps {
        for shift in [stamp.ticks, stamp.ticks &+ 1, stamp.ticks &- 1] {
          let moved = stamps.map { TickStamp(($0.ticks &- shift) & ((1 << UInt64(bits)) - 1)) }
          let result = try TwoWayExchange(
            pollSent: moved[0], pollReceived: moved[1], responseSent: moved[2],
            responseReceived: moved[3], finalSent: moved[4], finalReceived: moved[5]
          ).distance(parameters)
          #expect(result == expected)
        }
      }
    }
  }

  /// The distance is 10 m, each clock differs by up to 20 ppm, replies take 2 and 8 ms, and stamps
  /// have 100 ps of noise. The required figures are a bias below 1 mm and a deviation of 1.95 cm.
  @Test func `The stated deviation of double-sided ranging matches the noise`() throws {
    var scene = TwoWayScene(seed: 3)
    scene.deviation = 100e-12
    var parameters = TwoWayParameters()
    parameters.antennaDelayDeviation = 0
    var errors = Spread()
    var stated = 0.0
    for _ in 0..<20_000 {
      scene.initiator = ppm(40 * scene.noise.uniform() - 20)
      scene.responder = ppm(40 * scene.noise.uniform() - 20)
      scene.anyOffsets()
      let result = try scene.exchange().distance(parameters)
      errors.add(result.distance - 10)
      stated = result.standardDeviation
    }
    #expect(abs(errors.mean) < 5e-4, "bias \(errors.mean)")
    #expect(errors.deviation < 1.96e-2, "deviation \(errors.deviation)")
    #expect(abs(errors.deviation / stated - 1) < 0.03)
  }

  /// The reply takes 1 ms, the carrier offset is known to 0.05 ppm, and stamps have 100 ps of
  /// noise. The required figures are a bias below 3 mm and a deviation of 2.3 cm.
  @Test func `Corrects single-sided ranging with the carrier`() throws {
    var scene = TwoWayScene(seed: 4)
    (scene.deviation, scene.reply1) = (100e-12, 1e-3)
    var parameters = TwoWayParameters()
    parameters.antennaDelayDeviation = 0
    var errors = Spread()
    var normalised = Spread()
    for _ in 0..<20_000 {
      scene.initiator = ppm(40 * scene.noise.uniform() - 20)
      scene.responder = ppm(40 * scene.noise.uniform() - 20)
      scene.anyOffsets()
      let truth = (1 + scene.initiator) / (1 + scene.responder) - 1
      let offset = ClockOffset(
        truth + ppm(0.05 * scene.noise.normal()), standardDeviation: 0.05e-6)
      let result = try scene.exchange().singleSided.distance(offset: offset, parameters)
      errors.add(result.distance - 10)
      normalised.add((result.distance - 10) / result.standardDeviation)
    }
    #expect(abs(errors.mean) < 1e-3, "bias \(errors.mean)")
    #expect(errors.deviation < 2.3e-2, "deviation \(errors.deviation)")
    #expect(abs(normalised.deviation - 1) < 0.03)
  }

  /// The stamps do not contain the delays of antennas.
  @Test func `The stated deviation covers delays that were not calibrated`() throws {
    var scene = TwoWayScene(seed: 5)
    scene.deviation = 100e-12
    let exchange = scene.exchange()
    for one in [exchange, exchange.singleSided] {
      let offset = ClockOffset(0, standardDeviation: 1e-9)
      let raw = try one.distance(offset: offset)
      #expect(raw.biasDeviation == 0.3 && raw.standardDeviation > 0.3)
      var parameters = TwoWayParameters()
      (parameters.antennaDelay, parameters.antennaDelayDeviation) = (0.2, 0.02)
      let known = try one.distance(offset: offset, parameters)
      #expect(known.biasDeviation == 0.02 && abs(known.distance - raw.distance + 0.2) < 1e-9)
      let (a, b) = (raw.standardDeviation, known.standardDeviation)
      #expect(abs(a * a - b * b - 0.09 + 0.0004) < 1e-9)
    }
  }

  @Test func `Reports why there is no distance`() throws {
    func reason(_ change: (inout TwoWayExchange) -> Void) -> RangingFailure? {
      var scene = TwoWayScene(seed: 5)
      var exchange = scene.exchange()
      change(&exchange)
      do throws(RangingFailure) {
        _ = try exchange.distance()
        return nil
      } catch { return error }
    }
    #expect(reason { _ in } == nil)
    #expect(reason { $0.pollSent = $0.responseReceived } == .emptyInterval)
    #expect(reason { $0.finalReceived?.ticks &+= 1 << 30 } == .implausibleClocks)
    #expect(reason { swap(&$0.pollReceived, &$0.responseSent) } == .implausibleClocks)
    #expect(
      reason {
        $0.responseReceived.ticks &-= 6000
        $0.finalReceived?.ticks &-= 3000
      } == .negativeDistance)
    #expect(reason { $0.responseReceived.ticks &+= 600_000 } == .tooFar)
  }

  /// For any stamps, the result is a finite distance in the allowed interval, or an error with a
  /// reason.
  @Test func `Any stamps give a finite distance or an error`() {
    var noise = Noise(seed: 6)
    var distances = 0
    for _ in 0..<20_000 {
      func any() -> TickStamp { TickStamp(UInt64(noise.uniform() * 0x1p63)) }
      let exchange = TwoWayExchange(
        pollSent: any(), pollReceived: any(), responseSent: any(), responseReceived: any(),
        finalSent: any(), finalReceived: any())
      if let result = try? exchange.distance() {
        #expect(-2...1000 ~= result.distance && result.standardDeviation.isFinite)
        distances += 1
      }
      let offset = ClockOffset(noise.normal())
      if let result = try? exchange.singleSided.distance(offset: offset) {
        #expect(-2...1000 ~= result.distance && result.standardDeviation.isFinite)
      }
    }
    #expect(distances < 20)
  }

  @Test func `Applies antenna delay and speed of light`() throws {
    var scene = TwoWayScene(seed: 7)
    let exchange = scene.exchange()
    var parameters = TwoWayParameters()
    parameters.antennaDelay = 0.25
    parameters.speedOfLight = SpeedOfLight.inVacuum
    let result = try exchange.distance(parameters)
    let expected = 10 * SpeedOfLight.inVacuum / SpeedOfLight.inAir - 0.25
    #expect(abs(result.distance - expected) < 1e-6)
  }

  @Test func `Interpolates the bias by level`() {
    let table = PowerBias.dw1000PRF64
    #expect(table.knots.count == 18 && table.knots[0].power == -95)
    #expect(table.bias(at: -77) == 0 && table.bias(at: -61) == -0.110)
    #expect(abs(table.bias(at: -78) - 0.0105) < 1e-12)
    #expect(table.bias(at: -40) == -0.110 && table.bias(at: -120) == 0.086)
    #expect(table.bias(at: .nan) == 0 && table.bias(at: -.infinity) == 0.086)
    #expect(PowerBias([]).bias(at: -80) == 0)
    #expect(PowerBias.dw1000PRF16.bias(at: -81) == 0)
    let mixed = PowerBias([
      .init(power: -80, bias: 1), .init(power: -90, bias: 2), .init(power: -80, bias: 9),
      .init(power: .nan, bias: 0),
    ])
    #expect(mixed.knots.count == 2 && mixed.bias(at: -85) == 1.5)
  }
}
