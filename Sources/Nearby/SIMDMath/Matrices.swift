// SPDX-License-Identifier: Apache-2.0

/// A square matrix, stored by columns. `SIMDMatrix3x3` and `SIMDMatrix4x4` conform.
public protocol SIMDMatrix: Equatable, Sendable {
  /// The type of the elements.
  associatedtype Scalar: BinaryFloatingPoint
  /// The type of a column.
  associatedtype Column: SIMD where Column.Scalar == Scalar

  /// Creates a matrix from its columns.
  init(_ columns: [Column])
  /// The column at an index.
  subscript(column: Int) -> Column { get set }
  /// 0 for a singular matrix.
  var determinant: Scalar { get }
  /// The inverse; NaN or infinite for a singular matrix.
  var inverse: Self { get }
}

extension SIMDMatrix {
  private static var order: Int { Column.scalarCount }

  private init(_ column: (Int) -> Column) { self.init((0..<Self.order).map(column)) }

  /// Creates a matrix of zeros.
  public init() { self.init { _ in .zero } }
  /// Creates a matrix from its rows.
  public init(rows: [Column]) { self = Self(rows).transpose }
  /// Creates a diagonal matrix.
  public init(diagonal: Column) {
    self.init { index in
      var column = Column.zero
      column[index] = diagonal[index]
      return column
    }
  }
  /// Creates the identity times a number.
  public init(_ scalar: Scalar) { self.init(diagonal: .init(repeating: scalar)) }

  /// The element at a column and a row.
  public subscript(column: Int, row: Int) -> Scalar {
    get { self[column][row] }
    set { self[column][row] = newValue }
  }

  /// The matrix with rows and columns exchanged.
  public var transpose: Self {
    Self { row in
      var column = Column.zero
      for index in 0..<Self.order { column[index] = self[index][row] }
      return column
    }
  }

  /// Compares all elements.
  public static func == (a: Self, b: Self) -> Bool { (0..<order).allSatisfy { a[$0] == b[$0] } }
  /// Adds element by element.
  public static func + (a: Self, b: Self) -> Self { Self { a[$0] + b[$0] } }
  /// Subtracts element by element.
  public static func - (a: Self, b: Self) -> Self { Self { a[$0] - b[$0] } }
  /// Multiplies each element by a number.
  public static func * (s: Scalar, a: Self) -> Self { Self { a[$0] * s } }
  /// Applies the matrix to a column vector.
  public static func * (a: Self, v: Column) -> Column {
    (0..<order).reduce(.zero) { $0 + a[$1] * v[$1] }
  }
  /// Returns the matrix that applies `b` first, then `a`.
  public static func * (a: Self, b: Self) -> Self { Self { a * b[$0] } }
  /// Multiplies by a matrix on the right.
  public static func *= (a: inout Self, b: Self) { a = a * b }
}

/// A 3 × 3 matrix. Code for Apple's platforms calls it `simd_float3x3`.
public struct SIMDMatrix3x3<Scalar: SIMDScalar & BinaryFloatingPoint & Sendable>: SIMDMatrix,
  @unchecked Sendable
{
  // Sendable: it holds numbers only.

  /// The three columns.
  public var columns: (SIMD3<Scalar>, SIMD3<Scalar>, SIMD3<Scalar>)

  /// Creates a matrix from its columns.
  public init(columns: (SIMD3<Scalar>, SIMD3<Scalar>, SIMD3<Scalar>)) { self.columns = columns }
  /// Creates a matrix from its columns.
  public init(_ a: SIMD3<Scalar>, _ b: SIMD3<Scalar>, _ c: SIMD3<Scalar>) { columns = (a, b, c) }
  /// Creates a matrix from three columns.
  public init(_ columns: [SIMD3<Scalar>]) {
    precondition(columns.count == 3, "a 3 × 3 matrix has 3 columns")
    self.columns = (columns[0], columns[1], columns[2])
  }
  /// Creates the matrix of a rotation.
  public init(_ rotation: SIMDQuaternion<Scalar>) {
    self.init(
      rotation.act(.init(1, 0, 0)), rotation.act(.init(0, 1, 0)), rotation.act(.init(0, 0, 1)))
  }

  /// The column at an index.
  public subscript(column: Int) -> SIMD3<Scalar> {
    get { [columns.0, columns.1, columns.2][column] }
    set {
      switch column {
      case 0: columns.0 = newValue
      case 1: columns.1 = newValue
      case 2: columns.2 = newValue
      default: preconditionFailure("a 3 × 3 matrix has columns 0 to 2")
      }
    }
  }

  /// 0 for a singular matrix.
  public var determinant: Scalar { dot(columns.0, cross(columns.1, columns.2)) }
  /// The inverse; NaN or infinite for a singular matrix.
  public var inverse: Self {
    let (a, b, c) = columns
    let d = determinant
    return Self(rows: [cross(b, c) / d, cross(c, a) / d, cross(a, b) / d])
  }
}

/// A 4 × 4 matrix. Code for Apple's platforms calls it `simd_float4x4`.
public struct SIMDMatrix4x4<Scalar: SIMDScalar & BinaryFloatingPoint & Sendable>: SIMDMatrix,
  @unchecked Sendable
{
  // Sendable: it holds numbers only.

  /// The four columns.
  public var columns: (SIMD4<Scalar>, SIMD4<Scalar>, SIMD4<Scalar>, SIMD4<Scalar>)

  /// Creates a matrix from its columns.
  public init(columns: (SIMD4<Scalar>, SIMD4<Scalar>, SIMD4<Scalar>, SIMD4<Scalar>)) {
    self.columns = columns
  }
  /// Creates a matrix from its columns.
  public init(
    _ a: SIMD4<Scalar>, _ b: SIMD4<Scalar>, _ c: SIMD4<Scalar>, _ d: SIMD4<Scalar>
  ) { columns = (a, b, c, d) }
  /// Creates a matrix from four columns.
  public init(_ columns: [SIMD4<Scalar>]) {
    precondition(columns.count == 4, "a 4 × 4 matrix has 4 columns")
    self.columns = (columns[0], columns[1], columns[2], columns[3])
  }
  /// Creates the transform of a rotation.
  public init(_ rotation: SIMDQuaternion<Scalar>) {
    let m = SIMDMatrix3x3(rotation)
    self.init(.init(m[0], 0), .init(m[1], 0), .init(m[2], 0), .init(0, 0, 0, 1))
  }

  /// The column at an index.
  public subscript(column: Int) -> SIMD4<Scalar> {
    get { [columns.0, columns.1, columns.2, columns.3][column] }
    set {
      switch column {
      case 0: columns.0 = newValue
      case 1: columns.1 = newValue
      case 2: columns.2 = newValue
      case 3: columns.3 = newValue
      default: preconditionFailure("a 4 × 4 matrix has columns 0 to 3")
      }
    }
  }

  /// The determinant without a column and a row, with its sign.
  private func cofactor(_ column: Int, _ row: Int) -> Scalar {
    let rows = (0..<4).filter { $0 != row }
    let rest = (0..<4).filter { $0 != column }.map { c in
      SIMD3(self[c][rows[0]], self[c][rows[1]], self[c][rows[2]])
    }
    let value = SIMDMatrix3x3(rest).determinant
    return (column + row).isMultiple(of: 2) ? value : -value
  }

  /// 0 for a singular matrix.
  public var determinant: Scalar { (0..<4).reduce(0) { $0 + self[$1][0] * cofactor($1, 0) } }
  /// The inverse; NaN or infinite for a singular matrix.
  public var inverse: Self {
    let scale = 1 / determinant
    var result = Self()
    for column in 0..<4 {
      for row in 0..<4 { result[column][row] = cofactor(row, column) * scale }
    }
    return result
  }
}

/// Returns the product of two matrices: `b` is applied first.
public func simd_mul<M: SIMDMatrix>(_ a: M, _ b: M) -> M { a * b }
/// Applies a matrix to a column vector.
public func simd_mul<M: SIMDMatrix>(_ a: M, _ v: M.Column) -> M.Column { a * v }
/// Returns the inverse; NaN or infinite for a singular matrix.
public func simd_inverse<M: SIMDMatrix>(_ a: M) -> M { a.inverse }
/// Returns the matrix with rows and columns exchanged.
public func simd_transpose<M: SIMDMatrix>(_ a: M) -> M { a.transpose }
/// Returns the product of two matrices: `b` is applied first.
public func matrix_multiply<M: SIMDMatrix>(_ a: M, _ b: M) -> M { a * b }
