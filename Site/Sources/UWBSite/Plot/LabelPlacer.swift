// SPDX-License-Identifier: Apache-2.0

/// Places labels beside points so that they cover neither each other nor the points.
struct LabelPlacer {
  private struct Box {
    let least: SIMD2<Double>
    let greatest: SIMD2<Double>

    func overlap(_ other: Box) -> Double {
      let low = SIMD2(max(least.x, other.least.x), max(least.y, other.least.y))
      let high = SIMD2(min(greatest.x, other.greatest.x), min(greatest.y, other.greatest.y))
      return max(0, high.x - low.x) * max(0, high.y - low.y)
    }
  }

  private var taken: [Box] = []
  private let area: Box

  init(least: SIMD2<Double>, greatest: SIMD2<Double>) {
    area = Box(least: least, greatest: greatest)
  }

  /// Keeps labels away from a mark.
  mutating func keepFree(_ center: SIMD2<Double>, radius: Double) {
    taken.append(
      Box(
        least: center - SIMD2(repeating: radius), greatest: center + SIMD2(repeating: radius)))
  }

  /// Returns the left end of the text's baseline: the nearest of several places that is free.
  mutating func place(
    _ text: String, beside point: SIMD2<Double>, distance: Double, size: Double
  ) -> SIMD2<Double> {
    let extent = SIMD2(0.62 * size * Double(text.count), size)
    var best: (cost: Double, box: Box)?
    for ring in 0..<4 {
      let far = distance + Double(ring) * size
      for (number, side) in Self.sides.enumerated() {
        // The side determines which corner of the text is nearest to the point.
        let offset = side * far + (side - SIMD2(1, 1)) * extent / 2
        let least = point + offset
        let box = Box(least: least, greatest: least + extent)
        var cost = Double(ring) * 4 + Double(number) * 0.1
        cost += taken.reduce(0) { $0 + box.overlap($1) }
        cost += extent.x * extent.y - box.overlap(area)
        if cost < (best?.cost ?? .infinity) { best = (cost, box) }
      }
    }
    let box = best?.box ?? Box(least: point, greatest: point + extent)
    taken.append(box)
    return SIMD2(box.least.x, box.greatest.y - 0.2 * size)
  }

  private static let sides: [SIMD2<Double>] = [
    SIMD2(1, -1), SIMD2(1, 1), SIMD2(-1, -1), SIMD2(-1, 1), SIMD2(0, -1), SIMD2(0, 1),
    SIMD2(1, 0), SIMD2(-1, 0),
  ]
}
