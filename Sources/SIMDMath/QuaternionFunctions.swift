// SPDX-License-Identifier: Apache-2.0
private import Glibc

extension SIMDQuaternion {
  /// The shortest rotation that turns one direction into another; both have the length 1.
  public init(from: SIMD3<Scalar>, to: SIMD3<Scalar>) {
    let cosine = simd_dot(from, to)
    // Where they are opposite, any axis across them will do.
    guard cosine > -0.999_999 else {
      let other: SIMD3<Scalar> = Swift.abs(from.x) < 0.9 ? .init(1, 0, 0) : .init(0, 1, 0)
      self.init(real: 0, imag: simd_normalize(simd_cross(from, other)))
      return
    }
    self = Self(real: 1 + cosine, imag: simd_cross(from, to)).normalized
  }

  /// Part by part.
  public static func + (a: Self, b: Self) -> Self { Self(vector: a.vector + b.vector) }
  /// Part by part.
  public static func - (a: Self, b: Self) -> Self { Self(vector: a.vector - b.vector) }
  /// The other sign: the same rotation.
  public static prefix func - (a: Self) -> Self { Self(vector: -a.vector) }
  /// Multiple.
  public static func * (a: Self, s: Scalar) -> Self { Self(vector: a.vector * s) }
  /// Multiple.
  public static func * (s: Scalar, a: Self) -> Self { a * s }
  /// Part of it.
  public static func / (a: Self, s: Scalar) -> Self { Self(vector: a.vector / s) }
  /// `a` after the other way round of `b`.
  public static func / (a: Self, b: Self) -> Self { a * b.inverse }
  /// Adds.
  public static func += (a: inout Self, b: Self) { a = a + b }
  /// Subtracts.
  public static func -= (a: inout Self, b: Self) { a = a - b }
  /// `b` first, then what was there.
  public static func *= (a: inout Self, b: Self) { a = a * b }
  /// Multiplies.
  public static func *= (a: inout Self, s: Scalar) { a = a * s }
}

/// A rotation by `angle` radians about `axis`, whose length is 1.
public func simd_quaternion<S>(_ angle: S, _ axis: SIMD3<S>) -> SIMDQuaternion<S> {
  .init(angle: angle, axis: axis)
}
/// The shortest rotation that turns one direction into another; both have the length 1.
public func simd_quaternion<S>(_ from: SIMD3<S>, _ to: SIMD3<S>) -> SIMDQuaternion<S> {
  .init(from: from, to: to)
}
/// From the imaginary parts, then the real one.
public func simd_quaternion<S>(_ ix: S, _ iy: S, _ iz: S, _ r: S) -> SIMDQuaternion<S> {
  .init(ix: ix, iy: iy, iz: iz, r: r)
}
/// From the imaginary parts, then the real one.
public func simd_quaternion<S>(_ vector: SIMD4<S>) -> SIMDQuaternion<S> { .init(vector: vector) }
/// The rotation of a matrix.
public func simd_quaternion<S>(_ m: SIMDMatrix3x3<S>) -> SIMDQuaternion<S> { .init(m) }
/// The rotation of a matrix.
public func simd_quaternion<S>(_ m: SIMDMatrix4x4<S>) -> SIMDQuaternion<S> { .init(m) }

/// A vector turned.
public func simd_act<S>(_ q: SIMDQuaternion<S>, _ v: SIMD3<S>) -> SIMD3<S> { q.act(v) }
/// One rotation after the other: `b` first.
public func simd_mul<S>(_ a: SIMDQuaternion<S>, _ b: SIMDQuaternion<S>) -> SIMDQuaternion<S> {
  a * b
}
/// Multiple.
public func simd_mul<S>(_ a: SIMDQuaternion<S>, _ s: S) -> SIMDQuaternion<S> { a * s }
/// Part by part.
public func simd_add<S>(_ a: SIMDQuaternion<S>, _ b: SIMDQuaternion<S>) -> SIMDQuaternion<S> {
  a + b
}
/// Part by part.
public func simd_sub<S>(_ a: SIMDQuaternion<S>, _ b: SIMDQuaternion<S>) -> SIMDQuaternion<S> {
  a - b
}
/// The other sign: the same rotation.
public func simd_negate<S>(_ q: SIMDQuaternion<S>) -> SIMDQuaternion<S> { -q }
/// Radians.
public func simd_angle<S>(_ q: SIMDQuaternion<S>) -> S { q.angle }
/// What is turned about.
public func simd_axis<S>(_ q: SIMDQuaternion<S>) -> SIMD3<S> { q.axis }
/// The real part.
public func simd_real<S>(_ q: SIMDQuaternion<S>) -> S { q.real }
/// The imaginary parts.
public func simd_imag<S>(_ q: SIMDQuaternion<S>) -> SIMD3<S> { q.imag }
/// The length; 1 for a rotation.
public func simd_length<S>(_ q: SIMDQuaternion<S>) -> S { q.length }
/// The same rotation with length 1.
public func simd_normalize<S>(_ q: SIMDQuaternion<S>) -> SIMDQuaternion<S> { q.normalized }
/// The other way round, for length 1.
public func simd_conjugate<S>(_ q: SIMDQuaternion<S>) -> SIMDQuaternion<S> { q.conjugate }
/// The other way round.
public func simd_inverse<S>(_ q: SIMDQuaternion<S>) -> SIMDQuaternion<S> { q.inverse }
/// Scalar product of all parts.
public func simd_dot<S>(_ a: SIMDQuaternion<S>, _ b: SIMDQuaternion<S>) -> S {
  simd_dot(a.vector, b.vector)
}

/// From `a` at 0 to `b` at 1 at an even speed, the shorter way round; both have the length 1.
public func simd_slerp<S>(
  _ a: SIMDQuaternion<S>, _ b: SIMDQuaternion<S>, _ t: S
) -> SIMDQuaternion<S> {
  simd_dot(a, b) < 0 ? turned(a, -b, t) : turned(a, b, t)
}
/// From `a` at 0 to `b` at 1 at an even speed, the longer way round; both have the length 1.
public func simd_slerp_longest<S>(
  _ a: SIMDQuaternion<S>, _ b: SIMDQuaternion<S>, _ t: S
) -> SIMDQuaternion<S> {
  simd_dot(a, b) < 0 ? turned(a, b, t) : turned(a, -b, t)
}

/// Along the circle through both. Where they nearly agree, the straight line is as good, and the
/// circle's formula divides by 0.
private func turned<S>(
  _ a: SIMDQuaternion<S>, _ b: SIMDQuaternion<S>, _ t: S
) -> SIMDQuaternion<S> {
  let angle = 2 * atan2(Double((a - b).length), Double((a + b).length))
  let whole = sin(angle)
  guard abs(whole) > 1e-6 else { return (a * (1 - t) + b * t).normalized }
  let part = Double(t)
  return (a * S(sin((1 - part) * angle) / whole) + b * S(sin(part * angle) / whole)).normalized
}
