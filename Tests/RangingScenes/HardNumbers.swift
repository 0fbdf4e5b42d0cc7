// SPDX-License-Identifier: Apache-2.0
package import Ranging

/// Numbers for properties that hold for any input.
package enum HardNumbers {
  /// Numbers that are difficult for arithmetic, and usual ones.
  private static let numbers: [Double] = [
    0, -0.0, 1, -1, 3, 1e-3, 1e6, -1e6, 1e9, 1e18, -1e18, 1e150, -1e300,
    .greatestFiniteMagnitude, -.greatestFiniteMagnitude, .leastNonzeroMagnitude,
    -.leastNonzeroMagnitude, .leastNormalMagnitude, .ulpOfOne, 1 + .ulpOfOne, .pi, -.pi,
  ]

  package static func any(_ noise: inout Noise) -> Double {
    noise.uniform() < 0.5
      ? 10 * noise.normal() : numbers[Int(noise.uniform() * Double(numbers.count))]
  }

  package static func position(_ noise: inout Noise) -> SIMD3<Double> {
    SIMD3<Double>(any(&noise), any(&noise), any(&noise))
  }

  /// Samples of which one in five repeats the one before.
  package static func samples(_ count: Int, _ noise: inout Noise) -> [RangeSample] {
    var samples: [RangeSample] = []
    for _ in 0..<count {
      let repeats = noise.uniform() < 0.2
      samples.append(
        repeats && !samples.isEmpty
          ? samples[samples.count - 1]
          : RangeSample(
            time: any(&noise), distance: any(&noise), standardDeviation: any(&noise),
            nonLineOfSight: noise.uniform() < 0.3))
    }
    return samples
  }
}
