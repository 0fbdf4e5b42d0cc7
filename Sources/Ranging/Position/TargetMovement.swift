// SPDX-License-Identifier: Apache-2.0

/// Whether ranges are those of a target that moves: how much better they fit one that moves evenly.
struct TargetMovement {
  /// By how much the log-likelihood is higher where the target may move, at the noise that remains.
  private(set) var evidence = 0.0
  /// Metres per second.
  private(set) var speed = 0.0
  /// One standard deviation of a component of the velocity.
  private(set) var speedDeviation = Double.infinity

  /// - Parameters:
  ///   - sightings: at least two.
  ///   - best: where a target at rest is most likely.
  ///   - share: the weight of one sighting; see `TargetProblem`.
  init(
    _ sightings: [TargetFinder.Sighting], at best: TargetProblem.Minimum, share: Double,
    _ parameters: TargetFinder.Parameters
  ) {
    guard let latest = sightings.last else { return }
    // A step of the position and of the constant error, and a velocity, from the position on.
    var equations = NormalEquations(count: 6)
    let precision = 1 / (parameters.rangeDeviation * parameters.rangeDeviation)
    var rows: [(coefficients: [(index: Int, coefficient: Double)], rest: Double, weight: Double)] =
      []
    rows.reserveCapacity(sightings.count)
    for sighting in sightings {
      let arm = best.position - sighting.pose.position
      let length = max(0.05, arm.length)
      let rest = sighting.range - length - best.bias
      let time = sighting.time - latest.time
      let (x, y) = (arm.x / length, arm.y / length)
      // Few ranges that are far off are no movement.
      let weight = share * precision / (1 + rest * rest * precision / 8)
      let row = [
        (0, x), (1, y), (2, arm.z / length), (3, 1), (4, x * time), (5, y * time),
      ]
      rows.append((row, rest, weight))
      equations.observe(row, rest, weight)
    }
    let up = 1 / (parameters.heightDeviation * parameters.heightDeviation)
    equations.add(2, 2, up)
    equations.add(3, 3, 1 / (parameters.biasDeviation * parameters.biasDeviation))
    for index in 0..<6 { equations.add(index, index, 1e-6) }
    guard let found = equations.solved(), let covariance = equations.inverse() else { return }
    var (before, after, count) = (0.0, 0.0, 0.0)
    for row in rows {
      let left = row.coefficients.reduce(row.rest) { $0 - $1.coefficient * found[$1.index] }
      before += row.weight * row.rest * row.rest
      after += row.weight * left * left
      count += row.weight / precision
    }
    let noise = max(0.1, after / count)
    evidence = (before - after) / 2 / noise
    speedDeviation = (noise * max(covariance[4 * 6 + 4], covariance[5 * 6 + 5])).squareRoot()
    speed = (found[4] * found[4] + found[5] * found[5]).squareRoot()
  }
}
