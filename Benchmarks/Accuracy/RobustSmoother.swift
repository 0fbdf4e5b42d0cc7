// SPDX-License-Identifier: Apache-2.0
import Estimators
import Ranging

/// The textbook's estimator for a recording of ranges: a least-squares problem over the horizontal
/// positions at all times, at a known height. Ranges have Cauchy's weights. Between ranges, the
/// velocity is constant with white noise. Gauss-Newton steps solve it with normal equations of
/// bandwidth five.
struct RobustSmoother {
  /// Noise of a range in metres, one standard deviation.
  var noise = 0.15
  /// The density of the acceleration, in m²/s³.
  var acceleration: Double

  /// Returns the position at each sample.
  ///
  /// - Parameter start: the position at which the search starts for each sample. If it is the
  ///   truth, no wrong minimum is found.
  func path(
    _ samples: [PositionSample], from start: [SIMD3<Double>?], height: Double
  ) -> [SIMD3<Double>] {
    // Samples within 20 ms share a position.
    var times: [Double] = []
    let knots = samples.map { sample -> Int in
      if times.last.map({ sample.time - $0 > 0.02 }) ?? true { times.append(sample.time) }
      return times.count - 1
    }
    let anchors = samples.compactMap { sample -> SIMD3<Double>? in
      if case .range(let anchor) = sample.observation.kind { anchor } else { nil }
    }
    precondition(anchors.count == samples.count, "only ranges")
    var way: [SIMD3<Double>] = []
    for (knot, truth) in zip(knots, start) where knot == way.count {
      way.append(truth ?? way.last ?? anchors[0])
      way[knot].z = height
    }
    for _ in 0..<60 {
      var equations = Band(unknowns: 2 * times.count)
      for ((sample, anchor), knot) in zip(zip(samples, anchors), knots) {
        let arm = way[knot] - anchor
        let length = max(1e-6, arm.length)
        let rest = sample.observation.value - length
        let far = rest / (2.385 * noise)
        let weight = 1 / (1 + far * far) / (noise * noise)
        let (gx, gy) = (arm.x / length, arm.y / length)
        let value = rest + gx * way[knot].x + gy * way[knot].y
        equations.add([(2 * knot, gx), (2 * knot + 1, gy)], value, weight)
      }
      for knot in times.indices.dropFirst().dropLast() {
        let (before, after) = (times[knot] - times[knot - 1], times[knot + 1] - times[knot])
        let middle = (before + after) / 2
        let weight = middle / acceleration
        for axis in 0..<2 {
          equations.add(
            [
              (2 * knot - 2 + axis, 1 / (before * middle)),
              (2 * knot + axis, -(1 / before + 1 / after) / middle),
              (2 * knot + 2 + axis, 1 / (after * middle)),
            ], 0, weight)
        }
      }
      let found = equations.solution()
      var change = 0.0
      for knot in way.indices {
        for axis in 0..<2 {
          let step = max(-3, min(3, found[2 * knot + axis] - way[knot][axis]))
          way[knot][axis] += step
          change = max(change, abs(step))
        }
      }
      if change < 1e-4 { break }
    }
    return knots.map { way[$0] }
  }

  /// Normal equations in which each unknown is related to at most the five before and the five
  /// after it.
  private struct Band {
    private static let width = 6
    private var matrix: [Double]
    private var right: [Double]

    init(unknowns: Int) {
      matrix = Array(repeating: 0, count: unknowns * Self.width)
      right = Array(repeating: 0, count: unknowns)
      // A small weight keeps unknowns without measurements unchanged.
      for index in 0..<unknowns { matrix[index * Self.width] = 1e-9 }
    }

    /// Adds `weight` times the square of the sum of the terms minus `value`. Indices have to
    /// increase.
    mutating func add(_ terms: [(index: Int, factor: Double)], _ value: Double, _ weight: Double) {
      for (place, one) in terms.enumerated() {
        right[one.index] += weight * one.factor * value
        for other in terms[place...] {
          matrix[one.index * Self.width + other.index - one.index] +=
            weight * one.factor * other.factor
        }
      }
    }

    /// Solves the equations by Cholesky factorisation.
    func solution() -> [Double] {
      var (factor, result) = (matrix, right)
      let (count, width) = (right.count, Self.width)
      for row in 0..<count {
        let diagonal = factor[row * width].squareRoot()
        for offset in 0..<width { factor[row * width + offset] /= diagonal }
        result[row] /= diagonal
        for below in 1..<width where row + below < count {
          let part = factor[row * width + below]
          for offset in below..<width {
            factor[(row + below) * width + offset - below] -= part * factor[row * width + offset]
          }
          result[row + below] -= part * result[row]
        }
      }
      for row in (0..<count).reversed() {
        for above in 1..<width where row + above < count {
          result[row] -= factor[row * width + above] * result[row + above]
        }
        result[row] /= factor[row * width]
      }
      return result
    }
  }
}
