// SPDX-License-Identifier: Apache-2.0

/// A symmetric matrix of six rows in place: the covariance of a place and its velocity.
struct Matrix6: Sendable {
  private var elements = InlineArray<36, Double>(repeating: 0)

  static func diagonal(_ values: (Double, Double, Double, Double, Double, Double)) -> Matrix6 {
    var result = Matrix6()
    (result[0, 0], result[1, 1], result[2, 2]) = (values.0, values.1, values.2)
    (result[3, 3], result[4, 4], result[5, 5]) = (values.3, values.4, values.5)
    return result
  }

  subscript(row: Int, column: Int) -> Double {
    @inline(__always) get { elements[row * 6 + column] }
    @inline(__always) set { elements[row * 6 + column] = newValue }
  }

  func times(_ v: Vector6) -> Vector6 {
    var result = Vector6()
    for row in 0..<6 {
      var sum = 0.0
      for column in 0..<6 { sum += self[row, column] * v[column] }
      result[row] = sum
    }
    return result
  }

  func times(_ other: Matrix6) -> Matrix6 {
    var result = Matrix6()
    for row in 0..<6 {
      for column in 0..<6 {
        var sum = 0.0
        for k in 0..<6 { sum += self[row, k] * other[k, column] }
        result[row, column] = sum
      }
    }
    return result
  }

  var transposed: Matrix6 {
    var result = Matrix6()
    for row in 0..<6 { for column in 0..<6 { result[column, row] = self[row, column] } }
    return result
  }

  func minus(_ other: Matrix6) -> Matrix6 {
    var result = self
    for row in 0..<6 { for column in 0..<6 { result[row, column] -= other[row, column] } }
    return result
  }

  /// The inverse of a positive definite matrix; nil for others.
  var inverse: Matrix6? {
    var factor = Matrix6()
    for row in 0..<6 {
      for column in 0...row {
        var sum = self[row, column]
        for k in 0..<column { sum -= factor[row, k] * factor[column, k] }
        if row == column {
          guard sum > 1e-15 * abs(self[row, row]), sum.isFinite else { return nil }
          factor[row, row] = sum.squareRoot()
        } else {
          factor[row, column] = sum / factor[column, column]
        }
      }
    }
    var result = Matrix6()
    for unit in 0..<6 {
      var x = Vector6()
      x[unit] = 1
      for row in 0..<6 {
        for k in 0..<row { x[row] -= factor[row, k] * x[k] }
        x[row] /= factor[row, row]
      }
      for row in (0..<6).reversed() {
        for k in (row + 1)..<6 { x[row] -= factor[k, row] * x[k] }
        x[row] /= factor[row, row]
      }
      for row in 0..<6 { result[row, unit] = x[row] }
    }
    return result
  }
}

/// Six numbers in place.
struct Vector6: Sendable {
  private var elements = InlineArray<6, Double>(repeating: 0)

  subscript(index: Int) -> Double {
    @inline(__always) get { elements[index] }
    @inline(__always) set { elements[index] = newValue }
  }
}
