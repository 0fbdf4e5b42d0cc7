// SPDX-License-Identifier: Apache-2.0
internal import Glibc

package func sine(_ x: Double) -> Double { sin(x) }
package func cosine(_ x: Double) -> Double { cos(x) }
package func arcSine(_ x: Double) -> Double { asin(max(-1, min(1, x))) }
package func arcTangent(_ y: Double, _ x: Double) -> Double { atan2(y, x) }

/// The number of radians in a degree.
package let degree = Double.pi / 180

/// Returns an angle in -π...π.
package func wrap(_ angle: Double) -> Double {
  angle - 2 * .pi * (angle / (2 * .pi)).rounded()
}

/// Returns the quantile: the value below which the given part of all values is.
package func quantile(_ values: [Double], _ part: Double) -> Double {
  let sorted = values.sorted()
  guard !sorted.isEmpty else { return .nan }
  return sorted[min(sorted.count - 1, Int(part * Double(sorted.count)))]
}
