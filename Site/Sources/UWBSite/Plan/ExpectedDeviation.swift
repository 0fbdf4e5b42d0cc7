// SPDX-License-Identifier: Apache-2.0

/// The deviation of a place that the geometry of the anchors allows.
package struct ExpectedDeviation: Sendable {
  private let places: [(Site.Place, delay: Double)]
  private let isDifference: Bool
  private let height: Double
  private let deviation: Double

  /// - Parameters:
  ///   - height: the known height of the tag in metres.
  ///   - deviation: the standard deviation of a range or a time of arrival in metres.
  package init(_ site: Site, _ scheme: PlanScheme, height: Double, deviation: Double) {
    places = site.anchors.compactMap { anchor in
      anchor.place.map { ($0, anchor.delayDeviation) }
    }
    isDifference = scheme == .differencesUp || scheme == .differencesDown
    self.height = height
    self.deviation = deviation
  }

  /// The number of anchors with places.
  package var count: Int { places.count }

  /// Returns the deviation along the longest axis; infinite if the anchors do not determine it.
  ///
  /// The constant errors of anchors (of place and delay) are included.
  package func at(_ point: SIMD2<Double>) -> Double {
    // A row is the unit vector to an anchor. For a blink, a further column stands for its unknown
    // time.
    let size = isDifference ? 3 : 2
    var information = Matrix(rows: size, columns: size)
    for (place, delay) in places {
      let gap = SIMD3(point.x, point.y, height) - place.position
      let length = max(0.01, (gap * gap).sum().squareRoot())
      let unit = gap / length
      let own = (unit * unit * place.deviation * place.deviation).sum()
      let weight = 1 / (deviation * deviation + delay * delay + own)
      let row = isDifference ? [unit.x, unit.y, 1] : [unit.x, unit.y]
      for i in 0..<size {
        for j in 0..<size { information[i, j] += weight * row[i] * row[j] }
      }
    }
    guard let factor = Cholesky(information) else { return .infinity }
    let covariance = factor.inverse
    let estimate = PlaneEstimate(
      mean: point, xx: covariance[0, 0], xy: covariance[0, 1], yy: covariance[1, 1])
    return estimate.largestDeviation
  }
}
