// SPDX-License-Identifier: Apache-2.0

/// The evidence that a target moves: the gain in likelihood of a target with constant velocity.
struct TargetMovement {
  /// The log-likelihood ratio of a moving and a resting target, at the remaining noise.
  private(set) var evidence = 0.0
  /// Metres per second.
  private(set) var speed = 0.0
  /// A step of the position and of the constant error, and a velocity.
  private var equations = NormalEquations(count: 6)
  /// The remaining variance relative to the assumed one.
  private var noise = 1.0

  /// - Parameters:
  ///   - sightings: at least two.
  ///   - best: the likeliest position of a target at rest.
  ///   - share: the weight of one sighting; see `TargetProblem`.
  init(
    _ sightings: [TargetFinder.Sighting], at best: TargetProblem.Minimum, share: Double,
    _ parameters: TargetFinder.Parameters
  ) {
    guard let latest = sightings.last else { return }
    let precision = 1 / (parameters.rangeDeviation * parameters.rangeDeviation)
    // For each unknown, the sums of the products with all; the last two lanes are 0.
    var products = [SIMD8<Double>](repeating: .zero, count: 6)
    var right = SIMD8<Double>.zero
    var (before, count) = (0.0, 0.0)
    for sighting in sightings {
      let arm = best.position - sighting.pose.position
      let length = max(0.05, arm.length)
      let rest = sighting.range - length - best.bias
      let time = sighting.time - latest.time
      let (x, y, z) = (arm.x / length, arm.y / length, arm.z / length)
      // A few gross errors are not movement.
      let weight = share * precision / (1 + rest * rest * precision / 8)
      let row = SIMD8<Double>(x, y, z, 1, x * time, y * time, 0, 0)
      let weighted = row * weight
      for unknown in 0..<6 { products[unknown] += row * weighted[unknown] }
      right += weighted * rest
      before += weight * rest * rest
      count += weight / precision
    }
    for row in 0..<6 {
      equations.right[row] = right[row]
      for column in 0...row { equations.add(row, column, products[row][column]) }
      equations.add(row, row, 1e-6)
    }
    equations.add(2, 2, 1 / (parameters.heightDeviation * parameters.heightDeviation))
    equations.add(3, 3, 1 / (parameters.biasDeviation * parameters.biasDeviation))
    guard let found = equations.solved() else { return }
    var gain = 0.0
    for row in 0..<6 {
      gain += 2 * found[row] * right[row]
      for column in 0..<6 { gain -= found[row] * found[column] * products[row][column] }
    }
    noise = max(0.1, (before - gain) / count)
    evidence = gain / 2 / noise
    speed = (found[4] * found[4] + found[5] * found[5]).squareRoot()
  }

  /// One standard deviation of a component of the velocity.
  var speedDeviation: Double {
    guard let covariance = equations.inverse() else { return .infinity }
    return (noise * max(covariance[4 * 6 + 4], covariance[5 * 6 + 5])).squareRoot()
  }
}
