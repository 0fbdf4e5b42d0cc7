// SPDX-License-Identifier: Apache-2.0
import RangingScenes
import Testing
import UWBTestSupport

@testable import Ranging

@Suite(.computes) struct TargetErrorsTests {
  /// Rows with a residual, and a prior for each unknown besides the position.
  private func rows(_ seed: UInt64) -> [(row: TargetEquations.Row, weight: Double)] {
    var noise = Noise(seed: seed)
    return (0..<30).map { _ in
      var row = TargetEquations.Row.zero
      for index in 0..<8 { row[index] = noise.normal() }
      return (row, noise.uniform(0.5, 2))
    }
  }

  @Test(arguments: 1...3 as ClosedRange<UInt64>)
  func `Elimination finds the solution of the whole equations`(_ seed: UInt64) throws {
    var (equations, whole) = (TargetEquations(), NormalEquations(count: 7))
    equations.expect(.rate, 0.3, 4)
    whole.observe([(1, 1)], 0.3, 4)
    for (row, weight) in rows(seed) {
      equations.add(row, weight: weight)
      whole.observe(all: (0..<7).map { row[$0] }, row[7], weight)
    }
    let found = try #require(equations.solved())
    let expected = try #require(whole.solved())
    let covariance = try #require(whole.inverse())
    #expect(abs(found.step.x - expected[4]) < 1e-9 && abs(found.step.z - expected[6]) < 1e-9)
    #expect(abs(found.rate - expected[1]) < 1e-9 && abs(found.wave - expected[2]) < 1e-9)
    #expect(abs(found.covariance.xx - covariance[4 * 7 + 4]) < 1e-9)
    #expect(abs(found.covariance.yz - covariance[6 * 7 + 5]) < 1e-9)
    let rest = rows(seed).reduce(4 * (0.3 - expected[1]) * (0.3 - expected[1])) { sum, one in
      let left = (0..<7).reduce(one.row[7]) { $0 - one.row[$1] * expected[$1] }
      return sum + one.weight * left * left
    }
    #expect(abs(found.rest - rest) < 1e-9)
  }

  @Test func `Equations without information have no solution`() {
    #expect(TargetEquations().solved() == nil)
  }

  /// Sightings of a walk along a line and back, and the problem of its target.
  private func problem(_ errors: [Double]) -> (TargetProblem, TargetProblem.Minimum) {
    let target = SIMD3<Double>(1, 3, 1)
    let sightings = errors.enumerated().map { index, error in
      let position = SIMD3<Double>(0.1 * Double(index), 0, 1)
      return TargetFinder.Sighting(
        time: Double(index) * 0.1, pose: Pose(position: position),
        range: (target - position).length + error, count: 1, until: Double(index) * 0.1,
        azimuth: nil, travelled: 0.1 * Double(index))
    }
    let problem = TargetProblem(
      sightings, TargetFinder.Parameters(), travelled: 0.1 * Double(errors.count - 1),
      TargetErrors(deviation: 0.1))
    return (
      problem, TargetProblem.Minimum(position: target, bias: 0, cost: 0, information: .zero)
    )
  }

  @Test func `Errors that change slowly are recognised by their correlation`() {
    var noise = Noise(seed: 4)
    let independent = (0..<60).map { _ in 0.1 * noise.normal() }
    var slow = 0.0
    let correlated = (0..<60).map { _ in
      slow = 0.95 * slow + 0.03 * noise.normal()
      return slow + 0.02 * noise.normal()
    }
    let repetitions = [independent, correlated].map { ranges in
      let (problem, best) = problem(ranges)
      var errors = TargetErrors(deviation: 0.1)
      let found = errors.refine(problem, at: best, TargetFinder.Parameters(), isComplete: true)
      #expect(found != nil)
      return errors.repetition
    }
    #expect(2 * repetitions[0] < repetitions[1], "\(repetitions)")
  }

  @Test(arguments: [0.02, 0.1, 0.5])
  func `The size of errors is learned`(_ size: Double) {
    var noise = Noise(seed: 5)
    let (problem, best) = problem((0..<60).map { _ in size * noise.normal() })
    var errors = TargetErrors(deviation: 0.1)
    // The weights of the ranges depend on the size of the slow error.
    for _ in 0..<10 {
      let found = errors.refine(problem, at: best, TargetFinder.Parameters(), isComplete: true)
      #expect(found != nil)
    }
    // The assumption of 0.1 m weighs as much as two ranges.
    #expect(0.6 * size...max(0.05, 1.5 * size) ~= errors.deviation, "\(errors.deviation)")
  }

  @Test func `A constant drift of the heading is found`() {
    var noise = Noise(seed: 6)
    var parameters = TargetFinder.Parameters()
    parameters.headingDrift = 30 * degree / 60
    let walk = DriftingWalk(DriftingWalk.Kind.all[3], seed: 8)
    // In these 50 s, an additional drift of half a degree a second turns the heading.
    var finder = TargetFinder(parameters)
    var (turned, before) = (SIMD3<Double>.zero, walk.sightings[0].pose.position)
    var errors: [Double] = []
    for (sighting, truth) in zip(walk.sightings, walk.truth).prefix(500) {
      let angle = 0.5 * degree * sighting.time
      let step = sighting.pose.position - before
      before = sighting.pose.position
      let (c, s) = (cosine(angle), sine(angle))
      turned += SIMD3(c * step.x - s * step.y, s * step.x + c * step.y, step.z)
      let (w, z) = (sighting.pose.w, sighting.pose.z)
      let (h, g) = (cosine(angle / 2), sine(angle / 2))
      let pose = Pose(position: turned, w: h * w - g * z, z: h * z + g * w)
      let range = sighting.range + 0.01 * noise.normal()
      let estimate = finder.update(TargetSighting(time: sighting.time, pose: pose, range: range))
      guard let estimate, sighting.time > 20 else { continue }
      errors.append(abs(wrap(estimate.horizontalAngle - truth)) / degree)
    }
    // Without a correction the heading of 20 seconds ago is 10 degrees off.
    #expect(quantile(errors, 0.95) < 3, "\(quantile(errors, 0.95))")
  }
}
