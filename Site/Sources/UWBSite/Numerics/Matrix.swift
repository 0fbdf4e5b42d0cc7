// SPDX-License-Identifier: Apache-2.0

/// A dense matrix of doubles, stored by rows.
///
/// The algorithms of textbooks are enough, because a site has at most some hundred unknowns.
struct Matrix: Sendable, Hashable {
  let rows: Int
  let columns: Int
  /// The element of row `i` and column `j` stands at `i * columns + j`.
  var elements: [Double]

  /// Creates a matrix of zeros.
  init(rows: Int, columns: Int) {
    self.rows = rows
    self.columns = columns
    elements = Array(repeating: 0, count: rows * columns)
  }

  /// Creates a square matrix with `diagonal` on its diagonal and zeros elsewhere.
  init(diagonal: [Double]) {
    self.init(rows: diagonal.count, columns: diagonal.count)
    for (index, value) in diagonal.enumerated() { self[index, index] = value }
  }

  static func identity(_ size: Int) -> Matrix {
    Matrix(diagonal: Array(repeating: 1, count: size))
  }

  subscript(row: Int, column: Int) -> Double {
    get { elements[row * columns + column] }
    set { elements[row * columns + column] = newValue }
  }

  var transposed: Matrix {
    var result = Matrix(rows: columns, columns: rows)
    for i in 0..<rows {
      for j in 0..<columns { result[j, i] = self[i, j] }
    }
    return result
  }

  static func + (left: Matrix, right: Matrix) -> Matrix {
    precondition(left.rows == right.rows && left.columns == right.columns)
    var result = left
    for index in result.elements.indices { result.elements[index] += right.elements[index] }
    return result
  }

  static func * (left: Matrix, right: Matrix) -> Matrix {
    precondition(left.columns == right.rows)
    var result = Matrix(rows: left.rows, columns: right.columns)
    for i in 0..<left.rows {
      for k in 0..<left.columns where left[i, k] != 0 {
        let factor = left[i, k]
        for j in 0..<right.columns { result[i, j] += factor * right[k, j] }
      }
    }
    return result
  }

  static func * (left: Matrix, right: [Double]) -> [Double] {
    precondition(left.columns == right.count)
    return (0..<left.rows).map { i in
      (0..<left.columns).reduce(0) { $0 + left[i, $1] * right[$1] }
    }
  }
}

/// The lower triangular factor of a symmetric, positive definite matrix: `L * Lᵀ`.
struct Cholesky: Sendable, Hashable {
  let lower: Matrix

  /// Factors the lower triangle of `matrix`; nil unless the matrix is positive definite.
  init?(_ matrix: Matrix) {
    precondition(matrix.rows == matrix.columns)
    var lower = Matrix(rows: matrix.rows, columns: matrix.rows)
    for j in 0..<matrix.rows {
      for i in j..<matrix.rows {
        var sum = matrix[i, j]
        for k in 0..<j { sum -= lower[i, k] * lower[j, k] }
        if i == j {
          guard sum > 0, sum.isFinite else { return nil }
          lower[j, j] = sum.squareRoot()
        } else {
          lower[i, j] = sum / lower[j, j]
        }
      }
    }
    self.lower = lower
  }

  /// Solves `matrix * x = right`.
  func solve(_ right: [Double]) -> [Double] {
    var x = right
    let size = lower.rows
    for i in 0..<size {
      for k in 0..<i { x[i] -= lower[i, k] * x[k] }
      x[i] /= lower[i, i]
    }
    for i in (0..<size).reversed() {
      for k in (i + 1)..<max(size, i + 1) { x[i] -= lower[k, i] * x[k] }
      x[i] /= lower[i, i]
    }
    return x
  }

  /// The inverse of the factored matrix.
  var inverse: Matrix {
    let size = lower.rows
    var result = Matrix(rows: size, columns: size)
    for column in 0..<size {
      var unit = Array(repeating: 0.0, count: size)
      unit[column] = 1
      for (row, value) in solve(unit).enumerated() { result[row, column] = value }
    }
    return result
  }

  /// The natural logarithm of the determinant of the factored matrix.
  var logDeterminant: Double {
    (0..<lower.rows).reduce(0) { $0 + 2 * Math.log(lower[$1, $1]) }
  }
}
