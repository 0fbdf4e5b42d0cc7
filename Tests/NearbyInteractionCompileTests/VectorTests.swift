// SPDX-License-Identifier: Apache-2.0
import NearbyInteraction
import Testing

/// Apps add what they miss to the types of the library.
extension simd_float4x4 {
  fileprivate var place: simd_float3 { simd_make_float3(columns.3) }
  fileprivate init(place: simd_float3) {
    self = matrix_identity_float4x4
    columns.3 = simd_make_float4(place, 1)
  }
}

@Suite struct VectorTests {
  let x = simd_float3(1, 0, 0)
  let y = simd_float3(0, 1, 0)
  let z = simd_float3(0, 0, 1)

  @Test func rotationsFromDirectionToDirection() {
    let oblique = normalize(simd_float3(1, -2, 0.5))
    for (from, to) in [(x, y), (z, oblique), (oblique, -oblique), (x, -x), (y, -y), (z, z)] {
      #expect(distance(simd_quatf(from: from, to: to).act(from), to) < 1e-5, "\(from) to \(to)")
      #expect(distance(simd_act(simd_quaternion(from, to), from), to) < 1e-5)
    }
    let some = simd_quaternion(Float(0.7), oblique)
    #expect(simd_length((some / some).imag) < 1e-6)
    #expect(simd_length(-some) - 1 < 1e-6)
    #expect(distance(simd_act(-some, x), simd_act(some, x)) < 1e-6)
    #expect(abs(simd_angle(some) - 0.7) < 1e-6)
    #expect(distance(simd_axis(some), oblique) < 1e-5)
    #expect(
      simd_length(simd_mul(some, simd_inverse(some)) - simd_quatf(real: 1, imag: .zero)) < 1e-6)
  }

  @Test func betweenTwoRotations() {
    let none = simd_quatf(angle: 0, axis: z)
    let quarter = simd_quatf(angle: .pi / 2, axis: z)
    for part: Float in [0, 0.25, 1] {
      let between = simd_slerp(none, quarter, part)
      #expect(abs(between.angle - part * .pi / 2) < 1e-5)
      // The negative is the same rotation, and is not gone to the long way round.
      #expect(distance(simd_slerp(none, -quarter, part).act(x), between.act(x)) < 1e-5)
      #expect(distance(simd_slerp(quarter, quarter, part).act(x), y) < 1e-5)
    }
    // Three quarters in the other direction, a third of it.
    let long = simd_slerp_longest(none, quarter, 1 / 3)
    #expect(distance(long.act(x), -y) < 1e-5)
  }

  @Test func matricesAddAndMultiply() {
    let a = simd_float4x4(place: simd_float3(1, 2, 3))
    var b = simd_matrix4x4(simd_quatf(angle: 1, axis: y))
    #expect((a + b) - b == a)
    #expect(-a + a == simd_float4x4())
    #expect(a * 2 == a + a)
    #expect(2 * a == a * 2)
    #expect(simd_float4(1, 2, 3, 4) * a == simd_mul(a.transpose, simd_float4(1, 2, 3, 4)))
    let product = matrix_multiply(a, b)
    #expect(product.place == simd_float3(1, 2, 3))
    #expect(product == simd_mul(a, b))
    b *= simd_inverse(b)
    #expect(simd_almost_equal_elements(b, matrix_identity_float4x4, 1e-6))
    #expect(!simd_almost_equal_elements(a, matrix_identity_float4x4, 2.9))
    #expect(!simd_equal(a, b))
    let rows = simd_matrix_from_rows(x, y * 2, z * 3)
    #expect(rows == simd_diagonal_matrix(vector_float3(1, 2, 3)))
    #expect(rows * x == x)
    #expect(simd_matrix(x, y, z) == matrix_identity_float3x3)
    #expect(rows - rows == simd_float3x3())
    #expect(simd_almost_equal_elements(rows * matrix_invert(rows), simd_float3x3(1), 1e-6))
  }

  @Test func vectorsFromPartsAndFromEachOther() {
    let four = simd_make_float4(1, 2, 3, 4)
    #expect(simd_make_float3(four) == float3(1, 2, 3))
    #expect(simd_make_float2(four) == float2(1, 2))
    #expect(simd_make_float3(simd_float2(5, 6), 7) == simd_float3(5, 6, 7))
    #expect(simd_make_float4(simd_float3(5, 6, 7)) == simd_float4(5, 6, 7, 0))
    #expect(simd_make_double3(simd_make_double4(1, 2, 3, 4)) == simd_double3(1, 2, 3))
  }

  @Test func partByPart() {
    let some = simd_float3(-1.5, 0, 2.25)
    #expect(simd_abs(some) == simd_float3(1.5, 0, 2.25))
    #expect(sign(some) == simd_float3(-1, 0, 1))
    #expect(floor(some) == simd_float3(-2, 0, 2))
    #expect(ceil(some) == simd_float3(-1, 0, 3))
    #expect(fract(some) == simd_float3(0.5, 0, 0.25))
    #expect(trunc(some) == simd_float3(-1, 0, 2))
    #expect(min(some, x) == simd_float3(-1.5, 0, 0))
    #expect(max(some, 1) == simd_float3(1, 1, 2.25))
    #expect(clamp(some, min: -1, max: 1) == simd_float3(-1, 0, 1))
    #expect(simd_clamp(Float(7), 0, 1) == 1)
    #expect(simd_mix(Float(2), 4, 0.25) == 2.5)
    #expect(mix(x, y, t: 0.5) == simd_float3(0.5, 0.5, 0))
    #expect(simd_mix(x, y, z) == x)
    #expect(step(some, edge: .zero) == simd_float3(0, 1, 1))
    #expect(smoothstep(some, edge0: .zero, edge1: simd_float3(3, 3, 4.5)) == simd_float3(0, 0, 0.5))
    #expect(norm_one(some) == 3.75)
    #expect(norm_inf(some) == 2.25)
    #expect(reduce_min(some) == -1.5)
    #expect(recip(simd_float3(1, 2, 4)) == simd_float3(1, 0.5, 0.25))
    #expect(rsqrt(simd_float3(1, 4, 16)) == simd_float3(1, 0.5, 0.25))
    // The global functions of numbers are still found beside these.
    #expect(abs(-3) == 3)
    #expect(min(1, 2, 3) == 1)
    #expect(max(Float(1), 2) == 2)
    #expect(floor(1.5) == 1)
  }

  @Test func raysBreakAsSnellSays() {
    let incoming = simd_float2(sin(0.4), -cos(0.4))
    let inside = refract(incoming, n: simd_float2(0, 1), eta: 1 / 1.5)
    #expect(abs(inside.x - sin(0.4) / 1.5) < 1e-6)
    #expect(abs(length(inside) - 1) < 1e-6)
    #expect(refract(simd_float2(sin(1.2), -cos(1.2)), n: simd_float2(0, 1), eta: 1.5) == .zero)
  }
}
