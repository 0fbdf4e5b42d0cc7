// SPDX-License-Identifier: Apache-2.0

// What matrices have beside products, transposes and inverses, and the names of the C library.

extension SIMDMatrix3x3 {
  /// Number by number.
  public static func + (a: Self, b: Self) -> Self {
    Self(a.columns.0 + b.columns.0, a.columns.1 + b.columns.1, a.columns.2 + b.columns.2)
  }
  /// Number by number.
  public static func - (a: Self, b: Self) -> Self {
    Self(a.columns.0 - b.columns.0, a.columns.1 - b.columns.1, a.columns.2 - b.columns.2)
  }
  /// The other sign.
  public static prefix func - (a: Self) -> Self { -1 * a }
  /// Multiple.
  public static func * (a: Self, s: Scalar) -> Self { s * a }
  /// A row of numbers applied to each column.
  public static func * (v: Column, a: Self) -> Column { a.transpose * v }
  /// Adds.
  public static func += (a: inout Self, b: Self) { a = a + b }
  /// Subtracts.
  public static func -= (a: inout Self, b: Self) { a = a - b }
  /// `b` first, then what was there.
  public static func *= (a: inout Self, b: Self) { a = a * b }
  /// Multiplies.
  public static func *= (a: inout Self, s: Scalar) { a = s * a }

  /// Whether no number differs from its neighbour in the other by more.
  func isEqual(to other: Self, within tolerance: Scalar) -> Bool {
    (0..<3).allSatisfy { norm_inf(self[$0] - other[$0]) <= tolerance }
  }
}

extension SIMDMatrix4x4 {
  /// Number by number.
  public static func + (a: Self, b: Self) -> Self {
    Self(
      a.columns.0 + b.columns.0, a.columns.1 + b.columns.1, a.columns.2 + b.columns.2,
      a.columns.3 + b.columns.3)
  }
  /// Number by number.
  public static func - (a: Self, b: Self) -> Self {
    Self(
      a.columns.0 - b.columns.0, a.columns.1 - b.columns.1, a.columns.2 - b.columns.2,
      a.columns.3 - b.columns.3)
  }
  /// The other sign.
  public static prefix func - (a: Self) -> Self { -1 * a }
  /// Multiple.
  public static func * (a: Self, s: Scalar) -> Self { s * a }
  /// A row of numbers applied to each column.
  public static func * (v: Column, a: Self) -> Column { a.transpose * v }
  /// Adds.
  public static func += (a: inout Self, b: Self) { a = a + b }
  /// Subtracts.
  public static func -= (a: inout Self, b: Self) { a = a - b }
  /// `b` first, then what was there.
  public static func *= (a: inout Self, b: Self) { a = a * b }
  /// Multiplies.
  public static func *= (a: inout Self, s: Scalar) { a = s * a }

  /// Whether no number differs from its neighbour in the other by more.
  func isEqual(to other: Self, within tolerance: Scalar) -> Bool {
    (0..<4).allSatisfy { norm_inf(self[$0] - other[$0]) <= tolerance }
  }
}

/// A row of numbers applied to each column.
public func simd_mul<S>(_ v: SIMD3<S>, _ a: SIMDMatrix3x3<S>) -> SIMD3<S> { v * a }
/// Multiple.
public func simd_mul<S>(_ s: S, _ a: SIMDMatrix3x3<S>) -> SIMDMatrix3x3<S> { s * a }
/// Number by number.
public func simd_add<S>(_ a: SIMDMatrix3x3<S>, _ b: SIMDMatrix3x3<S>) -> SIMDMatrix3x3<S> { a + b }
/// Number by number.
public func simd_sub<S>(_ a: SIMDMatrix3x3<S>, _ b: SIMDMatrix3x3<S>) -> SIMDMatrix3x3<S> { a - b }
/// The same numbers in the same places.
public func simd_equal<S>(_ a: SIMDMatrix3x3<S>, _ b: SIMDMatrix3x3<S>) -> Bool { a == b }
/// Whether no number differs from its neighbour in the other by more.
public func simd_almost_equal_elements<S>(
  _ a: SIMDMatrix3x3<S>, _ b: SIMDMatrix3x3<S>, _ tolerance: S
) -> Bool {
  a.isEqual(to: b, within: tolerance)
}
/// Product of two matrices.
public func matrix_multiply<S>(_ a: SIMDMatrix3x3<S>, _ b: SIMDMatrix3x3<S>) -> SIMDMatrix3x3<S> {
  a * b
}
/// Product of a matrix and a vector.
public func matrix_multiply<S>(_ a: SIMDMatrix3x3<S>, _ v: SIMD3<S>) -> SIMD3<S> { a * v }
/// Multiple.
public func matrix_scale<S>(_ s: S, _ a: SIMDMatrix3x3<S>) -> SIMDMatrix3x3<S> { s * a }
/// The inverse; not numbers where there is none.
public func matrix_invert<S>(_ a: SIMDMatrix3x3<S>) -> SIMDMatrix3x3<S> { a.inverse }
/// Rows as columns.
public func matrix_transpose<S>(_ a: SIMDMatrix3x3<S>) -> SIMDMatrix3x3<S> { a.transpose }

/// A row of numbers applied to each column.
public func simd_mul<S>(_ v: SIMD4<S>, _ a: SIMDMatrix4x4<S>) -> SIMD4<S> { v * a }
/// Multiple.
public func simd_mul<S>(_ s: S, _ a: SIMDMatrix4x4<S>) -> SIMDMatrix4x4<S> { s * a }
/// Number by number.
public func simd_add<S>(_ a: SIMDMatrix4x4<S>, _ b: SIMDMatrix4x4<S>) -> SIMDMatrix4x4<S> { a + b }
/// Number by number.
public func simd_sub<S>(_ a: SIMDMatrix4x4<S>, _ b: SIMDMatrix4x4<S>) -> SIMDMatrix4x4<S> { a - b }
/// The same numbers in the same places.
public func simd_equal<S>(_ a: SIMDMatrix4x4<S>, _ b: SIMDMatrix4x4<S>) -> Bool { a == b }
/// Whether no number differs from its neighbour in the other by more.
public func simd_almost_equal_elements<S>(
  _ a: SIMDMatrix4x4<S>, _ b: SIMDMatrix4x4<S>, _ tolerance: S
) -> Bool {
  a.isEqual(to: b, within: tolerance)
}
/// Product of two matrices.
public func matrix_multiply<S>(_ a: SIMDMatrix4x4<S>, _ b: SIMDMatrix4x4<S>) -> SIMDMatrix4x4<S> {
  a * b
}
/// Product of a matrix and a vector.
public func matrix_multiply<S>(_ a: SIMDMatrix4x4<S>, _ v: SIMD4<S>) -> SIMD4<S> { a * v }
/// Multiple.
public func matrix_scale<S>(_ s: S, _ a: SIMDMatrix4x4<S>) -> SIMDMatrix4x4<S> { s * a }
/// The inverse; not numbers where there is none.
public func matrix_invert<S>(_ a: SIMDMatrix4x4<S>) -> SIMDMatrix4x4<S> { a.inverse }
/// Rows as columns.
public func matrix_transpose<S>(_ a: SIMDMatrix4x4<S>) -> SIMDMatrix4x4<S> { a.transpose }
