// SPDX-License-Identifier: Apache-2.0

extension Polygon {
  /// Returns the probability that an estimated place is inside.
  ///
  /// The polygon is mapped to the plane in which the estimate is a standard normal variable. There
  /// the probability of the triangle between the origin and an edge is an angle minus Owen's T.
  static func probability(_ corners: [SIMD2<Double>], _ estimate: PlaneEstimate) -> Double {
    let mapped = corners.map(estimate.whitened)
    var sum = 0.0
    for edge in edges(mapped) { sum += triangle(edge.from, edge.to) }
    return min(1, max(0, abs(sum)))
  }

  /// Returns the probability of the triangle between the origin and an edge, with the edge's sign.
  private static func triangle(_ from: SIMD2<Double>, _ to: SIMD2<Double>) -> Double {
    let along = to - from
    let length = (along.x * along.x + along.y * along.y).squareRoot()
    let cross = from.x * to.y - from.y * to.x
    guard length > 0, abs(cross) > 1e-12 * length else { return 0 }
    let height = abs(cross) / length
    // The places of both ends along the edge, relative to the foot of the perpendicular.
    let start = (from.x * along.x + from.y * along.y) / length
    let end = start + length
    let angle = Math.atan2(end, height) - Math.atan2(start, height)
    let outside = OwensT.value(height, end / height) - OwensT.value(height, start / height)
    return (cross < 0 ? -1 : 1) * (angle / (2 * .pi) - outside)
  }

  /// Returns the distance to the nearest edge; positive inside.
  static func signedDistance(
    _ corners: [SIMD2<Double>], _ point: SIMD2<Double>
  ) -> Double {
    var (nearest, isInside) = (Double.infinity, false)
    for (from, to) in edges(corners) {
      let (along, toPoint) = (to - from, point - from)
      let squared = along.x * along.x + along.y * along.y
      let part = (toPoint.x * along.x + toPoint.y * along.y) / squared
      let foot = from + min(1, max(0, part)) * along
      let gap = point - foot
      nearest = min(nearest, gap.x * gap.x + gap.y * gap.y)
      if (from.y > point.y) != (to.y > point.y),
        point.x < from.x + (point.y - from.y) / (to.y - from.y) * along.x
      {
        isInside.toggle()
      }
    }
    return (isInside ? 1 : -1) * nearest.squareRoot()
  }
}

/// Owen's function T(h, a): the probability that for standard normal X and Y, X > h and 0 < Y < a
/// X.
enum OwensT {
  /// - Parameter height: The value h, at least 0.
  static func value(_ height: Double, _ slope: Double) -> Double {
    if slope < 0 { return -value(height, -slope) }
    guard slope > 1 else { return integral(height, slope) }
    let product = height * slope
    let (near, far) = (upper(height), upper(product))
    // The result is T(h, a) for a > 1 from T(ah, 1/a) and positive h, in terms that do not cancel.
    return (near + far) / 2 - near * far - integral(product, 1 / slope)
  }

  /// Returns the probability that a standard normal variable is above `x`.
  private static func upper(_ x: Double) -> Double { Math.normalBelow(-x) }

  /// Integrates for slopes up to 1, where the integrand is smooth.
  private static func integral(_ height: Double, _ slope: Double) -> Double {
    let squared = height * height / 2
    guard slope > 0, squared < 300 else { return 0 }
    var sum = 0.0
    for (node, weight) in zip(nodes, weights) {
      for place in [0.5 - node, 0.5 + node] {
        let x = slope * place
        sum += weight * Math.exp(-squared * (1 + x * x)) / (1 + x * x)
      }
    }
    return sum * slope / (2 * .pi)
  }

  // Gauss and Legendre's places and weights for 16 points of the unit interval, from its middle.
  private static let nodes = [
    0.047506254918818720, 0.140801775389629460, 0.229008388828613690, 0.308938122201321870,
    0.377702204177501520, 0.432815601193915870, 0.472287511536616290, 0.494700467495824970,
  ]
  private static let weights = [
    0.094725305227534250, 0.091301707522461790, 0.084578259697501270, 0.074797994408288370,
    0.062314485627766940, 0.047579255841246390, 0.031126761969323950, 0.013576229705877050,
  ]
}
