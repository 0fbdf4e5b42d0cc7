// SPDX-License-Identifier: Apache-2.0

// The names that Apple's simd library gives to the vectors of the standard library. Source: the
// library's public documentation. Only names that Nearby Interaction's signatures and its apps need
// are here.

/// Two single-precision numbers.
public typealias simd_float2 = SIMD2<Float>
/// Three single-precision numbers.
public typealias simd_float3 = SIMD3<Float>
/// Four single-precision numbers.
public typealias simd_float4 = SIMD4<Float>
/// Three double-precision numbers.
public typealias simd_double3 = SIMD3<Double>
/// Four double-precision numbers.
public typealias simd_double4 = SIMD4<Double>
/// A 3 × 3 matrix of single-precision numbers.
public typealias simd_float3x3 = SIMDMatrix3x3<Float>
/// A 4 × 4 matrix of single-precision numbers.
public typealias simd_float4x4 = SIMDMatrix4x4<Float>
/// A 3 × 3 matrix of double-precision numbers.
public typealias simd_double3x3 = SIMDMatrix3x3<Double>
/// A 4 × 4 matrix of double-precision numbers.
public typealias simd_double4x4 = SIMDMatrix4x4<Double>
/// A quaternion of single-precision numbers.
public typealias simd_quatf = SIMDQuaternion<Float>
/// A quaternion of double-precision numbers.
public typealias simd_quatd = SIMDQuaternion<Double>

// The older names, which code written for ARKit still uses.

/// Three single-precision numbers.
public typealias float3 = simd_float3
/// Four single-precision numbers.
public typealias float4 = simd_float4
/// A 3 × 3 matrix of single-precision numbers.
public typealias float3x3 = simd_float3x3
/// A 4 × 4 matrix of single-precision numbers.
public typealias float4x4 = simd_float4x4
/// Three single-precision numbers.
public typealias vector_float3 = simd_float3
/// Four single-precision numbers.
public typealias vector_float4 = simd_float4
/// A 4 × 4 matrix of single-precision numbers.
public typealias matrix_float4x4 = simd_float4x4

/// The 4 × 4 identity.
public let matrix_identity_float4x4 = simd_float4x4(1)
