// SPDX-License-Identifier: Apache-2.0

/// The evidence that a target moves: the greater likelihood of a target with constant velocity.
struct TargetMovement {
  private typealias Lanes = TargetProblem.Lanes

  /// Weighted sums of the products of the vector (x, y, z, 1) with itself, for unit directions (x,
  /// y, z).
  private struct Moments {
    var (xx, xy, xz, yy, yz, zz) = (
      Lanes.zero, Lanes.zero, Lanes.zero, Lanes.zero, Lanes.zero, Lanes.zero
    )
    var (x, y, z, one) = (Lanes.zero, Lanes.zero, Lanes.zero, Lanes.zero)

    @inline(__always)
    mutating func add(_ x: Lanes, _ y: Lanes, _ z: Lanes, _ weight: Lanes) {
      let (wx, wy, wz) = (weight * x, weight * y, weight * z)
      xx += wx * x
      xy += wx * y
      xz += wx * z
      yy += wy * y
      yz += wy * z
      zz += wz * z
      self.x += wx
      self.y += wy
      self.z += wz
      one += weight
    }
  }

  /// The log-likelihood ratio of a moving and a resting target, with the learned noise.
  private(set) var evidence = 0.0
  /// The horizontal speed in metres per second.
  private(set) var speed = 0.0
  /// The equations of a step (x, y, z), a change of the constant error, and a velocity (x, y).
  private var equations = NormalEquations(count: 6)
  /// The ratio of the variance of the residuals to the assumed variance.
  private var noise = 1.0

  /// - Parameters:
  ///   - problem: has at least two sightings.
  ///   - best: the likeliest position of a target at rest.
  init(
    _ problem: TargetProblem, at best: TargetProblem.Minimum, _ parameters: TargetFinder.Parameters
  ) {
    let precision = 1 / (parameters.rangeDeviation * parameters.rangeDeviation)
    // The sums `still`, `once` and `twice` are weighted by 1, the time and its square. `rest` and
    // `restOnce` are weighted by the residuals, too.
    var (rest, once, twice, restOnce) = (Moments(), Moments(), Moments(), Moments())
    var (still, before) = (Moments(), Lanes.zero)
    for pair in problem.ranges {
      var (x, y, z) = (best.position.x - pair.x, best.position.y - pair.y, best.position.z - pair.z)
      var length = (x * x + y * y + z * z).squareRoot()
      length.replace(with: 0.05, where: length .< 0.05)
      let residual = pair.range - length - best.bias
      let inverse = 1 / length
      (x, y, z) = (x * inverse, y * inverse, z * inverse)
      // The weight limits the influence of a few gross errors, which are not movement.
      var weight = problem.assumedShare * precision / (1 + residual * residual * (precision / 8))
      weight.replace(with: 0, where: pair.precision .== 0)
      still.add(x, y, z, weight)
      once.add(x, y, z, weight * pair.time)
      twice.add(x, y, z, weight * pair.time * pair.time)
      rest.add(x, y, z, weight * residual)
      restOnce.add(x, y, z, weight * residual * pair.time)
      before += weight * residual * residual
    }
    let right = [rest.x, rest.y, rest.z, rest.one, restOnce.x, restOnce.y]
    equations.right = right.map { $0.sum() }
    fill(still, once, twice)
    let (height, bias) = (parameters.heightDeviation, parameters.biasDeviation)
    let priors = [1e-6, 1e-6, 1e-6 + 1 / (height * height), 1e-6 + 1 / (bias * bias), 1e-6, 1e-6]
    for (index, prior) in priors.enumerated() { equations.add(index, index, prior) }
    guard let found = equations.solved() else { return }
    var gain = 0.0
    for (index, prior) in priors.enumerated() {
      gain += found[index] * (equations.right[index] + prior * found[index])
    }
    noise = max(0.1, (before.sum() - gain) / (still.one.sum() / precision))
    evidence = gain / 2 / noise
    speed = (found[4] * found[4] + found[5] * found[5]).squareRoot()
  }

  private mutating func fill(_ still: Moments, _ once: Moments, _ twice: Moments) {
    let rows = [
      [still.xx], [still.xy, still.yy], [still.xz, still.yz, still.zz],
      [still.x, still.y, still.z, still.one],
      [once.xx, once.xy, once.xz, once.x, twice.xx],
      [once.xy, once.yy, once.yz, once.y, twice.xy, twice.yy],
    ]
    for (row, sums) in rows.enumerated() {
      for (column, sum) in sums.enumerated() { equations.add(row, column, sum.sum()) }
    }
  }

  /// One standard deviation of a component of the velocity in metres per second.
  var speedDeviation: Double {
    guard let covariance = equations.inverse() else { return .infinity }
    return (noise * max(covariance[4 * 6 + 4], covariance[5 * 6 + 5])).squareRoot()
  }
}
