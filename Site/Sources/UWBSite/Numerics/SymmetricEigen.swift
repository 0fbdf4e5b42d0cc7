// SPDX-License-Identifier: Apache-2.0

/// The eigenvalues and eigenvectors of a symmetric matrix, by Jacobi's rotations.
struct SymmetricEigen: Sendable, Hashable {
  /// The eigenvalues in ascending order.
  let values: [Double]
  /// Column `k` is the unit eigenvector of `values[k]`.
  let vectors: Matrix

  init(_ matrix: Matrix) {
    precondition(matrix.rows == matrix.columns)
    var work = matrix
    var vectors = Matrix.identity(matrix.rows)
    // Convergence is quadratic: 8 sweeps are usual, 50 are never reached.
    for _ in 0..<50 {
      guard Self.sweep(&work, &vectors) else { break }
    }
    let order = (0..<work.rows).sorted { work[$0, $0] < work[$1, $1] }
    values = order.map { work[$0, $0] }
    var sorted = Matrix(rows: work.rows, columns: work.rows)
    for (column, from) in order.enumerated() {
      for row in 0..<work.rows { sorted[row, column] = vectors[row, from] }
    }
    self.vectors = sorted
  }

  /// Rotates each pair of axes once; returns false when nothing was left to rotate.
  private static func sweep(_ work: inout Matrix, _ vectors: inout Matrix) -> Bool {
    var rotated = false
    for p in 0..<work.rows {
      for q in (p + 1)..<max(work.rows, p + 1) {
        let scale = abs(work[p, p]) + abs(work[q, q])
        guard abs(work[p, q]) > scale * 1e-16, work[p, q] != 0 else { continue }
        rotated = true
        rotate(&work, &vectors, p, q)
      }
    }
    return rotated
  }

  private static func rotate(_ work: inout Matrix, _ vectors: inout Matrix, _ p: Int, _ q: Int) {
    let theta = (work[q, q] - work[p, p]) / (2 * work[p, q])
    let tangent = (theta < 0 ? -1 : 1) / (abs(theta) + (theta * theta + 1).squareRoot())
    let cosine = 1 / (tangent * tangent + 1).squareRoot()
    let sine = tangent * cosine
    for k in 0..<work.rows {
      let (a, b) = (work[k, p], work[k, q])
      work[k, p] = cosine * a - sine * b
      work[k, q] = sine * a + cosine * b
    }
    for k in 0..<work.rows {
      let (a, b) = (work[p, k], work[q, k])
      work[p, k] = cosine * a - sine * b
      work[q, k] = sine * a + cosine * b
    }
    for k in 0..<work.rows {
      let (a, b) = (vectors[k, p], vectors[k, q])
      vectors[k, p] = cosine * a - sine * b
      vectors[k, q] = sine * a + cosine * b
    }
  }

  /// Returns the pseudo-inverse without the `count` smallest eigenvalues. A survey leaves out the
  /// directions that its gauge chooses.
  func pseudoInverse(leavingOut count: Int) -> Matrix {
    let size = vectors.rows
    var result = Matrix(rows: size, columns: size)
    for k in count..<max(size, count) where values[k] > 0 {
      for i in 0..<size {
        let factor = vectors[i, k] / values[k]
        for j in 0..<size { result[i, j] += factor * vectors[j, k] }
      }
    }
    return result
  }
}
