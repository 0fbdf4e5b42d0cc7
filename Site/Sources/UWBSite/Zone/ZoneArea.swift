// SPDX-License-Identifier: Apache-2.0

/// The area of a zone, prepared for many estimates.
struct ZoneArea: Sendable, Hashable {
  private let shape: Site.Zone.Shape
  /// The corners. A circle is approximated by a polygon of the same area.
  private let corners: [SIMD2<Double>]
  private let least: SIMD2<Double>
  private let greatest: SIMD2<Double>

  init(_ shape: Site.Zone.Shape) {
    self.shape = shape
    switch shape {
    case .polygon(let corners): self.corners = corners
    case .circle(let center, let radius): corners = Self.ring(center, radius)
    }
    least = corners.reduce(SIMD2(repeating: .infinity)) { SIMD2(min($0.x, $1.x), min($0.y, $1.y)) }
    greatest = corners.reduce(SIMD2(repeating: -.infinity)) {
      SIMD2(max($0.x, $1.x), max($0.y, $1.y))
    }
  }

  private static func ring(_ center: SIMD2<Double>, _ radius: Double) -> [SIMD2<Double>] {
    let count = 48
    let step = 2 * Double.pi / Double(count)
    let larger = radius * (step / Math.sin(step)).squareRoot()
    return (0..<count).map {
      center + larger * SIMD2(Math.cos(step * Double($0)), Math.sin(step * Double($0)))
    }
  }

  /// Returns the distance to the edge; positive inside.
  func signedDistance(_ point: SIMD2<Double>) -> Double {
    switch shape {
    case .polygon: return Polygon.signedDistance(corners, point)
    case .circle(let center, let radius):
      let gap = point - center
      return radius - (gap.x * gap.x + gap.y * gap.y).squareRoot()
    }
  }

  /// Returns the signed distance and the probability of being inside.
  func evaluate(_ estimate: PlaneEstimate) -> (distance: Double, probability: Double) {
    let largest = estimate.largestDeviation
    let (mean, far) = (estimate.mean, 9 * largest)
    // Most zones are far away, so that their edges need no check.
    let gap = max(
      max(least.x - mean.x, mean.x - greatest.x), max(least.y - mean.y, mean.y - greatest.y))
    if gap > far { return (-gap, 0) }
    let distance = signedDistance(mean)
    if abs(distance) > far { return (distance, distance > 0 ? 1 : 0) }
    return (distance, Polygon.probability(corners, estimate))
  }
}
