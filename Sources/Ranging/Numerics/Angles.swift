// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The arc sine of `x` limited to -1...1, which rounding may exceed.
@inline(__always)
func clampedAsin(_ x: Double) -> Double { asin(max(-1, min(1, x))) }

/// `angle` (radians) brought into -π..<π.
@inline(__always)
func wrapped(_ angle: Double) -> Double {
  let turns = (angle / (2 * .pi)).rounded()
  let result = angle - turns * 2 * .pi
  return result >= .pi ? result - 2 * .pi : (result < -.pi ? result + 2 * .pi : result)
}
