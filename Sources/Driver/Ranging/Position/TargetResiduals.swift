// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The residuals of ranges at a position. Consecutive residuals are merged into at most 60 groups.
struct TargetResiduals {
  private struct Merged {
    /// The mean residual and its mean derivatives.
    var row = TargetEquations.Row.zero
    /// The inverse of the variance, as a multiple of the inverse variance of one range.
    var weight = 0.0
    /// The distance in metres that the device had moved before.
    var travelled = 0.0
    /// The variance that the drift of the heading adds until now.
    var age = 0.0
    /// The variance that the uneven stretch of the path adds until now.
    var wear = 0.0
  }

  private var merged: [Merged] = []
  /// The weighted sum of the squared differences from the means of the groups.
  private(set) var within = 0.0
  /// The number of ranges.
  private(set) var count = 0.0
  /// The number of ranges minus the number of groups.
  private var differences = 0.0

  init(_ problem: TargetProblem, at best: TargetProblem.Minimum, deviation: Double) {
    let precision = 1 / (deviation * deviation)
    let size = (problem.count + 59) / 60
    merged.reserveCapacity(problem.count / size + 1)
    var (group, squares, grouped) = (Merged(), 0.0, 0)
    for pair in problem.ranges {
      for lane in 0..<2 where pair.precision[lane] > 0 {
        let row = pair.row(lane, at: best)
        let residual = row[7]
        // The weight by Student's t-distribution, as in `TargetProblem`.
        let freedom = residual > 0 ? 3.0 : 8.0
        let weight =
          (freedom + 1) / (freedom + residual * residual * precision) / pair.spread[lane]
        group.row += row * weight
        group.weight += weight
        group.travelled += pair.travelled[lane] * weight
        group.age += pair.age[lane] * weight
        group.wear += pair.wear[lane] * weight
        squares += weight * residual * residual
        grouped += 1
        count += 1
        if grouped < size, Int(count) < problem.count { continue }
        let inverse = 1 / group.weight
        group.row *= inverse
        group.travelled *= inverse
        group.age *= inverse
        group.wear *= inverse
        within += squares - group.weight * group.row[7] * group.row[7]
        differences += Double(grouped - 1)
        merged.append(group)
        (group, squares, grouped) = (Merged(), 0, 0)
      }
    }
  }

  /// The metres moved from the first group to the last group.
  var way: Double { max(1e-6, merged[merged.count - 1].travelled - merged[0].travelled) }

  /// Returns the correlation of each group with the group before it.
  ///
  /// - Parameter length: the distance in metres over which the error changes.
  func fades(_ length: Double) -> [Double] {
    var before = merged[0].travelled
    return merged.map { one in
      defer { before = one.travelled }
      return exp((before - one.travelled) / length)
    }
  }

  /// Adds the residuals to equations. Subtracts the part of each that the residuals before it
  /// predict.
  ///
  /// - Parameters:
  ///   - slow: the share of the variance that changes slowly.
  ///   - drift: the factor of `age`.
  ///   - scale: the factor of `wear`.
  /// - Returns: the logarithm of the product of the variances.
  func whiten(
    slow: Double, _ fades: [Double], drift: Double, _ scale: Double,
    _ equations: inout TargetEquations
  ) -> Double {
    // The predicted slow error, as a multiple of its deviation, for each column of a row.
    var (state, variance) = (TargetEquations.Row.zero, 1.0)
    var (logarithm, product) = (differences * log(1 - slow), 1.0)
    for index in 0..<merged.count {
      let (one, fade) = (merged[index], fades[index])
      state *= fade
      variance = fade * fade * variance + 1 - fade * fade
      let size = (slow + drift * one.age + scale * one.wear).squareRoot()
      let total = size * size * variance + (1 - slow) / one.weight
      let fresh = one.row - state * size
      let gain = variance * size / total
      state += fresh * gain
      variance -= gain * size * variance
      equations.add(fresh, weight: 1 / total)
      product *= total * one.weight
      if product < 1e-200 || product > 1e200 {
        logarithm += log(product)
        product = 1
      }
    }
    return logarithm + log(product)
  }
}

extension TargetProblem.Ranges {
  /// Returns the derivatives of a range in the order of the unknowns, and then its residual.
  fileprivate func row(_ lane: Int, at best: TargetProblem.Minimum) -> TargetEquations.Row {
    let (x, y, z) = (
      best.position.x - self.x[lane], best.position.y - self.y[lane],
      best.position.z - self.z[lane]
    )
    let length = max(1e-3, (x * x + y * y + z * z).squareRoot())
    let (gx, gy, gz) = (x / length, y / length, z / length)
    return TargetEquations.Row(
      1, gy * leverX[lane] - gx * leverY[lane], gy * waveX[lane] - gx * waveY[lane],
      gx * backX[lane] + gy * backY[lane] + gz * backZ[lane], gx, gy, gz,
      range[lane] - length - best.bias)
  }
}

/// The normal equations of seven unknowns. The eighth column has the right side and the sum of
/// squares.
struct TargetEquations {
  typealias Row = SIMD8<Double>

  /// The unknowns. The position is last, so that the elimination of the others results in the
  /// position's information.
  enum Unknown: Int {
    case constant, rate, wave, stretch, x, y, z
  }

  private var rows = (Row.zero, Row.zero, Row.zero, Row.zero, Row.zero, Row.zero, Row.zero)
  private var squares = 0.0

  struct Solution {
    var step: SIMD3<Double>
    var covariance: Symmetric3
    var rate, wave: Double
    /// The weighted sum of the squared residuals of the solution.
    var rest: Double
    var logDeterminant: Double
  }

  /// Adds a residual and its derivatives.
  @inline(__always)
  mutating func add(_ row: Row, weight: Double) {
    let weighted = row * weight
    rows.0 += weighted * row[0]
    rows.1 += weighted * row[1]
    rows.2 += weighted * row[2]
    rows.3 += weighted * row[3]
    rows.4 += weighted * row[4]
    rows.5 += weighted * row[5]
    rows.6 += weighted * row[6]
    squares += weighted[7] * row[7]
  }

  /// Adds an expected value of an unknown, with its precision.
  mutating func expect(_ unknown: Unknown, _ value: Double, _ precision: Double) {
    var row = Row.zero
    row[unknown.rawValue] = 1
    row[7] = value
    add(row, weight: precision)
  }

  /// Adds information about the position, and the slope of the position's log-likelihood.
  mutating func add(_ information: Symmetric3, _ slope: SIMD3<Double>) {
    rows.4 += Row(
      0, 0, 0, 0, information.xx, information.xy, information.xz, slope.x)
    rows.5 += Row(
      0, 0, 0, 0, information.xy, information.yy, information.yz, slope.y)
    rows.6 += Row(
      0, 0, 0, 0, information.xz, information.yz, information.zz, slope.z)
  }

  /// Returns the unknowns; nil if the equations do not determine them.
  func solved() -> Solution? {
    var (a, b, c, d) = (rows.0, rows.1, rows.2, rows.3)
    var (x, y, z) = (rows.4, rows.5, rows.6)
    var rest = squares
    /// Subtracts a multiple of the pivot's row, so that the column of the pivot is zero.
    func eliminate(_ row: inout Row, _ pivot: Row, _ index: Int) {
      row -= pivot * (row[index] / pivot[index])
    }
    func eliminateAll(_ pivot: Row, _ index: Int) {
      eliminate(&x, pivot, index)
      eliminate(&y, pivot, index)
      eliminate(&z, pivot, index)
      rest -= pivot[7] * pivot[7] / pivot[index]
    }
    eliminate(&b, a, 0)
    eliminate(&c, a, 0)
    eliminate(&d, a, 0)
    eliminateAll(a, 0)
    eliminate(&c, b, 1)
    eliminate(&d, b, 1)
    eliminateAll(b, 1)
    eliminate(&d, c, 2)
    eliminateAll(c, 2)
    eliminateAll(d, 3)
    let information = Symmetric3(xx: x[4], xy: x[5], xz: x[6], yy: y[5], yz: y[6], zz: z[6])
    guard let covariance = information.inverse else { return nil }
    let slope = SIMD3(x[7], y[7], z[7])
    let step = covariance.times(slope)
    /// Returns an unknown from its row and the unknowns after it.
    func value(_ row: Row, _ index: Int, _ others: Row) -> Double {
      (row[7] - (row * others).sum()) / row[index]
    }
    var found = Row(0, 0, 0, 0, step.x, step.y, step.z, 0)
    found[3] = value(d, 3, found)
    found[2] = value(c, 2, found)
    found[1] = value(b, 1, found)
    let pivots = a[0] * b[1] * c[2] * d[3]
    let volume = covariance.determinant
    guard step.isFinite, pivots > 0, volume > 0 else { return nil }
    return Solution(
      step: step, covariance: covariance, rate: found[1], wave: found[2],
      rest: max(0, rest - slope.dot(step)), logDeterminant: log(pivots) - log(volume))
  }
}

extension Symmetric3 {
  fileprivate var determinant: Double {
    xx * (yy * zz - yz * yz) + xy * (xz * yz - xy * zz) + xz * (xy * yz - xz * yy)
  }
}
