// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import UWBSite

@Suite("Matrix")
struct MatrixTests {
  /// A symmetric, positive definite matrix of `size`, from a fixed sequence.
  static func positive(_ size: Int) -> Matrix {
    var random = Matrix(rows: size, columns: size)
    var state: UInt64 = 7
    for index in random.elements.indices {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      random.elements[index] = Double(state >> 40) / Double(1 << 24) - 0.5
    }
    return random * random.transposed + Matrix.identity(size)
  }

  func largest(_ matrix: Matrix) -> Double { matrix.elements.map(abs).max() ?? 0 }

  func difference(_ left: Matrix, _ right: Matrix) -> Double {
    zip(left.elements, right.elements).map { abs($0 - $1) }.max() ?? 0
  }

  @Test("a Cholesky factor solves, inverts, and gives the determinant", arguments: [1, 2, 7, 30])
  func cholesky(size: Int) throws {
    let matrix = Self.positive(size)
    let factor = try #require(Cholesky(matrix))
    #expect(difference(factor.inverse * matrix, .identity(size)) < 1e-11)
    let x = (0..<size).map(Double.init)
    #expect(zip(factor.solve(matrix * x), x).allSatisfy { abs($0 - $1) < 1e-9 })
    let eigen = SymmetricEigen(matrix)
    let logarithms = eigen.values.reduce(0) { $0 + Math.log($1) }
    #expect(abs(logarithms - factor.logDeterminant) < 1e-9)
  }

  @Test("a matrix that is not positive definite has no Cholesky factor")
  func indefinite() {
    #expect(Cholesky(Matrix(diagonal: [1, -1])) == nil)
    #expect(Cholesky(Matrix(diagonal: [1, 0])) == nil)
    #expect(Cholesky(Matrix(diagonal: [1, .nan])) == nil)
  }

  @Test("eigenvectors are orthonormal and rebuild the matrix", arguments: [1, 3, 20])
  func eigen(size: Int) {
    let matrix = Self.positive(size)
    let eigen = SymmetricEigen(matrix)
    #expect(eigen.values == eigen.values.sorted())
    #expect(difference(eigen.vectors.transposed * eigen.vectors, .identity(size)) < 1e-12)
    let rebuilt = eigen.vectors * Matrix(diagonal: eigen.values) * eigen.vectors.transposed
    #expect(difference(rebuilt, matrix) < 1e-11)
  }

  @Test("a pseudo-inverse leaves out the directions of a gauge")
  func pseudoInverse() {
    // Only differences of three unknowns are known, so that a common shift of all three is free.
    var information = Matrix(diagonal: [2, 2, 2])
    for (i, j) in [(0, 1), (1, 2), (0, 2)] {
      information[i, j] = -1
      information[j, i] = -1
    }
    let inverse = SymmetricEigen(information).pseudoInverse(leavingOut: 1)
    #expect(difference(information * inverse * information, information) < 1e-12)
    #expect(largest(inverse) < 1)
  }

  /// Values of tables of the normal distribution.
  @Test(
    "a normal variable is below a limit with the published probability",
    arguments: [
      (-3, 0.001_349_9), (-1, 0.158_655_3), (0, 0.5), (1.644_853_6, 0.95), (1.959_964, 0.975),
      (5, 0.999_999_7),
    ])
  func normal(limit: Double, probability: Double) {
    #expect(abs(Math.normalBelow(limit) - probability) < 1e-7)
    #expect(abs(Math.normalBelow(-limit) - (1 - probability)) < 1e-7)
  }

  @Test("products and transposes agree: (A B)ᵀ = Bᵀ Aᵀ, and A (B x) = (A B) x")
  func products() {
    let (a, b) = (Self.positive(4), Self.positive(4) + Matrix(diagonal: [1, 2, 3, 4]))
    #expect(difference((a * b).transposed, b.transposed * a.transposed) < 1e-12)
    let x = [1, -2, 0.5, 3]
    #expect(zip(a * (b * x), (a * b) * x).allSatisfy { abs($0 - $1) < 1e-12 })
  }
}
