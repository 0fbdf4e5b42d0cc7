// SPDX-License-Identifier: Apache-2.0
import Estimators
import Ranging
import Testing
import UWBTestSupport

/// Properties that hold for any input, with fixed seeds.
@Suite(.ownThreads) struct PropertyTests {
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
      let turn = noise.uniform(-.pi, .pi)
      let shift = SIMD3<Double>(
        noise.uniform(-500, 500), noise.uniform(-500, 500), noise.uniform(-5, 5))
      func moved(_ v: SIMD3<Double>) -> SIMD3<Double> {
        SIMD3<Double>(
          cosine(turn) * v.x - sine(turn) * v.y + shift.x,
          sine(turn) * v.x + cosine(turn) * v.y + shift.y, v.z + shift.z)
      }
      let anchors = PositionTests.anchors.map(moved)
      let found = try #require(PositionSolver().solve(PositionTests.ranges(moved(target), anchors)))
      #expect((found.position - moved(target)).length < 1e-3)
    }
  }

  /// A fast object that turns sharply, without an option for it: lost at times, and found again.
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
