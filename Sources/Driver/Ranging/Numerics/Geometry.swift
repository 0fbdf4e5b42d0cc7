// SPDX-License-Identifier: Apache-2.0

internal import Glibc

extension SIMD3 where Scalar == Double {
  // Adds the terms from left to right: another order would round differently.
  package func dot(_ b: Self) -> Double { x * b.x + y * b.y + z * b.z }

  package func cross(_ b: Self) -> Self {
    Self(y * b.z - z * b.y, z * b.x - x * b.z, x * b.y - y * b.x)
  }

  package var length: Double { dot(self).squareRoot() }
  package var isFinite: Bool { x.isFinite && y.isFinite && z.isFinite }
}

/// A symmetric 3×3 matrix, such as the covariance of a position.
public struct Symmetric3: Sendable, Hashable {
  /// Elements of the upper triangle: square metres in the covariance of a position.
  public var xx, xy, xz, yy, yz, zz: Double

  package init(xx: Double, xy: Double, xz: Double, yy: Double, yz: Double, zz: Double) {
    (self.xx, self.xy, self.xz) = (xx, xy, xz)
    (self.yy, self.yz, self.zz) = (yy, yz, zz)
  }

  package static let zero = Symmetric3(xx: 0, xy: 0, xz: 0, yy: 0, yz: 0, zz: 0)

  /// Adds `weight` times the outer product of a vector with itself.
  package mutating func add(_ v: SIMD3<Double>, _ weight: Double) {
    xx += weight * v.x * v.x
    xy += weight * v.x * v.y
    xz += weight * v.x * v.z
    yy += weight * v.y * v.y
    yz += weight * v.y * v.z
    zz += weight * v.z * v.z
  }

  package mutating func add(_ other: Symmetric3) {
    xx += other.xx
    xy += other.xy
    xz += other.xz
    yy += other.yy
    yz += other.yz
    zz += other.zz
  }

  package mutating func addToDiagonal(_ value: Double) {
    xx += value
    yy += value
    zz += value
  }

  package func scaled(_ factor: Double) -> Symmetric3 {
    Symmetric3(
      xx: xx * factor, xy: xy * factor, xz: xz * factor, yy: yy * factor, yz: yz * factor,
      zz: zz * factor)
  }

  package func times(_ v: SIMD3<Double>) -> SIMD3<Double> {
    SIMD3(
      xx * v.x + xy * v.y + xz * v.z, xy * v.x + yy * v.y + yz * v.z,
      xz * v.x + yz * v.y + zz * v.z)
  }

  /// The inverse; nil if the determinant is zero within rounding.
  package var inverse: Symmetric3? {
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

/// Returns the arc sine of `x`, which rounding may have moved beyond -1...1.
@inline(__always)
package func clampedAsin(_ x: Double) -> Double { asin(max(-1, min(1, x))) }

/// Returns `angle` (radians) wrapped into -π..<π.
@inlinable @inline(__always)
package func wrapped(_ angle: Double) -> Double {
  let turns = (angle / (2 * .pi)).rounded()
  let result = angle - turns * 2 * .pi
  return result >= .pi ? result - 2 * .pi : (result < -.pi ? result + 2 * .pi : result)
}
