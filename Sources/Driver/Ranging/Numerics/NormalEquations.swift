// SPDX-License-Identifier: Apache-2.0

/// The normal equations of a least squares problem of any size. It allocates, so it suits
/// calibration rather than ranging.
package struct NormalEquations {
  package let count: Int
  /// The elements, row by row; only the lower triangle is used.
  package var matrix: [Double]
  package var right: [Double]

  package init(count: Int) {
    self.count = count
    matrix = Array(repeating: 0, count: count * count)
    right = Array(repeating: 0, count: count)
  }

  /// Adds `value` to a symmetric pair of elements, which is stored once.
  package mutating func add(_ row: Int, _ column: Int, _ value: Double) {
    matrix[max(row, column) * count + min(row, column)] += value
  }

  /// Adds the weighted observation that the sum of `coefficient` times unknown is `value`.
  package mutating func observe(
    _ terms: [(index: Int, coefficient: Double)], _ value: Double, _ weight: Double
  ) {
    for n in terms.indices {
      let (row, coefficient) = terms[n]
      let weighted = weight * coefficient
      right[row] += weighted * value
      for other in 0...n { add(row, terms[other].index, weighted * terms[other].coefficient) }
    }
  }

  /// Adds an observation with a coefficient for each unknown, in order.
  package mutating func observe(all coefficients: [Double], _ value: Double, _ weight: Double) {
    var start = 0
    for row in 0..<count {
      let weighted = weight * coefficients[row]
      right[row] += weighted * value
      for column in 0..<row + 1 { matrix[start + column] += weighted * coefficients[column] }
      start += count
    }
  }

  /// Adds the prior that evenly spaced unknowns form a smooth curve.
  ///
  /// - Parameters:
  ///   - bend: the change of the slope over one unit of `step`, one standard deviation.
  ///   - noise: the standard deviation of observations with a weight of 1.
  package mutating func smooth(_ unknowns: Range<Int>, step: Double, bend: Double, noise: Double) {
    let deviation = bend * step * step
    let weight = noise * noise / (deviation * deviation)
    for index in unknowns.dropFirst().dropLast() {
      observe([(index - 1, 1), (index, -2), (index + 1, 1)], 0, weight)
    }
  }

  /// Returns the unknowns; nil if the equations do not determine them.
  package func solved() -> [Double]? {
    guard let factor = factored() else { return nil }
    return Self.substitute(factor, right, count)
  }

  /// Returns the inverse, row by row; nil if the matrix is singular. It is the covariance of the
  /// unknowns if the weights were inverse variances.
  package func inverse() -> [Double]? {
    guard let factor = factored() else { return nil }
    return (0..<count).flatMap { index in
      var unit = [Double](repeating: 0, count: count)
      unit[index] = 1
      return Self.substitute(factor, unit, count)
    }
  }

  /// Returns the Cholesky factor.
  private func factored() -> [Double]? {
    var factor = matrix
    for row in 0..<count {
      for column in 0..<row + 1 {
        var sum = factor[row * count + column]
        for k in 0..<column { sum -= factor[row * count + k] * factor[column * count + k] }
        if row == column {
          guard sum > 1e-13 * abs(matrix[row * count + row]), sum.isFinite else { return nil }
          factor[row * count + row] = sum.squareRoot()
        } else {
          factor[row * count + column] = sum / factor[column * count + column]
        }
      }
    }
    return factor
  }

  private static func substitute(_ factor: [Double], _ right: [Double], _ count: Int) -> [Double] {
    var result = right
    for row in 0..<count {
      for k in 0..<row { result[row] -= factor[row * count + k] * result[k] }
      result[row] /= factor[row * count + row]
    }
    for row in (0..<count).reversed() {
      for k in (row + 1)..<max(count, row + 1) {
        result[row] -= factor[k * count + row] * result[k]
      }
      result[row] /= factor[row * count + row]
    }
    return result
  }
}

extension Array where Element == Double {
  /// Returns the quantile with linear interpolation; 0 for an empty array.
  package func quantile(_ part: Double) -> Double {
    guard !isEmpty else { return 0 }
    let position = part * Double(count - 1)
    let low = Int(position)
    var values = self
    values.select(low)
    guard low + 1 < count else { return values[low] }
    var next = values[low + 1]
    for index in low + 1..<count where values[index] < next { next = values[index] }
    return values[low] + (next - values[low]) * (position - Double(low))
  }

  /// Moves the element that sorting would place at `index` there. No element before it is greater,
  /// and none after it is smaller (Hoare's selection).
  private mutating func select(_ index: Int) {
    var (first, last) = (0, count - 1)
    while first < last {
      let pivot = self[index]
      var (low, high) = (first, last)
      while low <= high {
        while self[low] < pivot { low += 1 }
        while pivot < self[high] { high -= 1 }
        if low <= high {
          swapAt(low, high)
          low += 1
          high -= 1
        }
      }
      if high < index { first = low }
      if index < low { last = high }
    }
  }
}
