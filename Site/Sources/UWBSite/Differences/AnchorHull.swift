// SPDX-License-Identifier: Apache-2.0

/// The hull of anchors seen from above. Outside of it, hyperbolas diverge.
enum AnchorHull {
  /// Returns whether a place is within the hull, or less than `margin` metres outside.
  static func contains(
    _ place: SIMD3<Double>, _ anchors: some Collection<SIMD3<Double>>, margin: Double
  ) -> Bool {
    // From a place outside of the hull, all anchors are on one side of some line.
    for angle in stride(from: 0.0, to: 2 * .pi, by: .pi / 36) {
      let (x, y) = (Math.cos(angle), Math.sin(angle))
      let own = x * place.x + y * place.y
      let farthest = anchors.lazy.map { x * $0.x + y * $0.y }.max() ?? own
      if own > farthest + margin { return false }
    }
    return true
  }
}
