// SPDX-License-Identifier: Apache-2.0

// Vectors from numbers and from longer or shorter vectors: what is missing is 0, what is too much is
// left out.

/// Two floats.
@inlinable
public func simd_make_float2(_ x: Float, _ y: Float) -> simd_float2 { .init(x, y) }
/// One float, and 0.
@inlinable
public func simd_make_float2(_ x: Float) -> simd_float2 { .init(x, 0) }
/// The first two of three.
@inlinable
public func simd_make_float2(_ v: simd_float3) -> simd_float2 { .init(v.x, v.y) }
/// The first two of four.
@inlinable
public func simd_make_float2(_ v: simd_float4) -> simd_float2 { .init(v.x, v.y) }

/// Three floats.
@inlinable
public func simd_make_float3(_ x: Float, _ y: Float, _ z: Float) -> simd_float3 { .init(x, y, z) }
/// One float, and zeros.
@inlinable
public func simd_make_float3(_ x: Float) -> simd_float3 { .init(x, 0, 0) }
/// Two and one.
@inlinable
public func simd_make_float3(_ v: simd_float2, _ z: Float) -> simd_float3 { .init(v.x, v.y, z) }
/// One and two.
@inlinable
public func simd_make_float3(_ x: Float, _ v: simd_float2) -> simd_float3 { .init(x, v.x, v.y) }
/// Two, and 0.
@inlinable
public func simd_make_float3(_ v: simd_float2) -> simd_float3 { .init(v.x, v.y, 0) }
/// The first three of four.
@inlinable
public func simd_make_float3(_ v: simd_float4) -> simd_float3 { .init(v.x, v.y, v.z) }

/// Four floats.
@inlinable
public func simd_make_float4(_ x: Float, _ y: Float, _ z: Float, _ w: Float) -> simd_float4 {
  .init(x, y, z, w)
}
/// One float, and zeros.
@inlinable
public func simd_make_float4(_ x: Float) -> simd_float4 { .init(x, 0, 0, 0) }
/// Three and one.
@inlinable
public func simd_make_float4(_ v: simd_float3, _ w: Float) -> simd_float4 { .init(v, w) }
/// Three, and 0.
@inlinable
public func simd_make_float4(_ v: simd_float3) -> simd_float4 { .init(v, 0) }
/// Two and two.
@inlinable
public func simd_make_float4(_ a: simd_float2, _ b: simd_float2) -> simd_float4 {
  .init(lowHalf: a, highHalf: b)
}
/// Two, and zeros.
@inlinable
public func simd_make_float4(_ v: simd_float2) -> simd_float4 { .init(lowHalf: v, highHalf: .zero) }

/// Two doubles.
@inlinable
public func simd_make_double2(_ x: Double, _ y: Double) -> simd_double2 { .init(x, y) }
/// Three doubles.
@inlinable
public func simd_make_double3(_ x: Double, _ y: Double, _ z: Double) -> simd_double3 {
  .init(x, y, z)
}
/// The first three of four.
@inlinable
public func simd_make_double3(_ v: simd_double4) -> simd_double3 { .init(v.x, v.y, v.z) }
/// Four doubles.
@inlinable
public func simd_make_double4(_ x: Double, _ y: Double, _ z: Double, _ w: Double) -> simd_double4 {
  .init(x, y, z, w)
}
/// Three and one.
@inlinable
public func simd_make_double4(_ v: simd_double3, _ w: Double) -> simd_double4 { .init(v, w) }

/// A matrix of three columns.
public func simd_matrix<S>(_ a: SIMD3<S>, _ b: SIMD3<S>, _ c: SIMD3<S>) -> SIMDMatrix3x3<S> {
  .init(a, b, c)
}
/// A matrix of four columns.
public func simd_matrix<S>(
  _ a: SIMD4<S>, _ b: SIMD4<S>, _ c: SIMD4<S>, _ d: SIMD4<S>
) -> SIMDMatrix4x4<S> { .init(a, b, c, d) }
/// A matrix of three rows.
public func simd_matrix_from_rows<S>(
  _ a: SIMD3<S>, _ b: SIMD3<S>, _ c: SIMD3<S>
) -> SIMDMatrix3x3<S> { .init(rows: [a, b, c]) }
/// A matrix of four rows.
public func simd_matrix_from_rows<S>(
  _ a: SIMD4<S>, _ b: SIMD4<S>, _ c: SIMD4<S>, _ d: SIMD4<S>
) -> SIMDMatrix4x4<S> { .init(rows: [a, b, c, d]) }
/// A matrix with these numbers in its diagonal.
public func simd_diagonal_matrix<S>(_ d: SIMD3<S>) -> SIMDMatrix3x3<S> { .init(diagonal: d) }
/// A matrix with these numbers in its diagonal.
public func simd_diagonal_matrix<S>(_ d: SIMD4<S>) -> SIMDMatrix4x4<S> { .init(diagonal: d) }
/// The matrix of a rotation.
public func simd_matrix3x3<S>(_ q: SIMDQuaternion<S>) -> SIMDMatrix3x3<S> { .init(q) }
/// The matrix of a rotation.
public func simd_matrix4x4<S>(_ q: SIMDQuaternion<S>) -> SIMDMatrix4x4<S> { .init(q) }
