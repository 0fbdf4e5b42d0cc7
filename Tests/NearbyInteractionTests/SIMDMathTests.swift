// SPDX-License-Identifier: Apache-2.0
import SIMDMath
import Testing

#if canImport(Glibc)
  import Glibc
#endif

/// Results compared with numbers computed by hand. The public documentation of Apple's simd library
/// describes the functions.
@Suite struct SIMDVectorTests {
  @Test func productsAndLengths() {
    let (a, b) = (simd_double3(1, 2, 3), simd_double3(4, -5, 6))
    #expect(dot(a, b) == 12 && simd_dot(a, b) == 12)
    #expect(cross(a, simd_double3(4, 5, 6)) == simd_double3(-3, 6, -3))
    #expect(simd_cross(a, simd_double3(4, 5, 6)) == simd_double3(-3, 6, -3))
    let long = simd_double3(3, 4, 12)
    #expect(length(long) == 13 && simd_length(long) == 13)
    #expect(normalize(long) == long / 13 && simd_normalize(long) == long / 13)
    let far = simd_double3(4, 6, 15)
    #expect(distance(a, far) == 13 && simd_distance(a, far) == 13)
  }

  @Test func interpolation() {
    #expect(mix(simd_float2(0, 10), simd_float2(4, 20), t: 0.25) == simd_float2(1, 12.5))
  }
}

@Suite struct SIMDMatrixTests {
  /// Determinant 18.
  private let three = simd_double3x3(rows: [
    simd_double3(2, 0, 1), simd_double3(1, 3, 2), simd_double3(1, 1, 4),
  ])
  /// Determinant 30.
  private let four = simd_double4x4(rows: [
    simd_double4(1, 0, 2, -1), simd_double4(3, 0, 0, 5), simd_double4(2, 1, 4, -3),
    simd_double4(1, 0, 5, 0),
  ])

  @Test func columnsAndRows() {
    #expect(three.columns.0 == simd_double3(2, 1, 1) && three[2] == simd_double3(1, 2, 4))
    #expect(three[0, 1] == 1 && three[1, 0] == 0)
    #expect(three.transpose.columns.1 == simd_double3(1, 3, 2))
    #expect(simd_transpose(three) == three.transpose && three.transpose != three)
    #expect(four.columns.3 == simd_double4(-1, 5, -3, 0) && four[2, 3] == 5 && four[3, 2] == -3)
    #expect(four.transpose.columns.3 == simd_double4(1, 0, 5, 0))
    #expect(simd_transpose(four) == four.transpose && four.transpose != four)
    #expect(simd_double3x3([three[0], three[1], three[2]]) == three)
    #expect(simd_double4x4([four[0], four[1], four[2], four[3]]) == four)
  }

  @Test func sumsAndDifferences() {
    let (a, b) = (three, 2 * three)
    for column in 0..<3 {
      #expect((a + b)[column] == a[column] * 3 && (a - b)[column] == -a[column])
      var other = a
      other[column][2] += 0.5
      #expect(other != a)
    }
    let (c, d) = (four, 2 * four)
    for column in 0..<4 {
      #expect((c + d)[column] == c[column] * 3 && (c - d)[column] == -c[column])
      var other = c
      other[column][3] += 0.5
      #expect(other != c)
    }
  }

  @Test func elementsCanBeSet() {
    var (a, b) = (simd_double3x3(), simd_double4x4())
    for column in 0..<3 { a[column] = three[column] }
    for column in 0..<4 { for row in 0..<4 { b[column, row] = four[column, row] } }
    #expect(a == three && b == four)
    #expect(a.columns.2 == three.columns.2 && b.columns.3 == four.columns.3)
  }

  @Test func products() {
    #expect(three * simd_double3(1, 2, 3) == simd_double3(5, 13, 15))
    #expect(simd_mul(three, simd_double3(1, 2, 3)) == simd_double3(5, 13, 15))
    let other = simd_double3x3(rows: [
      simd_double3(1, 2, 0), simd_double3(0, 1, 1), simd_double3(2, 0, 1),
    ])
    let product = simd_double3x3(rows: [
      simd_double3(4, 4, 1), simd_double3(5, 5, 5), simd_double3(9, 3, 5),
    ])
    #expect(three * other == product && simd_mul(three, other) == product)
    #expect(four * simd_double4(1, 2, 3, 4) == simd_double4(3, 23, 4, 16))
    #expect(simd_mul(four, simd_double4(1, 2, 3, 4)) == simd_double4(3, 23, 4, 16))
    // A diagonal matrix on the right scales the columns.
    let stretched = simd_double4x4(four[0], four[1] * 2, four[2] * 3, four[3] * 4)
    let diagonal = simd_double4x4(diagonal: simd_double4(1, 2, 3, 4))
    #expect(four * diagonal == stretched && simd_mul(four, diagonal) == stretched)
    #expect(2 * three == simd_double3x3(three[0] * 2, three[1] * 2, three[2] * 2))
    #expect(2 * four == simd_double4x4(four[0] * 2, four[1] * 2, four[2] * 2, four[3] * 2))
    #expect(simd_double3x3(1) * three == three && simd_double4x4(1) * four == four)
  }

  @Test func determinantsAndInverses() {
    #expect(three.determinant == 18)
    #expect(abs(four.determinant - 30) < 1e-12)
    // The adjugate, computed by hand.
    let adjugate = simd_double3x3(rows: [
      simd_double3(10, 1, -3), simd_double3(-2, 7, -3), simd_double3(-2, -2, 6),
    ])
    for inverse in [three.inverse, simd_inverse(three)] {
      for column in 0..<3 {
        #expect(distance(inverse[column] * 18, adjugate[column]) < 1e-12)
      }
    }
    for product in [four * four.inverse, four.inverse * four, four * simd_inverse(four)] {
      for column in 0..<4 {
        #expect(distance(product[column], simd_double4x4(1)[column]) < 1e-12)
      }
    }
  }
}

@Suite struct SIMDQuaternionTests {
  /// Rodrigues' formula: a rotation about a unit vector, counter-clockwise seen from its tip.
  private func rotation(_ angle: Double, _ k: simd_double3) -> simd_double3x3 {
    let (c, s) = (cos(angle), sin(angle))
    let v = 1 - c
    return simd_double3x3(rows: [
      simd_double3(c + k.x * k.x * v, k.x * k.y * v - k.z * s, k.x * k.z * v + k.y * s),
      simd_double3(k.y * k.x * v + k.z * s, c + k.y * k.y * v, k.y * k.z * v - k.x * s),
      simd_double3(k.z * k.x * v - k.y * s, k.z * k.y * v + k.x * s, c + k.z * k.z * v),
    ])
  }

  /// Each branch of the conversion from a matrix: a small angle, and large ones about an axis near
  /// each coordinate axis.
  @Test(arguments: [
    (0.5, simd_double3(0.3, -0.5, 0.8)), (2.9, simd_double3(0.9, 0.3, -0.2)),
    (2.9, simd_double3(-0.2, 0.9, 0.3)), (2.9, simd_double3(0.3, -0.2, 0.9)),
    (.pi, simd_double3(1, 0, 0)), (.pi, simd_double3(0, 1, 0)), (.pi, simd_double3(0, 0, 1)),
  ])
  func matricesAndBack(_ angle: Double, _ direction: simd_double3) {
    let axis = normalize(direction)
    let matrix = rotation(angle, axis)
    let quaternion = simd_quatd(angle: angle, axis: axis)
    let expected = simd_double4(axis * sin(angle / 2), cos(angle / 2))
    #expect(distance(quaternion.vector, expected) < 1e-12)
    var wide = simd_double4x4(1)
    for column in 0..<3 { wide[column] = simd_double4(matrix[column], 0) }
    for back in [simd_quatd(matrix), simd_quatd(wide)] {
      // Both signs are the same rotation.
      #expect(abs(abs(dot(back.vector, expected)) - 1) < 1e-12)
      #expect(abs(back.length - 1) < 1e-12)
    }
    for column in 0..<3 {
      #expect(distance(simd_double3x3(quaternion)[column], matrix[column]) < 1e-12)
      #expect(distance(simd_double4x4(quaternion)[column], wide[column]) < 1e-12)
    }
    let vector = simd_double3(1, -2, 0.5)
    #expect(distance(quaternion.act(vector), matrix * vector) < 1e-12)
    #expect(abs(quaternion.angle - angle) < 1e-12 && distance(quaternion.axis, axis) < 1e-12)
  }

  @Test func productsAreThoseOfHamilton() {
    let i = simd_quatd(ix: 1, iy: 0, iz: 0, r: 0)
    let j = simd_quatd(ix: 0, iy: 1, iz: 0, r: 0)
    let k = simd_quatd(ix: 0, iy: 0, iz: 1, r: 0)
    let minusOne = simd_quatd(ix: 0, iy: 0, iz: 0, r: -1)
    #expect(i * j == k && j * k == i && k * i == j)
    #expect(i * i == minusOne && j * j == minusOne && k * k == minusOne && i * j * k == minusOne)
    let minusK = simd_quatd(ix: 0, iy: 0, iz: -1, r: 0)
    #expect(i * j.inverse == minusK && k.conjugate == minusK)
    // The factor on the right is applied first.
    let (first, then) = (
      simd_quatd(angle: .pi / 2, axis: simd_double3(0, 0, 1)),
      simd_quatd(angle: .pi / 2, axis: simd_double3(1, 0, 0))
    )
    let turned = (then * first).act(simd_double3(1, 0, 0))
    #expect(distance(turned, simd_double3(0, 0, 1)) < 1e-12)
  }

  /// A quaternion and its negative are the same rotation.
  @Test func interpolationTakesTheShorterArc() {
    let none = simd_quatd(ix: 0, iy: 0, iz: 0, r: 1)
    let quarter = simd_quatd(angle: .pi / 2, axis: simd_double3(0, 0, 1))
    for end in [quarter, simd_quatd(vector: -quarter.vector)] {
      let half = simd_slerp(none, end, 0.5)
      #expect(abs(half.act(simd_double3(1, 0, 0)).y - 0.5.squareRoot()) < 1e-12)
    }
  }

  @Test func quaternionsOfOtherLengths() {
    let long = simd_quatd(real: 4, imag: simd_double3(0, 0, 3))
    #expect(long.length == 5 && long.normalized.length == 1)
    #expect(long.conjugate == simd_quatd(ix: 0, iy: 0, iz: -3, r: 4))
    let one = long * long.inverse
    #expect(abs(one.real - 1) < 1e-12 && length(one.imag) < 1e-12)
    #expect(long.axis == simd_double3(0, 0, 1))
    #expect(abs(long.angle - 2 * atan2(3, 4)) < 1e-12)
  }
}
