// SPDX-License-Identifier: Apache-2.0
private import Glibc

/// A quaternion. A quaternion of length 1 is a rotation. Code for Apple's platforms calls it
/// `simd_quatf`.
public struct SIMDQuaternion<Scalar: SIMDScalar & BinaryFloatingPoint & Sendable>: Equatable,
  @unchecked Sendable
{
  // Sendable: it holds numbers only.

  /// The imaginary parts along x, y and z, then the real part.
  public var vector: SIMD4<Scalar>

  /// Creates a quaternion from its imaginary parts, then the real part.
  public init(vector: SIMD4<Scalar>) { self.vector = vector }
  /// Creates a quaternion from its parts.
  public init(ix: Scalar, iy: Scalar, iz: Scalar, r: Scalar) { vector = .init(ix, iy, iz, r) }
  /// Creates a quaternion from its parts.
  public init(real: Scalar, imag: SIMD3<Scalar>) { vector = .init(imag, real) }
  /// Creates the rotation by `angle` radians about the unit vector `axis`.
  public init(angle: Scalar, axis: SIMD3<Scalar>) {
    let half = Double(angle) / 2
    self.init(real: Scalar(cos(half)), imag: axis * Scalar(sin(half)))
  }
  /// Creates the shortest rotation from one unit vector to another.
  public init(from: SIMD3<Scalar>, to: SIMD3<Scalar>) {
    let cosine = dot(from, to)
    // Any axis at right angles turns a vector into its opposite.
    guard cosine > -0.999_999 else {
      let other: SIMD3<Scalar> = Swift.abs(from.x) < 0.9 ? .init(1, 0, 0) : .init(0, 1, 0)
      self.init(real: 0, imag: normalize(cross(from, other)))
      return
    }
    self = Self(real: 1 + cosine, imag: cross(from, to)).normalized
  }
  /// Creates the rotation of a matrix.
  public init(_ m: SIMDMatrix3x3<Scalar>) {
    let (a, b, c) = m.columns
    let trace: Scalar = a.x + b.y + c.z
    let v: SIMD4<Scalar>
    if trace > 0 {
      v = .init(b.z - c.y, c.x - a.z, a.y - b.x, trace + 1)
    } else if a.x > b.y, a.x > c.z {
      let x: Scalar = 1 + a.x - b.y - c.z
      v = .init(x, a.y + b.x, c.x + a.z, b.z - c.y)
    } else if b.y > c.z {
      let y: Scalar = 1 + b.y - a.x - c.z
      v = .init(a.y + b.x, y, b.z + c.y, c.x - a.z)
    } else {
      let z: Scalar = 1 + c.z - a.x - b.y
      v = .init(c.x + a.z, b.z + c.y, z, a.y - b.x)
    }
    vector = normalize(v)
  }
  /// Creates the rotation of a transform.
  public init(_ m: SIMDMatrix4x4<Scalar>) {
    self.init(SIMDMatrix3x3((0..<3).map { SIMD3(m[$0].x, m[$0].y, m[$0].z) }))
  }

  /// The real part.
  public var real: Scalar {
    get { vector.w }
    set { vector.w = newValue }
  }
  /// The imaginary parts.
  public var imag: SIMD3<Scalar> {
    get { .init(vector.x, vector.y, vector.z) }
    set { vector = .init(newValue, vector.w) }
  }
  /// The length; 1 for a rotation.
  public var length: Scalar { simd_length(vector) }
  /// The angle of the rotation in radians, 0…2π.
  public var angle: Scalar { Scalar(2 * atan2(Double(simd_length(imag)), Double(real))) }
  /// The axis of the rotation, a unit vector; NaN for the rotation by 0.
  public var axis: SIMD3<Scalar> { simd_normalize(imag) }
  /// The same rotation as a unit quaternion.
  public var normalized: Self { Self(vector: simd_normalize(vector)) }
  /// The quaternion with the imaginary parts negated; the inverse of a unit quaternion.
  public var conjugate: Self { Self(real: real, imag: -imag) }
  /// The inverse rotation.
  public var inverse: Self { Self(vector: conjugate.vector / dot(vector, vector)) }

  /// Rotates a vector.
  public func act(_ v: SIMD3<Scalar>) -> SIMD3<Scalar> {
    let twice = cross(imag, v) * 2
    return v + twice * real + cross(imag, twice)
  }

  /// Returns the rotation that applies `b` first, then `a`.
  public static func * (a: Self, b: Self) -> Self {
    Self(
      real: a.real * b.real - dot(a.imag, b.imag),
      imag: b.imag * a.real + a.imag * b.real + cross(a.imag, b.imag))
  }
  /// Multiplies by a quaternion on the right.
  public static func *= (a: inout Self, b: Self) { a = a * b }
}

/// Creates the rotation by `angle` radians about the unit vector `axis`.
public func simd_quaternion<S>(_ angle: S, _ axis: SIMD3<S>) -> SIMDQuaternion<S> {
  .init(angle: angle, axis: axis)
}
/// Creates the shortest rotation from one unit vector to another.
public func simd_quaternion<S>(_ from: SIMD3<S>, _ to: SIMD3<S>) -> SIMDQuaternion<S> {
  .init(from: from, to: to)
}
/// Creates the rotation of a transform.
public func simd_quaternion<S>(_ m: SIMDMatrix4x4<S>) -> SIMDQuaternion<S> { .init(m) }
/// Creates the transform of a rotation.
public func simd_matrix4x4<S>(_ q: SIMDQuaternion<S>) -> SIMDMatrix4x4<S> { .init(q) }
/// Rotates a vector.
public func simd_act<S>(_ q: SIMDQuaternion<S>, _ v: SIMD3<S>) -> SIMD3<S> { q.act(v) }
/// Returns the rotation that applies `b` first, then `a`.
public func simd_mul<S>(_ a: SIMDQuaternion<S>, _ b: SIMDQuaternion<S>) -> SIMDQuaternion<S> {
  a * b
}
/// Returns the inverse rotation.
public func simd_inverse<S>(_ q: SIMDQuaternion<S>) -> SIMDQuaternion<S> { q.inverse }
/// Returns the same rotation as a unit quaternion.
public func simd_normalize<S>(_ q: SIMDQuaternion<S>) -> SIMDQuaternion<S> { q.normalized }
/// Returns the scalar product of all four parts.
public func simd_dot<S>(_ a: SIMDQuaternion<S>, _ b: SIMDQuaternion<S>) -> S {
  dot(a.vector, b.vector)
}
/// Returns the angle of a rotation in radians, 0…2π.
public func simd_angle<S>(_ q: SIMDQuaternion<S>) -> S { q.angle }
/// Returns the axis of a rotation, a unit vector.
public func simd_axis<S>(_ q: SIMDQuaternion<S>) -> SIMD3<S> { q.axis }

/// Interpolates between two unit quaternions at constant angular velocity, along the shorter arc.
public func simd_slerp<S>(
  _ a: SIMDQuaternion<S>, _ b: SIMDQuaternion<S>, _ t: S
) -> SIMDQuaternion<S> {
  let b = simd_dot(a, b) < 0 ? SIMDQuaternion(vector: -b.vector) : b
  let angle =
    2
    * atan2(
      Double(length(a.vector - b.vector)), Double(length(a.vector + b.vector)))
  let sine = sin(angle)
  // The formula divides by 0 where the rotations agree; the straight line is as good there.
  guard sine > 1e-6 else { return .init(vector: normalize(mix(a.vector, b.vector, t: t))) }
  let part = Double(t)
  let (first, second) = (S(sin((1 - part) * angle) / sine), S(sin(part * angle) / sine))
  return .init(vector: normalize(a.vector * first + b.vector * second))
}
