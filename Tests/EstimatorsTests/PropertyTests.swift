// SPDX-License-Identifier: Apache-2.0
import Estimators
import Ranging
import Testing
import UWBTestSupport

/// Properties that hold for any input, with fixed seeds.
@Suite(.computes) struct PropertyTests {
  @Test func `Smoothed ranges stay finite`() {
    var noise = Noise(seed: 13)
    for _ in 0..<60 {
      for estimate in RangeSmoother().smoothed(HardNumbers.samples(40, &noise)) {
        guard let estimate else { continue }
        #expect(
          estimate.distance.isFinite && estimate.standardDeviation.isFinite
            && estimate.velocity.isFinite && estimate.velocityStandardDeviation.isFinite,
          "\(estimate)")
      }
    }
  }

  @Test func `Positions stay finite`() {
    var noise = Noise(seed: 14)
    func position() -> SIMD3<Double> { HardNumbers.position(&noise) }
    for _ in 0..<20 {
      let observations = (0..<5).map { _ in
        PositionObservation(
          noise.uniform() < 0.7 ? .range(position()) : .difference(position(), position()),
          HardNumbers.any(&noise), standardDeviation: HardNumbers.any(&noise))
      }
      if let found = PositionSolver().solve(observations, near: position()) {
        #expect(found.position.isFinite && isFinite(found.covariance))
      }
      var samples = observations.enumerated().map { index, observation in
        PositionSample(time: HardNumbers.any(&noise), observation: observation, source: index)
      }
      samples.sort { $0.time < $1.time }
      for point in PositionSmoother().path(samples).compactMap({ $0 }) {
        #expect(point.estimate.position.isFinite && isFinite(point.estimate.covariance))
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
      (
        time: HardNumbers.any(&noise),
        phases: [HardNumbers.any(&noise), HardNumbers.any(&noise)] as [Double?]
      )
    }
    for live in [false, true] {
      for direction in finder.directions(rows, live: live).compactMap({ $0 }) {
        #expect(direction.azimuth.isFinite && direction.standardDeviation.isFinite)
        #expect(direction.elevation.isFinite && 0...1 ~= direction.probability)
      }
    }
  }

  /// If the scene is turned and moved, so is the result.
  @Test func `A position does not depend on the frame of reference`() throws {
    var noise = Noise(seed: 17)
    let target = SIMD3<Double>(2, -1.5, 1)
    for _ in 0..<2 {
      let world = MovedWorld(&noise)
      let (anchors, place) = (PositionTests.anchors.map(world.place), world.place(of: target))
      let found = try #require(PositionSolver().solve(PositionTests.ranges(place, anchors)))
      #expect((found.position - place).length < 1e-3)
    }
  }

  /// Somebody carries the device away, with or without a pause. From its first measurement at the
  /// other place on, the position is computed from scratch.
  @Test(arguments: [(true, false), (true, true), (false, true)])
  func `Another place begins another path`(_ hasPause: Bool, live: Bool) throws {
    var noise = Noise(seed: 23)
    let places = [SIMD3<Double>(1, 1, 1), SIMD3<Double>(5, 4, 1)]
    var samples: [PositionSample] = []
    for step in 0..<60 {
      let time = 0.1 * Double(step) + (hasPause && step >= 30 ? 20 : 0)
      let ranges = PositionTests.ranges(places[step / 30]).enumerated()
      for (source, var range) in ranges {
        range.value += 0.02 * noise.normal()
        samples.append(PositionSample(time: time, observation: range, source: source))
      }
    }
    var smoother = PositionSmoother(height: HeightPrior(1, standardDeviation: 0.05))
    smoother.accelerations = [1]
    let path = smoother.path(samples, live: live)
    #expect(path.count == samples.count)
    let first = try #require(path[samples.count / 2])
    #expect((first.estimate.position - places[1]).length < 0.3, "\(first)")
    #expect(first.isAccepted && first.time == samples[samples.count / 2].time)
    let last = try #require(path.last.flatMap { $0 })
    #expect((last.estimate.position - places[1]).length < 0.3 && last.isAccepted, "\(last)")
    let before = try #require(path[samples.count / 2 - 1])
    #expect((before.estimate.position - places[0]).length < 0.3, "\(before)")
  }

  /// A fast object turns sharply, and no option declares this. The position is lost at times, and
  /// found again.
  @Test func `Recovers a lost position`() {
    var noise = Noise(seed: 19)
    var (samples, truth): ([PositionSample], [SIMD3<Double>]) = ([], [])
    var (position, heading) = (SIMD3<Double>(3, 2.5, 1.2), 0.0)
    for step in 0..<150 {
      if step % 8 == 0 { heading = noise.uniform(-.pi, .pi) }
      // Outside the room, the object turns back to the middle.
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
