// SPDX-License-Identifier: Apache-2.0

/// A place or a direction: metres along x, y and z.
public struct Vector3: Sendable, Hashable {
  /// Along the first axis.
  public var x: Double
  /// Along the second axis.
  public var y: Double
  /// Along the third axis: up, where something is said of heights.
  public var z: Double

  /// From its parts.
  @inlinable
  public init(_ x: Double, _ y: Double, _ z: Double) { (self.x, self.y, self.z) = (x, y, z) }

  /// Nothing.
  public static let zero = Vector3(0, 0, 0)

  /// Sum.
  @inlinable
  public static func + (a: Self, b: Self) -> Self { Vector3(a.x + b.x, a.y + b.y, a.z + b.z) }
  /// Difference.
  @inlinable
  public static func - (a: Self, b: Self) -> Self { Vector3(a.x - b.x, a.y - b.y, a.z - b.z) }
  /// Multiple.
  @inlinable
  public static func * (a: Self, b: Double) -> Self { Vector3(a.x * b, a.y * b, a.z * b) }

  /// Scalar product.
  @inlinable public func dot(_ b: Self) -> Double { x * b.x + y * b.y + z * b.z }
  /// Vector product.
  @inlinable
  public func cross(_ b: Self) -> Self {
    Vector3(y * b.z - z * b.y, z * b.x - x * b.z, x * b.y - y * b.x)
  }
  /// Length.
  @inlinable public var length: Double { dot(self).squareRoot() }
  /// Whether all parts are finite.
  @inlinable public var isFinite: Bool { x.isFinite && y.isFinite && z.isFinite }
}

/// A symmetric matrix of three rows, such as the covariance of a place.
public struct Symmetric3: Sendable, Hashable {
  /// Elements of the upper triangle.
  public var xx, xy, xz, yy, yz, zz: Double

  /// From the upper triangle.
  @inlinable
  public init(xx: Double, xy: Double, xz: Double, yy: Double, yz: Double, zz: Double) {
    (self.xx, self.xy, self.xz) = (xx, xy, xz)
    (self.yy, self.yz, self.zz) = (yy, yz, zz)
  }

  /// Only zeros.
  public static let zero = Symmetric3(xx: 0, xy: 0, xz: 0, yy: 0, yz: 0, zz: 0)

  /// Adds `weight` times the product of a vector with itself.
  mutating func add(_ v: Vector3, _ weight: Double) {
    xx += weight * v.x * v.x
    xy += weight * v.x * v.y
    xz += weight * v.x * v.z
    yy += weight * v.y * v.y
    yz += weight * v.y * v.z
    zz += weight * v.z * v.z
  }

  /// All elements times a factor.
  func scaled(_ factor: Double) -> Symmetric3 {
    Symmetric3(
      xx: xx * factor, xy: xy * factor, xz: xz * factor, yy: yy * factor, yz: yz * factor,
      zz: zz * factor)
  }

  /// Product with a vector.
  @inlinable
  public func times(_ v: Vector3) -> Vector3 {
    Vector3(
      xx * v.x + xy * v.y + xz * v.z, xy * v.x + yy * v.y + yz * v.z,
      xz * v.x + yz * v.y + zz * v.z)
  }

  /// The inverse; nil when there is none that rounding leaves anything of.
  var inverse: Symmetric3? {
    let (a, b, c) = (yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy)
    let determinant = xx * a + xy * b + xz * c
    let scale = abs(xx * yy * zz)
    guard determinant.isFinite, abs(determinant) > 1e-14 * scale, determinant != 0 else {
      return nil
    }
    let d = 1 / determinant
    return Symmetric3(
      xx: a * d, xy: b * d, xz: c * d, yy: (xx * zz - xz * xz) * d,
      yz: (xy * xz - xx * yz) * d, zz: (xx * yy - xy * xy) * d)
  }
}
