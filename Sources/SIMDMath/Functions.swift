// SPDX-License-Identifier: Apache-2.0

// Functions of whole vectors, under the names they have in Swift's view of Apple's simd library, with the
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

/// Sum of the amounts of the parts.
@inlinable
public func norm_one<V: SIMD>(_ a: V) -> V.Scalar where V.Scalar: FloatingPoint {
  simd_abs(a).sum()
}

/// Sum of the amounts of the parts.
@inlinable
public func simd_norm_one<V: SIMD>(_ a: V) -> V.Scalar where V.Scalar: FloatingPoint {
  norm_one(a)
}

/// The greatest amount of a part.
@inlinable
public func norm_inf<V: SIMD>(_ a: V) -> V.Scalar where V.Scalar: FloatingPoint {
  simd_abs(a).max()
}

/// The greatest amount of a part.
@inlinable
public func simd_norm_inf<V: SIMD>(_ a: V) -> V.Scalar where V.Scalar: FloatingPoint {
  norm_inf(a)
}

/// The direction of a ray behind a surface with the normal `n`; zeros where all of it is reflected.
///
/// - Parameter eta: the index of refraction before the surface divided by that behind it.
@inlinable
public func refract<V: SIMD>(_ a: V, n: V, eta: V.Scalar) -> V where V.Scalar: FloatingPoint {
  let cosine = dot(a, n)
  let rest = 1 - eta * eta * (1 - cosine * cosine)
  return rest < 0 ? .zero : a * eta - n * (eta * cosine + rest.squareRoot())
}

/// The direction of a ray behind a surface; see `refract(_:n:eta:)`.
@inlinable
public func simd_refract<V: SIMD>(_ a: V, _ n: V, _ eta: V.Scalar) -> V
where V.Scalar: FloatingPoint {
  refract(a, n: n, eta: eta)
}

/// Sum of the parts.
@inlinable
public func reduce_add<V: SIMD>(_ a: V) -> V.Scalar where V.Scalar: FloatingPoint { a.sum() }

/// The smallest part.
@inlinable
public func reduce_min<V: SIMD>(_ a: V) -> V.Scalar where V.Scalar: Comparable { a.min() }

/// The greatest part.
@inlinable
public func reduce_max<V: SIMD>(_ a: V) -> V.Scalar where V.Scalar: Comparable { a.max() }

/// Whether all parts are the same.
@inlinable
public func simd_equal<V: SIMD>(_ a: V, _ b: V) -> Bool { a == b }

// Apple's library has two kinds of what takes a root. Here both are the exact one.

/// Length.
@inlinable
public func simd_fast_length<V: SIMD>(_ a: V) -> V.Scalar where V.Scalar: FloatingPoint {
  length(a)
}

/// Length.
@inlinable
public func simd_precise_length<V: SIMD>(_ a: V) -> V.Scalar where V.Scalar: FloatingPoint {
  length(a)
}

/// Distance between two places.
@inlinable
public func simd_fast_distance<V: SIMD>(_ a: V, _ b: V) -> V.Scalar
where V.Scalar: FloatingPoint {
  distance(a, b)
}

/// Distance between two places.
@inlinable
public func simd_precise_distance<V: SIMD>(_ a: V, _ b: V) -> V.Scalar
where V.Scalar: FloatingPoint {
  distance(a, b)
}

/// The same direction with the length 1.
@inlinable
public func simd_fast_normalize<V: SIMD>(_ a: V) -> V where V.Scalar: FloatingPoint {
  normalize(a)
}

/// The same direction with the length 1.
@inlinable
public func simd_precise_normalize<V: SIMD>(_ a: V) -> V where V.Scalar: FloatingPoint {
  normalize(a)
}
