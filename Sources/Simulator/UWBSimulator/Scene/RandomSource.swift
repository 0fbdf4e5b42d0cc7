// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The random numbers of a simulation: xoshiro256**, filled from a seed with splitmix64, and
/// therefore the same on every machine.
package struct RandomSource: RandomNumberGenerator, Hashable, Sendable {
  private var state: SIMD4<UInt64>

  /// Creates a source; equal seeds give equal numbers.
  package init(seed: UInt64) {
    var s = seed
    func next() -> UInt64 {
      s &+= 0x9E37_79B9_7F4A_7C15
      var z = s
      z = (z ^ z >> 30) &* 0xBF58_476D_1CE4_E5B9
      z = (z ^ z >> 27) &* 0x94D0_49BB_1331_11EB
      return z ^ z >> 31
    }
    state = SIMD4(next(), next(), next(), next())
  }

  package mutating func next() -> UInt64 {
    let product = state[1] &* 5
    let result = (product << 7 | product >> 57) &* 9
    let t = state[1] << 17
    state[2] ^= state[0]
    state[3] ^= state[1]
    state[1] ^= state[2]
    state[0] ^= state[3]
    state[2] ^= t
    state[3] = state[3] << 45 | state[3] >> 19
    return result
  }

  /// Returns a uniformly distributed number in 0..<1.
  package mutating func uniform() -> Double { Double(next() >> 11) * 0x1p-53 }

  /// Returns a normally distributed number with mean 0 and standard deviation 1.
  package mutating func normal() -> Double {
    let radius = (-2 * log(1 - uniform())).squareRoot()
    return radius * cos(2 * .pi * uniform())
  }
}
