// SPDX-License-Identifier: Apache-2.0

// What is done with each part of a vector by itself. Code for Apple's platforms has some of it for
// single numbers, too.
//
// What the standard library has under the same name for numbers is to be tried first: otherwise
// ordinary arithmetic of apps takes the type checker much longer. For `abs` even that does not help,
// so vectors have `simd_abs` only.

/// The amounts of the parts.
@inlinable
public func simd_abs<V: SIMD>(_ a: V) -> V where V.Scalar: FloatingPoint {
  pointwiseMax(a, V.zero - a)
}

/// The smaller of each two parts.
@inlinable
@_disfavoredOverload
public func min<V: SIMD>(_ a: V, _ b: V) -> V where V.Scalar: Comparable { pointwiseMin(a, b) }

/// Each part, or the number where that is smaller.
@inlinable
@_disfavoredOverload
public func min<V: SIMD>(_ a: V, _ b: V.Scalar) -> V where V.Scalar: Comparable {
  pointwiseMin(a, V(repeating: b))
}

/// The smaller of each two parts.
@inlinable
public func simd_min<V: SIMD>(_ a: V, _ b: V) -> V where V.Scalar: Comparable { min(a, b) }

/// The smaller number.
@inlinable
public func simd_min<S: SIMDScalar & FloatingPoint>(_ a: S, _ b: S) -> S { S.minimum(a, b) }

/// The greater of each two parts.
@inlinable
@_disfavoredOverload
public func max<V: SIMD>(_ a: V, _ b: V) -> V where V.Scalar: Comparable { pointwiseMax(a, b) }

/// Each part, or the number where that is greater.
@inlinable
@_disfavoredOverload
public func max<V: SIMD>(_ a: V, _ b: V.Scalar) -> V where V.Scalar: Comparable {
  pointwiseMax(a, V(repeating: b))
}

/// The greater of each two parts.
@inlinable
public func simd_max<V: SIMD>(_ a: V, _ b: V) -> V where V.Scalar: Comparable { max(a, b) }

/// The greater number.
@inlinable
public func simd_max<S: SIMDScalar & FloatingPoint>(_ a: S, _ b: S) -> S { S.maximum(a, b) }

/// Each part within its bounds.
@inlinable
@_disfavoredOverload
public func clamp<V: SIMD>(_ a: V, min: V, max: V) -> V where V.Scalar: Comparable {
  a.clamped(lowerBound: min, upperBound: max)
}

/// Each part within the same bounds.
@inlinable
@_disfavoredOverload
public func clamp<V: SIMD>(_ a: V, min: V.Scalar, max: V.Scalar) -> V where V.Scalar: Comparable {
  a.clamped(lowerBound: V(repeating: min), upperBound: V(repeating: max))
}

/// Each part within its bounds.
@inlinable
public func simd_clamp<V: SIMD>(_ a: V, _ min: V, _ max: V) -> V where V.Scalar: Comparable {
  clamp(a, min: min, max: max)
}

/// A number within bounds.
@inlinable
public func simd_clamp<S: SIMDScalar & FloatingPoint>(_ a: S, _ min: S, _ max: S) -> S {
  S.minimum(S.maximum(a, min), max)
}

/// From `a` at 0 to `b` at 1.
@inlinable
public func mix<V: SIMD>(_ a: V, _ b: V, t: V.Scalar) -> V where V.Scalar: FloatingPoint {
  a + (b - a) * t
}

/// From `a` at 0 to `b` at 1, each part by itself.
@inlinable
public func mix<V: SIMD>(_ a: V, _ b: V, t: V) -> V where V.Scalar: FloatingPoint {
  a + (b - a) * t
}

/// From `a` at 0 to `b` at 1.
@inlinable
public func simd_mix<V: SIMD>(_ a: V, _ b: V, _ t: V.Scalar) -> V where V.Scalar: FloatingPoint {
  mix(a, b, t: t)
}

/// From `a` at 0 to `b` at 1, each part by itself.
@inlinable
public func simd_mix<V: SIMD>(_ a: V, _ b: V, _ t: V) -> V where V.Scalar: FloatingPoint {
  mix(a, b, t: t)
}

/// From `a` at 0 to `b` at 1.
@inlinable
public func simd_mix<S: SIMDScalar & FloatingPoint>(_ a: S, _ b: S, _ t: S) -> S { a + (b - a) * t }

/// -1, 0 or 1 for each part.
@inlinable
@_disfavoredOverload
public func sign<V: SIMD>(_ a: V) -> V where V.Scalar: FloatingPoint {
  let positive = V.zero.replacing(with: 1, where: a .> V.zero)
  return positive.replacing(with: -1, where: a .< V.zero)
}

/// -1, 0 or 1 for each part.
@inlinable
public func simd_sign<V: SIMD>(_ a: V) -> V where V.Scalar: FloatingPoint { sign(a) }

/// -1, 0 or 1.
@inlinable
public func simd_sign<S: SIMDScalar & FloatingPoint>(_ a: S) -> S { a > 0 ? 1 : a < 0 ? -1 : 0 }

/// The next whole numbers that are not greater.
@inlinable
@_disfavoredOverload
public func floor<V: SIMD>(_ a: V) -> V where V.Scalar: FloatingPoint { a.rounded(.down) }

/// The next whole numbers that are not smaller.
@inlinable
@_disfavoredOverload
public func ceil<V: SIMD>(_ a: V) -> V where V.Scalar: FloatingPoint { a.rounded(.up) }

/// Whole numbers, towards 0.
@inlinable
@_disfavoredOverload
public func trunc<V: SIMD>(_ a: V) -> V where V.Scalar: FloatingPoint { a.rounded(.towardZero) }

/// What is left above the next smaller whole numbers.
@inlinable
@_disfavoredOverload
public func fract<V: SIMD>(_ a: V) -> V where V.Scalar: FloatingPoint { a - a.rounded(.down) }

/// What is left above the next smaller whole numbers.
@inlinable
public func simd_fract<V: SIMD>(_ a: V) -> V where V.Scalar: FloatingPoint { fract(a) }

/// 1 divided by each part.
@inlinable
@_disfavoredOverload
public func recip<V: SIMD>(_ a: V) -> V where V.Scalar: FloatingPoint { 1 / a }

/// 1 divided by each part.
@inlinable
public func simd_recip<V: SIMD>(_ a: V) -> V where V.Scalar: FloatingPoint { recip(a) }

/// 1 divided by the root of each part.
@inlinable
@_disfavoredOverload
public func rsqrt<V: SIMD>(_ a: V) -> V where V.Scalar: FloatingPoint { 1 / a.squareRoot() }

/// 1 divided by the root of each part.
@inlinable
public func simd_rsqrt<V: SIMD>(_ a: V) -> V where V.Scalar: FloatingPoint { rsqrt(a) }

/// 0 for a part below `edge`, otherwise 1.
@inlinable
@_disfavoredOverload
public func step<V: SIMD>(_ a: V, edge: V) -> V where V.Scalar: FloatingPoint {
  V(repeating: 1).replacing(with: 0, where: a .< edge)
}

/// 0 for a part below `edge`, otherwise 1.
@inlinable
public func simd_step<V: SIMD>(_ edge: V, _ a: V) -> V where V.Scalar: FloatingPoint {
  step(a, edge: edge)
}

/// 0 up to `edge0`, 1 from `edge1`, and between them a curve that has no corners (t²·(3 - 2·t)).
@inlinable
public func smoothstep<V: SIMD>(_ a: V, edge0: V, edge1: V) -> V where V.Scalar: FloatingPoint {
  let t = clamp((a - edge0) / (edge1 - edge0), min: .zero, max: V(repeating: 1))
  let square = t * t
  return square * (3 - (t + t))
}

/// 0 up to `edge0`, 1 from `edge1`, and between them a curve that has no corners.
@inlinable
public func simd_smoothstep<V: SIMD>(_ edge0: V, _ edge1: V, _ a: V) -> V
where V.Scalar: FloatingPoint {
  smoothstep(a, edge0: edge0, edge1: edge1)
}
