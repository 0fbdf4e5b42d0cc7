// SPDX-License-Identifier: Apache-2.0
import NearbyInteraction
import Testing

/// Apps extend the library's types.
extension simd_float4x4 {
  fileprivate var position: simd_float3 { simd_make_float3(columns.3) }
  fileprivate init(position: simd_float3) {
    self = matrix_identity_float4x4
    columns.3 = simd_make_float4(position, 1)
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
    #expect(abs(some.length - 1) < 1e-6)
    #expect(abs(simd_angle(some) - 0.7) < 1e-6)
    #expect(distance(simd_axis(some), oblique) < 1e-5)
    let none = simd_mul(some, simd_inverse(some))
    #expect(length(none.imag) < 1e-6 && abs(none.real - 1) < 1e-6)
    #expect(abs(simd_dot(simd_normalize(some), some) - 1) < 1e-6)
  }

  @Test func interpolationBetweenRotations() {
    let none = simd_quatf(angle: 0, axis: z)
    let quarter = simd_quatf(angle: .pi / 2, axis: z)
    let negative = simd_quatf(vector: -quarter.vector)
    for part: Float in [0, 0.25, 1] {
      let between = simd_slerp(none, quarter, part)
      #expect(abs(between.angle - part * .pi / 2) < 1e-5)
      // The negative is the same rotation, so the shorter arc is taken.
      #expect(distance(simd_slerp(none, negative, part).act(x), between.act(x)) < 1e-5)
      #expect(distance(simd_slerp(quarter, quarter, part).act(x), y) < 1e-5)
    }
  }

  @Test func matricesAddAndMultiply() {
    let a = simd_float4x4(position: simd_float3(1, 2, 3))
    var b = simd_matrix4x4(simd_quatf(angle: 1, axis: y))
    #expect((a + b) - b == a)
    #expect(2 * a == a + a)
    let product = matrix_multiply(a, b)
    #expect(product.position == simd_float3(1, 2, 3))
    #expect(product == simd_mul(a, b))
    b *= simd_inverse(b)
    for column in 0..<4 {
      #expect(distance(b[column], matrix_identity_float4x4[column]) < 1e-6)
    }
    let rows = simd_float3x3(rows: [x, y * 2, z * 3])
    #expect(rows == simd_float3x3(diagonal: vector_float3(1, 2, 3)))
    #expect(simd_mul(rows, y) == y * 2)
    #expect(simd_float3x3(columns: (x, y, z)) == simd_float3x3(1))
    #expect(rows - rows == simd_float3x3())
  }

  @Test func vectorsFromOtherVectors() {
    let four = simd_make_float4(1, 2, 3, 4)
    #expect(simd_make_float3(four) == float3(1, 2, 3))
    #expect(simd_make_float4(simd_float3(5, 6, 7)) == simd_float4(5, 6, 7, 0))
    #expect(mix(x, y, t: 0.5) == simd_float3(0.5, 0.5, 0))
    // The functions of numbers in the standard library stay available beside the functions of
    // vectors.
    #expect(abs(-3) == 3)
    #expect(min(1, 2, 3) == 1)
    #expect(max(Float(1), 2) == 2)
    #expect(floor(1.5) == 1)
  }
}
