// SPDX-License-Identifier: Apache-2.0
import Ranging
import Testing
import UWBTestSupport

/// What has to hold for any input, with fixed seeds.
@Suite(.ownThreads) struct PropertyTests {
  /// Numbers that arithmetic stumbles over, and usual ones.
  static let numbers: [Double] = [
    0, -0.0, 1, -1, 3, 1e-3, 1e6, -1e6, 1e9, 1e18, -1e18, 1e150, -1e300,
    .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .leastNonzeroMagnitude,
    -.leastNonzeroMagnitude, .leastNormalMagnitude, .ulpOfOne, 1 + .ulpOfOne, .pi, -.pi,
  ]

  static func any(_ noise: inout Noise) -> Double {
    noise.uniform() < 0.5
      ? 10 * noise.normal() : numbers[Int(noise.uniform() * Double(numbers.count))]
  }

  /// Each stamp in turn just before, at and behind the end of the counter, clocks up to 40 ppm off.
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

  /// Finite numbers in, finite numbers out, in whatever order the samples come.
  @Test func `Filters stay finite`() {
    var noise = Noise(seed: 13)
    for _ in 0..<60 {
      var estimator = RangeEstimator()
      var tracker = AngleTracker(PhaseTable(spacing: 0.45)!)
      var level = LevelTracker()
      var samples: [RangeSample] = []
      for _ in 0..<40 {
        let repeats = noise.uniform() < 0.2
        let sample =
          repeats && !samples.isEmpty
          ? samples[samples.count - 1]
          : RangeSample(
            time: Self.any(&noise), distance: Self.any(&noise),
            standardDeviation: Self.any(&noise), nonLineOfSight: noise.uniform() < 0.3)
        samples.append(sample)
        if let estimate = estimator.update(sample) { expectFinite(estimate) }
        if let estimate = estimator.prediction(at: Self.any(&noise)) { expectFinite(estimate) }
        if let angle = tracker.update(phase: sample.distance, time: sample.time) {
          #expect(angle.angle.isFinite && angle.standardDeviation.isFinite, "\(angle)")
        }
        #expect(level.update(sample.distance, time: sample.time).isFinite)
      }
      for estimate in RangeSmoother().smoothed(samples) {
        if let estimate { expectFinite(estimate) }
      }
    }
  }

  private func expectFinite(_ estimate: RangeEstimate) {
    #expect(
      estimate.distance.isFinite && estimate.standardDeviation.isFinite
        && estimate.velocity.isFinite && estimate.velocityStandardDeviation.isFinite,
      "\(estimate)")
  }

  @Test func `Positions stay finite`() {
    var noise = Noise(seed: 14)
    func position() -> SIMD3<Double> {
      SIMD3<Double>(Self.any(&noise), Self.any(&noise), Self.any(&noise))
    }
    for _ in 0..<20 {
      let observations = (0..<5).map { _ in
        PositionObservation(
          noise.uniform() < 0.7 ? .range(position()) : .difference(position(), position()),
          Self.any(&noise), standardDeviation: Self.any(&noise))
      }
      if let found = PositionSolver().solve(observations, near: position()) {
        #expect(found.position.isFinite && isFinite(found.covariance))
      }
      var samples = observations.enumerated().map { index, observation in
        PositionSample(time: Self.any(&noise), observation: observation, source: index)
      }
      samples.sort { $0.time < $1.time }
      for point in PositionSmoother().path(samples).compactMap({ $0 }) {
        #expect(point.estimate.position.isFinite && isFinite(point.estimate.covariance))
      }
    }
  }

  @Test func `Target estimates stay finite`() {
    var noise = Noise(seed: 15)
    for _ in 0..<4 {
      var finder = TargetFinder()
      for _ in 0..<25 {
        let pose = Pose(
          position: SIMD3<Double>(Self.any(&noise), Self.any(&noise), Self.any(&noise)),
          w: Self.any(&noise), x: Self.any(&noise), y: Self.any(&noise), z: Self.any(&noise))
        let estimate = finder.update(
          TargetSighting(
            time: Self.any(&noise), pose: pose, range: Self.any(&noise),
            azimuth: noise.uniform() < 0.5 ? Self.any(&noise) : nil))
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

  @Test func `Directions stay finite`() throws {
    var noise = Noise(seed: 16)
    let finder = try #require(
      DirectionFinder([
        AntennaPair(.baseline(x: 0, y: 0.45, z: 0)), AntennaPair(.baseline(x: 0.45, y: 0, z: 0)),
      ]))
    let rows = (0..<60).map { _ in
      (time: Self.any(&noise), phases: [Self.any(&noise), Self.any(&noise)] as [Double?])
    }
    for live in [false, true] {
      for direction in finder.directions(rows, live: live).compactMap({ $0 }) {
        #expect(direction.azimuth.isFinite && direction.standardDeviation.isFinite)
        #expect(direction.elevation.isFinite && 0...1 ~= direction.probability)
      }
    }
  }

  /// A world turned, moved and mirrored changes nothing but itself.
  @Test func `Does not depend on the frame of reference`() throws {
    var noise = Noise(seed: 17)
    let target = SIMD3<Double>(2, -1.5, 1)
    let walk = TargetFinderTests.walk(seed: 18, target: target)
    for _ in 0..<2 {
      let turn = noise.uniform(-.pi, .pi)
      let shift = SIMD3<Double>(
        noise.uniform(-500, 500), noise.uniform(-500, 500), noise.uniform(-5, 5))
      func moved(_ v: SIMD3<Double>) -> SIMD3<Double> {
        SIMD3<Double>(
          cosine(turn) * v.x - sine(turn) * v.y + shift.x,
          sine(turn) * v.x + cosine(turn) * v.y + shift.y, v.z + shift.z)
      }
      var (plain, other) = (TargetFinder(), TargetFinder())
      for sighting in walk {
        var turned = sighting
        turned.pose = Pose(
          position: moved(sighting.pose.position), w: cosine(turn / 2), z: sine(turn / 2))
        let a = plain.update(sighting)
        let b = other.update(turned)
        #expect(a?.isConverged == b?.isConverged)
      }
      let (a, b) = (try #require(plain.estimate), try #require(other.estimate))
      #expect((moved(a.position) - b.position).length < 0.02)
      #expect(abs(wrap(a.horizontalAngle - b.horizontalAngle)) < 0.01)
      let anchors = PositionTests.anchors.map(moved)
      let found = try #require(PositionSolver().solve(PositionTests.ranges(moved(target), anchors)))
      #expect((found.position - moved(target)).length < 1e-3)
    }
  }

  /// Something fast that turns sharply, which nobody said: lost at times, and found again.
  @Test func `Recovers a lost position`() {
    var noise = Noise(seed: 19)
    var (samples, truth): ([PositionSample], [SIMD3<Double>]) = ([], [])
    var (position, heading) = (SIMD3<Double>(3, 2.5, 1.2), 0.0)
    for step in 0..<150 {
      if step % 8 == 0 { heading = noise.uniform(-.pi, .pi) }
      // Back to the middle from outside.
      if (position - SIMD3<Double>(3, 2.5, 1.2)).length > 6 {
        heading = arcTangent(2.5 - position.y, 3 - position.x)
      }
      position = position + SIMD3<Double>(cosine(heading), sine(heading), 0) * 0.6
      for (source, anchor) in PositionTests.anchors.enumerated() {
        let range = (position - anchor).length + 0.05 * noise.normal()
        samples.append(
          PositionSample(
            time: Double(step) / 8, observation: PositionObservation(.range(anchor), range),
            source: source))
        truth.append(position)
      }
    }
    var parameters = PositionTracker.Parameters()
    parameters.height = HeightPrior(1.2, standardDeviation: 0.1)
    for live in [false, true] {
      let errors = zip(PositionSmoother(parameters).path(samples, live: live), truth).map {
        point, position in point.map { ($0.estimate.position - position).length } ?? 100
      }
      #expect(quantile(errors, 0.5) < 0.5 && quantile(errors, 0.9) < 2.5)
    }
  }
}
