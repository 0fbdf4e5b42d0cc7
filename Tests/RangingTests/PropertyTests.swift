// SPDX-License-Identifier: Apache-2.0
import Ranging
import RangingScenes
import Testing
import UWBTestSupport

/// Properties that hold for any input, with fixed seeds.
@Suite(.computes) struct PropertyTests {
  /// Each stamp in turn is just before, at or after the end of the counter. The clocks differ by up
  /// to 40 ppm.
  @Test(arguments: [32, 40])
  func `The wrap of the counter does not change distances`(_ bits: Int) throws {
    var parameters = TwoWayParameters()
    parameters.counter = TickCounter(bits: bits)
    let mask = (UInt64(1) << UInt64(bits)) - 1
    for (initiator, responder) in [(0.0, 0.0), (40, -40), (-40, 40), (40, 40), (13, -27)] {
      var scene = TwoWayScene(seed: UInt64(bits))
      (scene.initiator, scene.responder) = (ppm(initiator), ppm(responder))
      let plain = scene.exchange(whole: true)
      let stamps = [
        plain.pollSent, plain.pollReceived, plain.responseSent, plain.responseReceived,
        try #require(plain.finalSent), try #require(plain.finalReceived),
      ]
      let expected = try plain.distance(parameters)
      #expect(abs(expected.distance - 10) < 0.005)
      let offset = ClockOffset(expected.clockOffset, standardDeviation: 1e-9)
      let single = try plain.singleSided.distance(offset: offset, parameters)
      #expect(abs(single.distance - 10) < 0.005)
      for stamp in stamps {
        for shift in [stamp.ticks &- 2, stamp.ticks &- 1, stamp.ticks, stamp.ticks &+ 1] {
          let moved = stamps.map { TickStamp(($0.ticks &- shift) & mask) }
          let exchange = TwoWayExchange(
            pollSent: moved[0], pollReceived: moved[1], responseSent: moved[2],
            responseReceived: moved[3], finalSent: moved[4], finalReceived: moved[5])
          #expect(try exchange.distance(parameters) == expected)
          #expect(try exchange.singleSided.distance(offset: offset, parameters) == single)
        }
      }
    }
  }

  @Test func `Clock offsets within 40 ppm do not change distances`() throws {
    var scene = TwoWayScene(seed: 12)
    for _ in 0..<300 {
      scene.initiator = ppm(scene.noise.uniform(-40, 40))
      scene.responder = ppm(scene.noise.uniform(-40, 40))
      scene.distance = scene.noise.uniform(0, 200)
      scene.reply1 = scene.noise.uniform(0.2e-3, 10e-3)
      scene.reply2 = scene.noise.uniform(0.2e-3, 10e-3)
      scene.anyOffsets()
      let exchange = scene.exchange()
      let found = try exchange.distance()
      #expect(abs(found.distance - scene.distance) < 1e-3 + 41e-6 * scene.distance)
      let offset = ClockOffset((1 + scene.initiator) / (1 + scene.responder) - 1)
      let single = try exchange.singleSided.distance(offset: offset)
      #expect(abs(single.distance - scene.distance) < 1e-3 + 41e-6 * scene.distance)
    }
  }

  /// Finite input gives finite results, in whatever order the samples come.
  @Test func `Filters stay finite`() {
    var noise = Noise(seed: 13)
    for _ in 0..<60 {
      var estimator = RangeEstimator()
      var tracker = AngleTracker(PhaseTable(spacing: 0.45)!)
      var level = LevelTracker()
      for sample in HardNumbers.samples(40, &noise) {
        if let estimate = estimator.update(sample) { expectFinite(estimate) }
        if let estimate = estimator.prediction(at: HardNumbers.any(&noise)) {
          expectFinite(estimate)
        }
        if let angle = tracker.update(phase: sample.distance, time: sample.time) {
          #expect(angle.angle.isFinite && angle.standardDeviation.isFinite, "\(angle)")
        }
        #expect(level.update(sample.distance, time: sample.time).isFinite)
      }
    }
  }

  private func expectFinite(_ estimate: RangeEstimate) {
    #expect(
      estimate.distance.isFinite && estimate.standardDeviation.isFinite
        && estimate.velocity.isFinite && estimate.velocityStandardDeviation.isFinite,
      "\(estimate)")
  }

  @Test func `Target estimates stay finite`() {
    var noise = Noise(seed: 15)
    for _ in 0..<4 {
      var finder = TargetFinder()
      for _ in 0..<25 {
        let pose = Pose(
          position: HardNumbers.position(&noise),
          w: HardNumbers.any(&noise), x: HardNumbers.any(&noise), y: HardNumbers.any(&noise),
          z: HardNumbers.any(&noise))
        let estimate = finder.update(
          TargetSighting(
            time: HardNumbers.any(&noise), pose: pose, range: HardNumbers.any(&noise),
            azimuth: noise.uniform() < 0.5 ? HardNumbers.any(&noise) : nil))
        if let estimate {
          #expect(estimate.position.isFinite && isFinite(estimate.covariance))
          #expect(estimate.horizontalAngle.isFinite && estimate.angleDeviation.isFinite)
        }
      }
    }
  }

  private func isFinite(_ c: Symmetric3) -> Bool {
    [c.xx, c.xy, c.xz, c.yy, c.yz, c.zz].allSatisfy(\.isFinite)
  }

  /// If the scene is turned, moved and mirrored, so is the result.
  @Test func `Does not depend on the frame of reference`() throws {
    var noise = Noise(seed: 17)
    let target = SIMD3<Double>(2, -1.5, 1)
    let walk = TargetFinderTests.walk(seed: 18, target: target)
    for _ in 0..<2 {
      let world = MovedWorld(&noise)
      var (plain, other) = (TargetFinder(), TargetFinder())
      for sighting in walk {
        var turned = sighting
        turned.pose = Pose(
          position: world.place(of: sighting.pose.position), w: cosine(world.turn / 2),
          z: sine(world.turn / 2))
        let a = plain.update(sighting)
        let b = other.update(turned)
        #expect(a?.isConverged == b?.isConverged)
      }
      let (a, b) = (try #require(plain.estimate), try #require(other.estimate))
      #expect((world.place(of: a.position) - b.position).length < 0.02)
      #expect(abs(wrap(a.horizontalAngle - b.horizontalAngle)) < 0.01)
    }
  }

  @Test func `Quantiles are between sorted values`() {
    var noise = Noise(seed: 17)
    #expect([Double]().quantile(0.5) == 0)
    for count in 1...60 {
      // Some values are equal.
      let values = (0..<count).map { _ in (noise.uniform(-5, 5)).rounded() / 2 }
      let sorted = values.sorted()
      for part in [0, 0.1, 0.5, 0.683, 1] {
        let position = part * Double(count - 1)
        let (low, high) = (sorted[Int(position)], sorted[Int(position.rounded(.up))])
        let expected = low + (high - low) * (position - position.rounded(.down))
        #expect(abs(values.quantile(part) - expected) < 1e-12, "\(part) of \(values)")
      }
    }
    #expect([Double.nan, .nan, .nan].quantile(0.4).isNaN)
  }
}
