// SPDX-License-Identifier: Apache-2.0

/// A world that is turned about the vertical axis and moved.
package struct MovedWorld {
  /// The turn in radians, from x towards y.
  package let turn: Double
  private let shift: SIMD3<Double>

  package init(_ noise: inout Noise) {
    turn = noise.uniform(-.pi, .pi)
    shift = SIMD3<Double>(
      noise.uniform(-500, 500), noise.uniform(-500, 500), noise.uniform(-5, 5))
  }

  /// Returns the place of a point after the movement.
  package func place(of v: SIMD3<Double>) -> SIMD3<Double> {
    SIMD3<Double>(
      cosine(turn) * v.x - sine(turn) * v.y + shift.x,
      sine(turn) * v.x + cosine(turn) * v.y + shift.y, v.z + shift.z)
  }
}
