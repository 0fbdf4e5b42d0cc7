// SPDX-License-Identifier: Apache-2.0
import Estimators
import Ranging
import Testing
import UWBTestSupport

@Suite(.computes) struct RangeSmootherTests {
  /// A walk at 5.5 Hz with 6 cm of noise. One range in a hundred is wrong by up to 100 m, including
  /// the first.
  static func walk(seed: UInt64) -> (samples: [RangeSample], truth: [Double], wrong: [Bool]) {
    var noise = Noise(seed: seed)
    var samples: [RangeSample] = []
    var truth: [Double] = []
    var wrong: [Bool] = []
    for step in 0..<600 {
      let dt = 1 / 5.5
      // A triangle whose corners are round: up to 1.5 m/s.
      let phase = 0.2 * Double(step) * dt + Double(seed)
      let bend = phase - 2 * .pi * (phase / (2 * .pi)).rounded()
      let r = 8 + 6 * (1 - 2 * bend * bend / (.pi * .pi))
      let isWrong = step == 0 || noise.uniform() < 0.01
      let error = isWrong ? 2 + 98 * noise.uniform() : 0.06 * noise.normal()
      samples.append(RangeSample(time: Double(step) * dt, distance: r + error))
      truth.append(r)
      wrong.append(isWrong)
    }
    return (samples, truth, wrong)
  }

  static func rms(_ estimates: [RangeEstimate?], _ truth: [Double]) -> Double {
    let squares = zip(estimates, truth).map { pair in
      let error = (pair.0?.distance ?? .infinity) - pair.1
      return error * error
    }
    return (squares.reduce(0, +) / Double(squares.count)).squareRoot()
  }

  @Test(arguments: 1...10)
  func `Rejects isolated outliers`(seed: UInt64) {
    let (samples, truth, wrong) = Self.walk(seed: seed)
    let smoothed = RangeSmoother().smoothed(samples)
    #expect(Self.rms(smoothed, truth) < 0.07)
    let accepted = smoothed.map { $0?.isAccepted == true }
    #expect(!zip(accepted, wrong).contains { $0 && $1 })
    #expect(zip(accepted, wrong).count { !$0 && !$1 } <= 1)
    var live = RangeEstimator()
    let filtered = samples.map { live.update($0) }
    #expect(Self.rms(Array(filtered.dropFirst(4)), Array(truth.dropFirst(4))) < 0.12)
  }

  /// A recording of any length takes the memory of a block.
  @Test(arguments: 1...5) func `Blocks give the same as the whole`(_ seed: UInt64) {
    let samples = Self.walk(seed: seed).samples
    let whole = RangeSmoother().smoothed(samples)
    var smoother = RangeSmoother()
    (smoother.block, smoother.overlap) = (100, 80)
    for (one, other) in zip(smoother.smoothed(samples), whole) {
      #expect(one?.disposition == other?.disposition)
      #expect(abs((one?.distance ?? 0) - (other?.distance ?? 1)) < 1e-6)
      #expect(abs((one?.standardDeviation ?? 0) - (other?.standardDeviation ?? 1)) < 1e-6)
    }
  }

  /// The order of the samples does not matter, and a jump stays in place.
  @Test func `Sorts samples and follows jumps`() throws {
    var noise = Noise(seed: 20)
    let samples = (0..<200).map { step in
      RangeSample(
        time: Double(step) / 10, distance: (step < 100 ? 4 : 30) + 0.05 * noise.normal(),
        standardDeviation: 0.05)
    }
    let expected = RangeSmoother().smoothed(samples)
    for (step, estimate) in expected.enumerated() {
      let estimate = try #require(estimate)
      #expect(abs(estimate.distance - (step < 100 ? 4 : 30)) < 0.2, "\(step)")
      #expect(estimate.isAccepted)
    }
    var mixed = samples
    for index in stride(from: 0, to: 198, by: 3) { mixed.swapAt(index, index + 2) }
    let again = RangeSmoother().smoothed(mixed)
    for index in mixed.indices {
      #expect(again[index]?.distance == expected[Int((mixed[index].time * 10).rounded())]?.distance)
    }
  }

  @Test(arguments: [0.01, 1, 10])
  func `The stated deviation matches the error`(_ density: Double) {
    var normalised = Spread()
    for seed in 1...10 {
      let way = Wanderer.way(200, density: density, seed: UInt64(seed))
      let smoothed = RangeSmoother(.white).smoothed(way.map(\.sample))
      for (estimate, one) in zip(smoothed, way) {
        guard let estimate else { continue }
        normalised.add((estimate.distance - one.distance) / estimate.standardDeviation)
      }
    }
    #expect(0.85...1.15 ~= normalised.deviation, "\(normalised.deviation)")
  }

  @Test func `Survives invalid input`() {
    var noise = Noise(seed: 22)
    for _ in 0..<200 {
      let samples = (0..<40).map { _ in
        RangeSample(
          time: [.nan, 0, 1e12 * noise.normal(), noise.normal()][Int(noise.uniform() * 4)],
          distance: [.infinity, 1e9, noise.normal(), 5][Int(noise.uniform() * 4)],
          standardDeviation: [0, 0.1, 1e-9, 1e6][Int(noise.uniform() * 4)])
      }
      let result = RangeSmoother().smoothed(samples)
      #expect(result.count == samples.count)
      for estimate in result.compactMap({ $0 }) {
        #expect(estimate.distance.isFinite && estimate.standardDeviation.isFinite)
      }
    }
    #expect(RangeSmoother().smoothed([]).isEmpty)
  }

  /// The detour around an obstacle is the same in all samples.
  @Test func `Many samples around an obstacle do not make it certain`() throws {
    let samples = (0..<100).map { step in
      var sample = RangeSample(time: Double(step) / 10, distance: 4)
      (sample.inflation, sample.standardDeviation) = (16, 0.4)
      return sample
    }
    #expect(try #require(RangeSmoother().smoothed(samples)[50]).standardDeviation > 0.28)
  }
}
