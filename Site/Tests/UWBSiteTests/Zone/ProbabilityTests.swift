// SPDX-License-Identifier: Apache-2.0

import SiteScenarios
import Testing

@testable import UWBSite

@Suite("Probability of being inside")
struct ProbabilityTests {
  let square = PolygonTests.points([0, 0, 2, 0, 2, 2, 0, 2])
  /// A room like an L.
  let corner = PolygonTests.points([0, 0, 4, 0, 4, 1, 1, 1, 1, 4, 0, 4])

  /// The exact probability of a rectangle for a circular deviation.
  func rectangle(
    _ estimate: PlaneEstimate, _ least: SIMD2<Double>, _ greatest: SIMD2<Double>
  ) -> Double {
    let (sx, sy) = (estimate.xx.squareRoot(), estimate.yy.squareRoot())
    let x =
      Math.normalBelow((greatest.x - estimate.mean.x) / sx)
      - Math.normalBelow((least.x - estimate.mean.x) / sx)
    let y =
      Math.normalBelow((greatest.y - estimate.mean.y) / sy)
      - Math.normalBelow((least.y - estimate.mean.y) / sy)
    return x * y
  }

  @Test("a rectangle has the product of two normal probabilities, near and far, small and large")
  func exact() {
    var noise = ScenarioNoise(seed: 5)
    for _ in 0..<300 {
      let estimate = PlaneEstimate(
        mean: SIMD2(noise.uniform(-2, 4), noise.uniform(-2, 4)),
        xx: noise.uniform(0.001, 4), yy: noise.uniform(0.001, 4))
      let expected = rectangle(estimate, SIMD2(0, 0), SIMD2(2, 2))
      #expect(abs(Polygon.probability(square, estimate) - expected) < 1e-9)
      #expect(abs(Polygon.probability(square.reversed(), estimate) - expected) < 1e-9)
    }
  }

  @Test("an estimate on an edge, on a corner and on the line of an edge")
  func edges() {
    for deviation in [0.001, 0.1] {
      let edge = PlaneEstimate(mean: SIMD2(1, 0), deviation: deviation)
      #expect(abs(Polygon.probability(square, edge) - 0.5) < 1e-9)
      let corner = PlaneEstimate(mean: SIMD2(2, 2), deviation: deviation)
      #expect(abs(Polygon.probability(square, corner) - 0.25) < 1e-9)
      let beyond = PlaneEstimate(mean: SIMD2(5, 2), deviation: deviation)
      #expect(Polygon.probability(square, beyond) < 1e-9)
    }
  }

  @Test("a correlated estimate and a concave room agree with random places")
  func random() {
    var noise = ScenarioNoise(seed: 8)
    for mean in [SIMD2(1.2, 1.1), SIMD2(0.5, 2), SIMD2(3.5, 0.2)] {
      let estimate = PlaneEstimate(mean: mean, xx: 0.5, xy: -0.3, yy: 0.4)
      let count = 20_000
      let inside = (0..<count).count { _ in
        let u = SIMD2(noise.normal(), noise.normal())
        let l21 = -0.3 / 0.5.squareRoot()
        let point =
          mean + SIMD2(0.5.squareRoot() * u.x, l21 * u.x + (0.4 - l21 * l21).squareRoot() * u.y)
        return Polygon.signedDistance(corner, point) > 0
      }
      let share = Double(inside) / Double(count)
      #expect(abs(Polygon.probability(corner, estimate) - share) < 0.015)
    }
  }

  @Test("the probability of the parts of an area is the one of the whole")
  func parts() {
    let left = PolygonTests.points([0, 0, 1, 0, 1, 4, 0, 4])
    let right = PolygonTests.points([1, 0, 4, 0, 4, 1, 1, 1])
    var noise = ScenarioNoise(seed: 9)
    for _ in 0..<100 {
      let estimate = PlaneEstimate(
        mean: SIMD2(noise.uniform(-1, 5), noise.uniform(-1, 5)), xx: 0.3, xy: 0.1, yy: 0.2)
      let sum = Polygon.probability(left, estimate) + Polygon.probability(right, estimate)
      #expect(abs(Polygon.probability(corner, estimate) - sum) < 1e-9)
    }
  }

  @Test("a circle is the integral of Rayleigh's distribution at its center")
  func circle() {
    let area = ZoneArea(.circle(center: SIMD2(1, 2), radius: 1.5))
    for deviation in [0.4, 1, 3] {
      let estimate = PlaneEstimate(mean: SIMD2(1, 2), deviation: deviation)
      let expected = 1 - Math.exp(-1.5 * 1.5 / (2 * deviation * deviation))
      #expect(abs(area.evaluate(estimate).probability - expected) < 2e-3)
    }
    #expect(area.signedDistance(SIMD2(1, 2)) == 1.5)
    #expect(area.signedDistance(SIMD2(1, 4)) == -0.5)
  }

  @Test("the distance has the sign of the side, also at concave corners and beside corners")
  func distances() {
    for (x, y, expected) in [
      (0.5, 0.5, 0.5), (2.0, 0.5, 0.5), (2.0, 2.0, -1.0), (-1.0, -1.0, -2.0.squareRoot()),
      (5.0, 0.5, -1.0), (0.5, 3.9, 0.1),
    ] {
      #expect(abs(Polygon.signedDistance(corner, SIMD2(x, y)) - expected) < 1e-12)
    }
  }

  @Test("far zones have no probability, and a far tag inside has all of it")
  func far() {
    let area = ZoneArea(.polygon(corner))
    let away = area.evaluate(PlaneEstimate(mean: SIMD2(100, 0.5), deviation: 0.1))
    #expect(away.probability == 0 && away.distance == -96)
    let large = ZoneArea(.polygon(PolygonTests.points([-50, -50, 50, -50, 50, 50, -50, 50])))
    #expect(large.evaluate(PlaneEstimate(mean: SIMD2(0, 0), deviation: 0.1)).probability == 1)
  }

  @Test("an estimate without a positive definite covariance is not usable")
  func usable() {
    let mean = SIMD2(0.0, 0)
    #expect(PlaneEstimate(mean: mean, xx: 1, xy: 0.9, yy: 1).isUsable)
    #expect(!PlaneEstimate(mean: mean, xx: 1, xy: 1, yy: 1).isUsable)
    #expect(!PlaneEstimate(mean: mean, xx: 0, yy: 1).isUsable)
    #expect(!PlaneEstimate(mean: SIMD2(.nan, 0), deviation: 1).isUsable)
    let estimate = PlaneEstimate(mean: mean, xx: 4, yy: 1)
    #expect(estimate.largestDeviation == 2)
    #expect(estimate.deviation(along: SIMD2(0, 1)) == 1)
  }
}
