// SPDX-License-Identifier: Apache-2.0
package import Ranging

extension RangeEstimator.Parameters {
  /// For samples with independent errors.
  package static var white: Self {
    var parameters = Self()
    parameters.slowDeviation = 0
    return parameters
  }
}

/// A peer whose acceleration is white, and noisy ranges to it at 10 Hz.
package enum Wanderer {
  package static func way(
    _ count: Int, density: Double = 1, noise deviation: Double = 0.1, seed: UInt64
  ) -> [(sample: RangeSample, distance: Double, velocity: Double)] {
    var noise = Noise(seed: seed)
    var (r, v) = (20.0, density.squareRoot() * noise.normal())
    return (0..<count).map { step in
      // Exact integration of white acceleration over 0.1 s.
      let (a, b) = (noise.normal(), noise.normal())
      let (dt, root) = (0.1, density.squareRoot())
      r += v * dt + root * (dt * dt * dt / 3).squareRoot() * (0.75.squareRoot() * a + 0.5 * b)
      v += root * dt.squareRoot() * a
      return (
        RangeSample(time: Double(step) * dt, distance: r + deviation * noise.normal()), r, v
      )
    }
  }
}
