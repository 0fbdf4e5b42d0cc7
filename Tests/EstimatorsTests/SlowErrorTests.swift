// SPDX-License-Identifier: Apache-2.0
import Estimators
import Ranging
import Testing
import UWBTestSupport

/// Errors of anchors that change slowly, of sizes that are not known before.
@Suite(.computes) struct SlowErrorTests {
  /// The shares of heights within one and two stated deviations, over a flight with errors of one
  /// size.
  private func heights(
    slow: Double, live: Bool, isDifference: Bool, _ smoother: PositionSmoother
  ) -> SIMD2<Double> {
    var (within, count) = (SIMD2<Double>.zero, 0.0)
    let flight = Flight(seed: 1, .init(constant: 0.05, slow: slow), isDifference: isDifference)
    let path = smoother.path(Array(flight.samples.prefix(2_000)), live: live)
    for (point, truth) in zip(path, flight.truth) {
      guard let estimate = point?.estimate else { continue }
      let error = abs(estimate.position.z - truth.z) / estimate.covariance.zz.squareRoot()
      within += SIMD2(error <= 1 ? 1 : 0, error <= 2 ? 1 : 0)
      count += 1
    }
    return within / count
  }

  /// Antennas that turn have slow errors of 20 cm. No option declares these errors, and the stated
  /// deviations of the heights include them all the same.
  @Test(arguments: [(false, true), (true, false)])
  func `The size of slow errors is learned`(live: Bool, isDifference: Bool) {
    let found = heights(slow: 0.2, live: live, isDifference: isDifference, PositionSmoother())
    #expect(0.55...0.8 ~= found.x && 0.88...0.99 ~= found.y, "\(found)")
    var fixed = PositionSmoother()
    fixed.slowErrors = [1]
    let before = heights(slow: 0.2, live: live, isDifference: isDifference, fixed)
    #expect(before.x < 0.55 && before.y < 0.88, "\(before)")
  }

  /// Without slow errors, a bank of several sizes is as good as the smallest one.
  @Test(arguments: [false, true]) func `Small errors are not taken for great ones`(live: Bool) {
    let flight = Flight(seed: 3, .init(constant: 0.05, slow: 0.05))
    var fixed = PositionSmoother()
    fixed.slowErrors = [1]
    let samples = Array(flight.samples.prefix(1_000))
    let paths = [PositionSmoother(), fixed].map { $0.path(samples, live: live) }
    for (one, other) in zip(paths[0], paths[1]).dropFirst(500) {
      guard let one, let other else { continue }
      #expect((one.estimate.position - other.estimate.position).length < 0.01)
      #expect(one.estimate.covariance.zz < 1.2 * other.estimate.covariance.zz)
    }
    #expect(paths[0].count == samples.count)
  }

  /// A path from a stream of measurements equals the path from the whole table.
  @Test func `A stream has the positions of a table`() {
    let flight = Flight(seed: 2, .init(constant: 0.05, slow: 0.2))
    let samples = flight.samples.prefix(500)
    let whole = PositionSmoother().path(Array(samples), live: true)
    var follower = PositionFollower(PositionSmoother(), sources: 8)
    var stream: [PositionEstimate?] = []
    // The test takes results rarely, so that many points wait.
    for (index, sample) in samples.enumerated() {
      let isLater = follower.add([sample], errors: [:])
      #expect(isLater)
      if index % 97 == 0 { stream += follower.results(until: sample.time).map(\.estimate) }
    }
    stream += follower.results(until: .infinity).map(\.estimate)
    #expect(stream == whole.map { $0?.estimate })
    #expect(!follower.isWaiting)
  }
}
