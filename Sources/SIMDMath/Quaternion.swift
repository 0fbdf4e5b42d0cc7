// SPDX-License-Identifier: Apache-2.0
private import Glibc

/// A rotation as a quaternion. Code for Apple's platforms calls it `simd_quatf`.
public struct SIMDQuaternion<Scalar: SIMDScalar & BinaryFloatingPoint & Sendable>: Equatable,
  @unchecked Sendable
{
  // Sound: only numbers in it.

  /// The imaginary parts along x, y and z, then the real one.
  public var vector: SIMD4<Scalar>

  /// Nothing: not a rotation.
  public init() { vector = .zero }
  /// From the imaginary parts, then the real one.
  public init(vector: SIMD4<Scalar>) { self.vector = vector }
  /// From the parts.
  public init(ix: Scalar, iy: Scalar, iz: Scalar, r: Scalar) { vector = .init(ix, iy, iz, r) }
  /// From the parts.
  public init(real: Scalar, imag: SIMD3<Scalar>) { vector = .init(imag, real) }
  /// A rotation by `angle` radians about `axis`, whose length is 1.
  public init(angle: Scalar, axis: SIMD3<Scalar>) {
    let half = Double(angle) / 2
    self.init(real: Scalar(cos(half)), imag: axis * Scalar(sin(half)))
  }
  /// The rotation of a matrix.
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
    vector = simd_normalize(v)
  }
  /// The rotation of a matrix.
  public init(_ m: SIMDMatrix4x4<Scalar>) {
    func three(_ column: SIMD4<Scalar>) -> SIMD3<Scalar> { .init(column.x, column.y, column.z) }
    self.init(SIMDMatrix3x3(three(m.columns.0), three(m.columns.1), three(m.columns.2)))
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
  /// Radians.
  public var angle: Scalar {
    Scalar(2 * atan2(Double(simd_length(imag)), Double(real)))
  }
  /// What is turned about.
  public var axis: SIMD3<Scalar> { simd_normalize(imag) }
  /// The same rotation with length 1.
  public var normalized: Self { Self(vector: simd_normalize(vector)) }
  /// The other way round, for length 1.
  public var conjugate: Self { Self(real: real, imag: -imag) }
  /// The other way round.
  public var inverse: Self { Self(vector: conjugate.vector / simd_length_squared(vector)) }

  /// A vector turned.
  public func act(_ v: SIMD3<Scalar>) -> SIMD3<Scalar> {
    let twice = simd_cross(imag, v) * 2
    return v + twice * real + simd_cross(imag, twice)
  }

  /// One rotation after the other: `b` first.
  public static func * (a: Self, b: Self) -> Self {
    Self(
      real: a.real * b.real - simd_dot(a.imag, b.imag),
      imag: b.imag * a.real + a.imag * b.real + simd_cross(a.imag, b.imag))
  }
}

extension SIMDMatrix3x3 {
  /// A rotation.
  public init(_ rotation: SIMDQuaternion<Scalar>) {
    self.init(
      rotation.act(.init(1, 0, 0)), rotation.act(.init(0, 1, 0)), rotation.act(.init(0, 0, 1)))
  }
}
