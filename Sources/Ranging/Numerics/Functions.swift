// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The functions of <math.h> that the library needs, in one place.
enum Functions {
  @inline(__always) static func sine(_ x: Double) -> Double { sin(x) }
  @inline(__always) static func cosine(_ x: Double) -> Double { cos(x) }
  @inline(__always) static func arcSine(_ x: Double) -> Double { asin(max(-1, min(1, x))) }
  @inline(__always) static func arcTangent(_ y: Double, _ x: Double) -> Double { atan2(y, x) }
  @inline(__always) static func exponential(_ x: Double) -> Double { exp(x) }
  @inline(__always) static func logarithm(_ x: Double) -> Double { log(x) }
}

/// `angle` (radians) brought into -π..<π.
@inline(__always)
func wrapped(_ angle: Double) -> Double {
  let turns = (angle / (2 * .pi)).rounded()
  let result = angle - turns * 2 * .pi
  return result >= .pi ? result - 2 * .pi : (result < -.pi ? result + 2 * .pi : result)
}
