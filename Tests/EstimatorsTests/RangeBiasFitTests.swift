// SPDX-License-Identifier: Apache-2.0
import Estimators
import Ranging
import Testing
import UWBTestSupport

@Suite(.computes) struct RangeBiasFitTests {
  /// Distances of two pairs of boards whose bias follows the vendor's table.
  static func ranges(seed: UInt64, outliers: Double = 0.02) -> [KnownRange] {
    var noise = Noise(seed: seed)
    return (0..<4000).map { index in
      let power = -92 + 26 * noise.uniform()
      let truth = 2 + 40 * noise.uniform()
      let pair = index % 2
      var measured =
        truth + [0.31, 0.18][pair] + PowerBias.dw1000PRF64.bias(at: power) + 0.03 * noise.normal()
      if noise.uniform() < outliers { measured += 3 * noise.uniform() }
      return KnownRange(measured: measured, truth: truth, power: power, pair: pair)
    }
  }

  @Test func `Recovers delay and table`() throws {
    let ranges = Self.ranges(seed: 1)
    let fit = try #require(RangeBiasFit(ranges))
    #expect(fit.delays.count == 2)
    #expect(abs(fit.delays[0] - fit.delays[1] - 0.13) < 0.003)
    for power in stride(from: -90.0, through: -68, by: 1) {
      let found = fit.delays[0] + fit.powerBias.bias(at: power)
      let truth = 0.31 + PowerBias.dw1000PRF64.bias(at: power)
      #expect(abs(found - truth) < 0.012, "\(power) dBm: \(found) for \(truth)")
    }
    #expect(0.02...0.04 ~= fit.residuals.median / 0.6745)
  }

  @Test func `Fits the delay alone without levels`() throws {
    let ranges = Self.ranges(seed: 2).map {
      KnownRange(measured: $0.truth + 0.2, truth: $0.truth)
    }
    let fit = try #require(RangeBiasFit(ranges))
    #expect(abs(fit.delays[0] - 0.2) < 1e-9 && fit.powerBias.knots.isEmpty)
    let one = try #require(RangeBiasFit([KnownRange(measured: 5.2, truth: 5, power: -80)]))
    #expect(abs(one.delays[0] - 0.2) < 1e-9)
  }

  /// Reflections at each of 40 positions. Three positions do not show that there are none.
  @Test(arguments: [(0.02, 0.02...0.045), (0.15, 0.12...0.18)])
  func `Learns the scatter of positions`(scatter: Double, about: ClosedRange<Double>) throws {
    var noise = Noise(seed: 5)
    let ranges = (0..<40).flatMap { place in
      let truth = 2 + Double(place)
      let error = 0.3 + scatter * noise.normal()
      return (0..<50).map { _ in
        KnownRange(measured: truth + error + 0.03 * noise.normal(), truth: truth)
      }
    }
    let fit = try #require(RangeBiasFit(ranges))
    #expect(about.contains(fit.positionDeviation), "\(fit.positionDeviation)")
    let few = try #require(
      RangeBiasFit([5, 6, 7].map { KnownRange(measured: $0 + 0.3, truth: $0) }))
    #expect(0.065...0.075 ~= few.positionDeviation)
  }

  @Test func `Returns nil without data`() {
    #expect(RangeBiasFit([]) == nil)
    #expect(RangeBiasFit([KnownRange(measured: .nan, truth: 1)]) == nil)
    #expect(RangeBiasFit([KnownRange(measured: 1, truth: 1, pair: 1)]) == nil)
  }
}
