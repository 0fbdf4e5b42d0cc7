// SPDX-License-Identifier: Apache-2.0
package import Estimators
import Ranging

/// A drone among eight anchors at walls and ceiling, located by differences between neighbours or
/// by ranges. Each anchor has a constant error and an error that changes slowly.
package struct Flight {
  /// The errors of the anchors.
  package struct Errors {
    /// One standard deviation of the constant and of the slow error, in metres.
    package var constant, slow: Double
    /// The time in seconds within which the slow error changes.
    package var slowTime: Double
    /// The noise of each measurement in metres.
    package var noise = 0.1

    package init(constant: Double, slow: Double, slowTime: Double = 2) {
      (self.constant, self.slow, self.slowTime) = (constant, slow, slowTime)
    }
  }

  package private(set) var samples: [PositionSample] = []
  package private(set) var truth: [SIMD3<Double>] = []

  /// Creates a minute at 50 Hz, with one measurement in fifty at random.
  package init(seed: UInt64, _ errors: Errors, isDifference: Bool = true) {
    var noise = Noise(seed: seed)
    var anchors: [SIMD3<Double>] = []
    for (x, y) in [(-3.5, -4.0), (3.5, -4.0), (3.5, 4.0), (-3.5, 4.0)] {
      for z in [0.2, 2.8] { anchors.append(SIMD3<Double>(x, y, z + 0.1 * noise.normal())) }
    }
    let constants = anchors.map { _ in errors.constant * noise.normal() }
    var slow = anchors.map { _ in errors.slow * noise.normal() }
    let phases = (0..<3).map { _ in noise.uniform(0, 6) }
    let fade = 1 - 0.02 / errors.slowTime
    for number in 0..<3_000 {
      let time = Double(number) * 0.02
      let (x, y) = (2 * sine(0.6 * time + phases[0]), 2 * sine(0.45 * time + phases[1]))
      let position = SIMD3<Double>(x, y, 1.2 + 0.6 * sine(0.3 * time + phases[2]))
      for anchor in slow.indices {
        slow[anchor] =
          fade * slow[anchor] + errors.slow * (1 - fade * fade).squareRoot() * noise.normal()
      }
      func distance(_ anchor: Int) -> Double {
        (position - anchors[anchor]).length + constants[anchor] + slow[anchor]
      }
      let (first, second) = (number % 8, (number + 1) % 8)
      var value = distance(second) - (isDifference ? distance(first) : 0)
      value += errors.noise * noise.normal()
      if noise.uniform() < 0.02 { value += noise.uniform(isDifference ? -2 : 0, 2) }
      let kind: PositionObservation.Kind =
        isDifference ? .difference(anchors[first], anchors[second]) : .range(anchors[second])
      samples.append(
        PositionSample(
          time: time, observation: PositionObservation(kind, value), source: second,
          reference: isDifference ? first : nil))
      truth.append(position)
    }
  }
}
