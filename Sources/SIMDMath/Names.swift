// SPDX-License-Identifier: Apache-2.0

// The names that Apple's simd library has for the vectors of the standard library. Source: the
// library's public documentation.

/// Two floats.
public typealias simd_float2 = SIMD2<Float>
/// Three floats.
public typealias simd_float3 = SIMD3<Float>
/// Four floats.
public typealias simd_float4 = SIMD4<Float>
/// Two doubles.
public typealias simd_double2 = SIMD2<Double>
/// Three doubles.
public typealias simd_double3 = SIMD3<Double>
/// Four doubles.
public typealias simd_double4 = SIMD4<Double>
/// Two integers of 32 bits.
public typealias simd_int2 = SIMD2<Int32>
/// Three integers of 32 bits.
public typealias simd_int3 = SIMD3<Int32>
/// Four integers of 32 bits.
public typealias simd_int4 = SIMD4<Int32>
/// Two unsigned integers of 32 bits.
public typealias simd_uint2 = SIMD2<UInt32>
/// Three unsigned integers of 32 bits.
public typealias simd_uint3 = SIMD3<UInt32>
/// Four unsigned integers of 32 bits.
public typealias simd_uint4 = SIMD4<UInt32>

// The older names of the same.

/// Two floats.
public typealias vector_float2 = simd_float2
/// Three floats.
public typealias vector_float3 = simd_float3
/// Four floats.
public typealias vector_float4 = simd_float4
/// Two doubles.
public typealias vector_double2 = simd_double2
/// Three doubles.
public typealias vector_double3 = simd_double3
/// Four doubles.
public typealias vector_double4 = simd_double4
/// Two floats.
public typealias float2 = simd_float2
/// Three floats.
public typealias float3 = simd_float3
/// Four floats.
public typealias float4 = simd_float4
/// Two doubles.
public typealias double2 = simd_double2
/// Three doubles.
public typealias double3 = simd_double3
/// Four doubles.
public typealias double4 = simd_double4

/// Three rows and columns of floats.
public typealias simd_float3x3 = SIMDMatrix3x3<Float>
/// Four rows and columns of floats.
public typealias simd_float4x4 = SIMDMatrix4x4<Float>
/// Three rows and columns of doubles.
public typealias simd_double3x3 = SIMDMatrix3x3<Double>
/// Four rows and columns of doubles.
public typealias simd_double4x4 = SIMDMatrix4x4<Double>
/// Three rows and columns of floats.
public typealias float3x3 = simd_float3x3
/// Four rows and columns of floats.
public typealias float4x4 = simd_float4x4
/// Three rows and columns of doubles.
public typealias double3x3 = simd_double3x3
/// Four rows and columns of doubles.
public typealias double4x4 = simd_double4x4
/// Three rows and columns of floats.
public typealias matrix_float3x3 = simd_float3x3
/// Four rows and columns of floats.
public typealias matrix_float4x4 = simd_float4x4
/// Three rows and columns of doubles.
public typealias matrix_double3x3 = simd_double3x3
/// Four rows and columns of doubles.
public typealias matrix_double4x4 = simd_double4x4

/// A quaternion of floats.
public typealias simd_quatf = SIMDQuaternion<Float>
/// A quaternion of doubles.
public typealias simd_quatd = SIMDQuaternion<Double>

/// Ones in the diagonal.
public let matrix_identity_float3x3 = simd_float3x3(1)
/// Ones in the diagonal.
public let matrix_identity_float4x4 = simd_float4x4(1)
/// Ones in the diagonal.
public let matrix_identity_double3x3 = simd_double3x3(1)
/// Ones in the diagonal.
public let matrix_identity_double4x4 = simd_double4x4(1)
