// SPDX-License-Identifier: Apache-2.0
import Estimators
import Ranging
import Testing
import UWBTestSupport

/// Streams for which the filter has no options: other rates, movements of the peer, and errors of
/// the ranges.
@Suite(.computes) struct RangeWorldTests {
  /// The distance in metres as a function of seconds.
  enum Movement: CaseIterable {
    case none, walk, flight

    func distance(_ time: Double) -> Double {
      switch self {
      case .none: 5
      case .walk: 5 + 3 * sine(0.35 * time) + 0.5 * sine(1.1 * time)
      case .flight: 15 + 8 * sine(0.9 * time) + 2 * sine(2.2 * time)
      }
    }
  }

  /// 4 cm of noise and one range in a hundred wrong by up to 100 m, after the first second.
  static func stream(
    _ movement: Movement, rate: Double, blocked: Double = 0, seed: UInt64
  ) -> (samples: [RangeSample], truth: [Double]) {
    var noise = Noise(seed: seed)
    let count = Int(min(max(200, 60 * rate), 2000))
    var result: (samples: [RangeSample], truth: [Double]) = ([], [])
    for step in 0..<count {
      let time = Double(step) / rate
      let truth = movement.distance(time)
      var range = truth + 0.04 * noise.normal()
      if step > 10, noise.uniform() < 0.01 { range += noise.uniform(1, 100) }
      // The longer a detour, the rarer.
      if noise.uniform() < blocked { range += noise.uniform() * noise.uniform() }
      result.samples.append(RangeSample(time: time, distance: range))
      result.truth.append(truth)
    }
    return result
  }

  static func rms(_ estimates: [RangeEstimate?], _ truth: [Double]) -> Double {
    RangeSmootherTests.rms(Array(estimates.dropFirst(10)), Array(truth.dropFirst(10)))
  }

  @Test(arguments: [1, 5.5, 50, 1000], Movement.allCases)
  func `Follows any movement at any rate`(_ rate: Double, _ movement: Movement) {
    // At ten metres a second and one measurement a second, the movement can be anything. At 1 kHz
    // the whole recording lasts two seconds, which are too short for such a movement.
    if movement == .flight, !(5...100 ~= rate) { return }
    let (samples, truth) = Self.stream(movement, rate: rate, seed: 31)
    #expect(Self.rms(RangeSmoother().smoothed(samples), truth) < 0.06)
    var estimator = RangeEstimator()
    let live = samples.map { estimator.update($0) }
    #expect(Self.rms(live, truth) < (rate < 5 ? 0.15 : 0.1))
  }

  /// Samples arrive twice, arrive late, or are missing for a while.
  @Test func `The order of samples does not matter`() {
    let (samples, truth) = Self.stream(.walk, rate: 10, seed: 32)
    var mixed: [(sample: RangeSample, truth: Double)] = []
    for (index, pair) in zip(samples, truth).enumerated() where !(200..<240 ~= index) {
      mixed.append(pair)
      if index % 7 == 0 { mixed.append(pair) }
    }
    for index in stride(from: 3, to: mixed.count - 1, by: 9) { mixed.swapAt(index, index + 1) }
    let known = mixed.map(\.truth)
    #expect(Self.rms(RangeSmoother().smoothed(mixed.map(\.sample)), known) < 0.06)
    var estimator = RangeEstimator()
    #expect(Self.rms(mixed.map { estimator.update($0.sample) }, known) < 0.15)
  }

  /// The stated deviation includes the excess where many ranges are too long.
  @Test(arguments: [0.3, 0.6]) func `Blocked paths widen the stated deviation`(_ blocked: Double) {
    let (samples, truth) = Self.stream(.walk, rate: 10, blocked: blocked, seed: 33)
    let smoothed = RangeSmoother().smoothed(samples)
    #expect(Self.rms(smoothed, truth) < 0.25)
    let (free, _) = Self.stream(.walk, rate: 10, seed: 33)
    func stated(_ estimates: [RangeEstimate?]) -> Double {
      estimates.compactMap { $0?.standardDeviation }.reduce(0, +) / Double(estimates.count)
    }
    #expect(stated(smoothed) > 1.1 * stated(RangeSmoother().smoothed(free)))
  }
}
