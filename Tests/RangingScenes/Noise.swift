// SPDX-License-Identifier: Apache-2.0
/// SplitMix64 with normally distributed numbers (the sum of twelve uniform ones).
package struct Noise {
  package var state: UInt64
  package init(seed: UInt64) { state = seed }

  package mutating func uniform() -> Double {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return Double((z ^ (z >> 31)) >> 11) * 0x1p-53
  }

  package mutating func uniform(_ low: Double, _ high: Double) -> Double {
    low + (high - low) * uniform()
  }

  package mutating func normal() -> Double {
    var sum = -6.0
    for _ in 0..<12 { sum += uniform() }
    return sum
  }
}

/// Mean and standard deviation of numbers.
package struct Spread {
  package private(set) var count = 0.0
  package private(set) var mean = 0.0
  private var squares = 0.0

  package init() {}

  package var deviation: Double { (squares / max(1, count - 1)).squareRoot() }
  /// Root of the mean square.
  package var rms: Double { (squares / max(1, count) + mean * mean).squareRoot() }

  package mutating func add(_ value: Double) {
    count += 1
    let before = value - mean
    mean += before / count
    squares += before * (value - mean)
  }
}

package func ppm(_ value: Double) -> Double { value * 1e-6 }
