// SPDX-License-Identifier: Apache-2.0

// Functions of vectors, under the names they have in Swift's view of Apple's simd library, with the
// prefix and without.

/// Scalar product.
@inlinable
public func dot<V: SIMD>(_ a: V, _ b: V) -> V.Scalar where V.Scalar: FloatingPoint {
  (a * b).sum()
}

/// Square of the length.
@inlinable
public func length_squared<V: SIMD>(_ a: V) -> V.Scalar where V.Scalar: FloatingPoint {
  (a * a).sum()
}

/// Length.
@inlinable
public func length<V: SIMD>(_ a: V) -> V.Scalar where V.Scalar: FloatingPoint {
  (a * a).sum().squareRoot()
}

/// Square of the distance between two places.
@inlinable
public func distance_squared<V: SIMD>(_ a: V, _ b: V) -> V.Scalar where V.Scalar: FloatingPoint {
  length_squared(a - b)
}

/// Distance between two places.
@inlinable
public func distance<V: SIMD>(_ a: V, _ b: V) -> V.Scalar where V.Scalar: FloatingPoint {
  length(a - b)
}

/// The same direction with the length 1; not a number for a vector of length 0.
@inlinable
public func normalize<V: SIMD>(_ a: V) -> V where V.Scalar: FloatingPoint {
  a / length(a)
}

/// From `a` at 0 to `b` at 1.
@inlinable
public func mix<V: SIMD>(_ a: V, _ b: V, t: V.Scalar) -> V where V.Scalar: FloatingPoint {
  a + (b - a) * t
}

/// `a` mirrored at the plane with the normal `n` of length 1.
@inlinable
public func reflect<V: SIMD>(_ a: V, n: V) -> V where V.Scalar: FloatingPoint {
  a - n * (2 * dot(a, n))
}

/// The part of `a` along `b`.
@inlinable
public func project<V: SIMD>(_ a: V, _ b: V) -> V where V.Scalar: FloatingPoint {
  b * (dot(a, b) / dot(b, b))
}

/// Each part within its bounds.
@inlinable
public func clamp<V: SIMD>(_ a: V, min: V, max: V) -> V where V.Scalar: FloatingPoint {
  a.clamped(lowerBound: min, upperBound: max)
}

/// Scalar product.
@inlinable
public func simd_dot<V: SIMD>(_ a: V, _ b: V) -> V.Scalar where V.Scalar: FloatingPoint {
  dot(a, b)
}

/// Square of the length.
@inlinable
public func simd_length_squared<V: SIMD>(_ a: V) -> V.Scalar where V.Scalar: FloatingPoint {
  length_squared(a)
}

/// Length.
@inlinable
public func simd_length<V: SIMD>(_ a: V) -> V.Scalar where V.Scalar: FloatingPoint {
  length(a)
}

/// Square of the distance between two places.
@inlinable
public func simd_distance_squared<V: SIMD>(_ a: V, _ b: V) -> V.Scalar
where V.Scalar: FloatingPoint {
  distance_squared(a, b)
}

/// Distance between two places.
@inlinable
public func simd_distance<V: SIMD>(_ a: V, _ b: V) -> V.Scalar where V.Scalar: FloatingPoint {
  distance(a, b)
}

/// The same direction with the length 1; not a number for a vector of length 0.
@inlinable
public func simd_normalize<V: SIMD>(_ a: V) -> V where V.Scalar: FloatingPoint {
  normalize(a)
}

/// From `a` at 0 to `b` at 1.
@inlinable
public func simd_mix<V: SIMD>(_ a: V, _ b: V, _ t: V.Scalar) -> V where V.Scalar: FloatingPoint {
  mix(a, b, t: t)
}

/// `a` mirrored at the plane with the normal `n` of length 1.
@inlinable
public func simd_reflect<V: SIMD>(_ a: V, _ n: V) -> V where V.Scalar: FloatingPoint {
  reflect(a, n: n)
}

/// The part of `a` along `b`.
@inlinable
public func simd_project<V: SIMD>(_ a: V, _ b: V) -> V where V.Scalar: FloatingPoint {
  project(a, b)
}

/// Each part within its bounds.
@inlinable
public func simd_clamp<V: SIMD>(_ a: V, _ min: V, _ max: V) -> V where V.Scalar: FloatingPoint {
  clamp(a, min: min, max: max)
}

/// The smaller of each two parts.
@inlinable
public func simd_min<V: SIMD>(_ a: V, _ b: V) -> V where V.Scalar: FloatingPoint {
  pointwiseMin(a, b)
}

/// The greater of each two parts.
@inlinable
public func simd_max<V: SIMD>(_ a: V, _ b: V) -> V where V.Scalar: FloatingPoint {
  pointwiseMax(a, b)
}

/// The amounts of the parts.
@inlinable
public func simd_abs<V: SIMD>(_ a: V) -> V where V.Scalar: FloatingPoint {
  pointwiseMax(a, V.zero - a)
}

/// Sum of the parts.
@inlinable
public func simd_reduce_add<V: SIMD>(_ a: V) -> V.Scalar where V.Scalar: FloatingPoint {
  a.sum()
}

/// The smallest part.
@inlinable
public func simd_reduce_min<V: SIMD>(_ a: V) -> V.Scalar where V.Scalar: FloatingPoint {
  a.min()
}

/// The greatest part.
@inlinable
public func simd_reduce_max<V: SIMD>(_ a: V) -> V.Scalar where V.Scalar: FloatingPoint {
  a.max()
}

/// Vector product.
@inlinable
public func cross<S: SIMDScalar & FloatingPoint>(_ a: SIMD3<S>, _ b: SIMD3<S>) -> SIMD3<S> {
  SIMD3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)
}

/// Vector product.
@inlinable
public func simd_cross<S: SIMDScalar & FloatingPoint>(_ a: SIMD3<S>, _ b: SIMD3<S>) -> SIMD3<S> {
  cross(a, b)
}
