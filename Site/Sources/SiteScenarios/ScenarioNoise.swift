// SPDX-License-Identifier: Apache-2.0

import Foundation
import UWBSite

/// Random numbers from a seed.
package struct ScenarioNoise: Sendable {
  private var random: SplitMix64

  /// - Parameter stream: Distinguishes sequences of one seed.
  package init(seed: UInt64, stream: UInt64 = 0x0051_7CC1_B727_220A) {
    // The start is random, because SplitMix64 with near seeds, or with multiples of its step,
    // returns the same numbers at shifted positions.
    var start = SplitMix64(seed: seed)
    random = SplitMix64(seed: start.next() ^ stream)
  }

  package mutating func uniform(_ low: Double = 0, _ high: Double = 1) -> Double {
    low + (high - low) * random.uniform()
  }

  package mutating func normal() -> Double {
    (-2 * log(1 - uniform())).squareRoot() * cos(2 * .pi * uniform())
  }

  package mutating func exponential(_ mean: Double) -> Double { -mean * log(1 - uniform()) }
}

/// Errors of a tracker. Each error resembles the earlier errors for some time.
package struct TrackerError: Sendable {
  /// The time in seconds for which errors resemble one another; 0 for independent errors.
  package let memory: Double
  private var value = SIMD2(0.0, 0)

  package init(memory: Double, _ noise: inout ScenarioNoise) {
    self.memory = memory
    value = SIMD2(noise.normal(), noise.normal())
  }

  /// Returns the error in deviations after a time.
  package mutating func next(after interval: Double, _ noise: inout ScenarioNoise) -> SIMD2<Double>
  {
    let kept = memory > 0 ? exp(-interval / memory) : 0
    value = kept * value + (1 - kept * kept).squareRoot() * SIMD2(noise.normal(), noise.normal())
    return value
  }
}
