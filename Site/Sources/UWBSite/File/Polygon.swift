// SPDX-License-Identifier: Apache-2.0

/// The geometry of a polygon that is given by its corners.
enum Polygon {
  /// Returns twice the signed area of a triangle; positive if its corners follow one another to the
  /// left.
  static func turn(_ a: SIMD2<Double>, _ b: SIMD2<Double>, _ c: SIMD2<Double>) -> Double {
    (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)
  }

  static func edges(
    _ corners: [SIMD2<Double>]
  ) -> [(from: SIMD2<Double>, to: SIMD2<Double>)] {
    corners.indices.map { (corners[$0], corners[($0 + 1) % corners.count]) }
  }

  /// Returns the area in m²; positive if the corners follow one another to the left.
  static func area(_ corners: [SIMD2<Double>]) -> Double {
    guard let first = corners.first else { return 0 }
    return edges(corners).reduce(0) { $0 + turn(first, $1.from, $1.to) } / 2
  }

  /// Returns the reason why corners do not enclose an area; nil if they do.
  static func problem(_ corners: [SIMD2<Double>]) -> String? {
    guard corners.count >= 3 else {
      return "a polygon has at least 3 corners, not \(corners.count)"
    }
    guard corners.count <= 1000 else { return "a polygon has at most 1000 corners" }
    let edges = edges(corners)
    for (index, edge) in edges.enumerated() where edge.from == edge.to {
      return "corners \(index) and \((index + 1) % corners.count) are the same point"
    }
    for i in edges.indices {
      for j in edges.indices where j > i + 1 && !(i == 0 && j == edges.count - 1) {
        if cross(edges[i], edges[j]) { return "the edges from corners \(i) and \(j) meet" }
      }
    }
    guard abs(area(corners)) > 1e-6 else { return "the corners enclose no area" }
    return nil
  }

  private typealias Edge = (from: SIMD2<Double>, to: SIMD2<Double>)

  /// Returns whether two edges have a point in common.
  private static func cross(_ one: Edge, _ other: Edge) -> Bool {
    let sides = [
      turn(one.from, one.to, other.from), turn(one.from, one.to, other.to),
      turn(other.from, other.to, one.from), turn(other.from, other.to, one.to),
    ]
    if sides[0] * sides[1] < 0 && sides[2] * sides[3] < 0 { return true }
    return (sides[0] == 0 && isBetween(other.from, one))
      || (sides[1] == 0 && isBetween(other.to, one))
      || (sides[2] == 0 && isBetween(one.from, other))
      || (sides[3] == 0 && isBetween(one.to, other))
  }

  private static func isBetween(_ point: SIMD2<Double>, _ edge: Edge) -> Bool {
    min(edge.from.x, edge.to.x) <= point.x && point.x <= max(edge.from.x, edge.to.x)
      && min(edge.from.y, edge.to.y) <= point.y && point.y <= max(edge.from.y, edge.to.y)
  }
}
