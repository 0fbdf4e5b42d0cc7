// SPDX-License-Identifier: Apache-2.0

// Functions of vectors, with the prefix of Apple's simd library and without: apps use both.
//
// Unprefixed `abs`, `min` and `max` of vectors are left out on purpose: overloads of the standard
// library's functions make the type checker much slower on ordinary arithmetic.

/// Returns the scalar product.
@inlinable
public func dot<V: SIMD>(_ a: V, _ b: V) -> V.Scalar where V.Scalar: FloatingPoint {
  (a * b).sum()
}

/// Returns the length.
@inlinable
public func length<V: SIMD>(_ a: V) -> V.Scalar where V.Scalar: FloatingPoint {
  dot(a, a).squareRoot()
}

/// Returns the distance between two points.
@inlinable
public func distance<V: SIMD>(_ a: V, _ b: V) -> V.Scalar where V.Scalar: FloatingPoint {
  length(a - b)
}

/// Returns the unit vector of the same direction; NaN for a vector of length 0.
@inlinable
public func normalize<V: SIMD>(_ a: V) -> V where V.Scalar: FloatingPoint { a / length(a) }

/// Returns the vector product.
@inlinable
public func cross<S: SIMDScalar & FloatingPoint>(_ a: SIMD3<S>, _ b: SIMD3<S>) -> SIMD3<S> {
  SIMD3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)
}

/// Interpolates linearly from `a` (`t` = 0) to `b` (`t` = 1).
@inlinable
public func mix<V: SIMD>(_ a: V, _ b: V, t: V.Scalar) -> V where V.Scalar: FloatingPoint {
  a + (b - a) * t
}

/// Returns the scalar product.
@inlinable
public func simd_dot<V: SIMD>(_ a: V, _ b: V) -> V.Scalar where V.Scalar: FloatingPoint {
  dot(a, b)
}

/// Returns the length.
@inlinable
public func simd_length<V: SIMD>(_ a: V) -> V.Scalar where V.Scalar: FloatingPoint { length(a) }

/// Returns the distance between two points.
@inlinable
public func simd_distance<V: SIMD>(_ a: V, _ b: V) -> V.Scalar where V.Scalar: FloatingPoint {
  distance(a, b)
}

/// Returns the unit vector of the same direction; NaN for a vector of length 0.
@inlinable
public func simd_normalize<V: SIMD>(_ a: V) -> V where V.Scalar: FloatingPoint { normalize(a) }

/// Returns the vector product.
@inlinable
public func simd_cross<S: SIMDScalar & FloatingPoint>(_ a: SIMD3<S>, _ b: SIMD3<S>) -> SIMD3<S> {
  cross(a, b)
}

/// Creates a vector of three elements.
@inlinable
public func simd_make_float3(_ x: Float, _ y: Float, _ z: Float) -> simd_float3 { .init(x, y, z) }

/// Returns the first three of four elements.
@inlinable
public func simd_make_float3(_ v: simd_float4) -> simd_float3 { .init(v.x, v.y, v.z) }

/// Creates a vector of four elements.
@inlinable
public func simd_make_float4(_ x: Float, _ y: Float, _ z: Float, _ w: Float) -> simd_float4 {
  .init(x, y, z, w)
}

/// Appends a fourth element, by default 0.
@inlinable
public func simd_make_float4(_ v: simd_float3, _ w: Float = 0) -> simd_float4 { .init(v, w) }
