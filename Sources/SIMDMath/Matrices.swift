// SPDX-License-Identifier: Apache-2.0

/// Three columns of three numbers. Code for Apple's platforms calls it `simd_float3x3`.
public struct SIMDMatrix3x3<Scalar: SIMDScalar & BinaryFloatingPoint & Sendable>: Equatable,
  @unchecked Sendable
{
  // Sound: only numbers in it.

  /// One column.
  public typealias Column = SIMD3<Scalar>
  /// The columns.
  public var columns: (Column, Column, Column)

  /// Zeros.
  public init() { columns = (.zero, .zero, .zero) }
  /// From columns.
  public init(columns: (Column, Column, Column)) { self.columns = columns }
  /// From columns.
  public init(_ a: Column, _ b: Column, _ c: Column) { columns = (a, b, c) }
  /// From three columns.
  public init(_ columns: [Column]) {
    precondition(columns.count == 3, "a matrix of three columns")
    self.columns = (columns[0], columns[1], columns[2])
  }
  /// From three rows.
  public init(rows: [Column]) { self = Self(rows).transpose }
  /// The diagonal; zeros elsewhere.
  public init(diagonal: Column) {
    columns = (.init(diagonal.x, 0, 0), .init(0, diagonal.y, 0), .init(0, 0, diagonal.z))
  }
  /// One number in the diagonal; zeros elsewhere.
  public init(_ scalar: Scalar) { self.init(diagonal: .init(repeating: scalar)) }

  /// A column.
  public subscript(column: Int) -> Column {
    get { [columns.0, columns.1, columns.2][column] }
    set {
      switch column {
      case 0: columns.0 = newValue
      case 1: columns.1 = newValue
      case 2: columns.2 = newValue
      default: preconditionFailure("a matrix has columns 0 to 2")
      }
    }
  }

  /// A number.
  public subscript(column: Int, row: Int) -> Scalar {
    get { self[column][row] }
    set { self[column][row] = newValue }
  }

  /// Rows as columns.
  public var transpose: Self {
    let (a, b, c) = columns
    return Self(.init(a.x, b.x, c.x), .init(a.y, b.y, c.y), .init(a.z, b.z, c.z))
  }

  /// 0: there is no inverse.
  public var determinant: Scalar { simd_dot(columns.0, simd_cross(columns.1, columns.2)) }

  /// The inverse; not numbers where there is none.
  public var inverse: Self {
    let (a, b, c) = columns
    let d = determinant
    return Self(rows: [
      simd_cross(b, c) / d, simd_cross(c, a) / d, simd_cross(a, b) / d,
    ])
  }

  /// The same numbers in the same places.
  public static func == (a: Self, b: Self) -> Bool { a.columns == b.columns }

  /// Applied to a vector.
  public static func * (a: Self, v: Column) -> Column {
    a.columns.0 * v.x + a.columns.1 * v.y + a.columns.2 * v.z
  }
  /// One after the other: `b` first.
  public static func * (a: Self, b: Self) -> Self {
    Self(a * b.columns.0, a * b.columns.1, a * b.columns.2)
  }
  /// Multiple.
  public static func * (s: Scalar, a: Self) -> Self {
    Self(a.columns.0 * s, a.columns.1 * s, a.columns.2 * s)
  }
}

/// Four columns of four numbers. Code for Apple's platforms calls it `simd_float4x4`.
public struct SIMDMatrix4x4<Scalar: SIMDScalar & BinaryFloatingPoint & Sendable>: Equatable,
  @unchecked Sendable
{
  // Sound: only numbers in it.

  /// One column.
  public typealias Column = SIMD4<Scalar>
  /// The columns.
  public var columns: (Column, Column, Column, Column)

  /// Zeros.
  public init() { columns = (.zero, .zero, .zero, .zero) }
  /// From columns.
  public init(columns: (Column, Column, Column, Column)) { self.columns = columns }
  /// From columns.
  public init(_ a: Column, _ b: Column, _ c: Column, _ d: Column) { columns = (a, b, c, d) }
  /// From four columns.
  public init(_ columns: [Column]) {
    precondition(columns.count == 4, "a matrix of four columns")
    self.columns = (columns[0], columns[1], columns[2], columns[3])
  }
  /// From four rows.
  public init(rows: [Column]) { self = Self(rows).transpose }
  /// The diagonal; zeros elsewhere.
  public init(diagonal d: Column) {
    columns = (
      .init(d.x, 0, 0, 0), .init(0, d.y, 0, 0), .init(0, 0, d.z, 0), .init(0, 0, 0, d.w)
    )
  }
  /// One number in the diagonal; zeros elsewhere.
  public init(_ scalar: Scalar) { self.init(diagonal: .init(repeating: scalar)) }
  /// A rotation.
  public init(_ rotation: SIMDQuaternion<Scalar>) {
    let m = SIMDMatrix3x3(rotation)
    self.init(
      .init(m.columns.0, 0), .init(m.columns.1, 0), .init(m.columns.2, 0), .init(0, 0, 0, 1))
  }

  /// A column.
  public subscript(column: Int) -> Column {
    get { [columns.0, columns.1, columns.2, columns.3][column] }
    set {
      switch column {
      case 0: columns.0 = newValue
      case 1: columns.1 = newValue
      case 2: columns.2 = newValue
      case 3: columns.3 = newValue
      default: preconditionFailure("a matrix has columns 0 to 3")
      }
    }
  }

  /// A number.
  public subscript(column: Int, row: Int) -> Scalar {
    get { self[column][row] }
    set { self[column][row] = newValue }
  }

  /// Rows as columns.
  public var transpose: Self {
    let (a, b, c, d) = columns
    return Self(
      .init(a.x, b.x, c.x, d.x), .init(a.y, b.y, c.y, d.y), .init(a.z, b.z, c.z, d.z),
      .init(a.w, b.w, c.w, d.w))
  }

  /// The numbers that are left without a column and a row, as a determinant with its sign.
  private func cofactor(_ column: Int, _ row: Int) -> Scalar {
    let rows = (0..<4).filter { $0 != row }
    let rest = (0..<4).filter { $0 != column }.map { c in
      SIMD3(self[c][rows[0]], self[c][rows[1]], self[c][rows[2]])
    }
    let value = SIMDMatrix3x3(rest).determinant
    return (column + row).isMultiple(of: 2) ? value : -value
  }

  /// 0: there is no inverse.
  public var determinant: Scalar {
    (0..<4).reduce(0) { $0 + self[$1][0] * cofactor($1, 0) }
  }

  /// The inverse; not numbers where there is none.
  public var inverse: Self {
    let scale = 1 / determinant
    var result = Self()
    for column in 0..<4 {
      for row in 0..<4 { result[column][row] = cofactor(row, column) * scale }
    }
    return result
  }

  /// The same numbers in the same places.
  public static func == (a: Self, b: Self) -> Bool { a.columns == b.columns }

  /// Applied to a vector.
  public static func * (a: Self, v: Column) -> Column {
    let (p, q, r, s) = a.columns
    return p * v.x + q * v.y + r * v.z + s * v.w
  }
  /// One after the other: `b` first.
  public static func * (a: Self, b: Self) -> Self {
    Self(a * b.columns.0, a * b.columns.1, a * b.columns.2, a * b.columns.3)
  }
  /// Multiple.
  public static func * (s: Scalar, a: Self) -> Self {
    Self(a.columns.0 * s, a.columns.1 * s, a.columns.2 * s, a.columns.3 * s)
  }
}

/// Product of two matrices.
public func simd_mul<S>(_ a: SIMDMatrix4x4<S>, _ b: SIMDMatrix4x4<S>) -> SIMDMatrix4x4<S> { a * b }
/// Product of two matrices.
public func simd_mul<S>(_ a: SIMDMatrix3x3<S>, _ b: SIMDMatrix3x3<S>) -> SIMDMatrix3x3<S> { a * b }
/// Product of a matrix and a vector.
public func simd_mul<S>(_ a: SIMDMatrix4x4<S>, _ v: SIMD4<S>) -> SIMD4<S> { a * v }
/// Product of a matrix and a vector.
public func simd_mul<S>(_ a: SIMDMatrix3x3<S>, _ v: SIMD3<S>) -> SIMD3<S> { a * v }
/// The inverse; not numbers where there is none.
public func simd_inverse<S>(_ a: SIMDMatrix4x4<S>) -> SIMDMatrix4x4<S> { a.inverse }
/// The inverse; not numbers where there is none.
public func simd_inverse<S>(_ a: SIMDMatrix3x3<S>) -> SIMDMatrix3x3<S> { a.inverse }
/// Rows as columns.
public func simd_transpose<S>(_ a: SIMDMatrix4x4<S>) -> SIMDMatrix4x4<S> { a.transpose }
/// Rows as columns.
public func simd_transpose<S>(_ a: SIMDMatrix3x3<S>) -> SIMDMatrix3x3<S> { a.transpose }
/// 0: there is no inverse.
public func simd_determinant<S>(_ a: SIMDMatrix4x4<S>) -> S { a.determinant }
/// 0: there is no inverse.
public func simd_determinant<S>(_ a: SIMDMatrix3x3<S>) -> S { a.determinant }
