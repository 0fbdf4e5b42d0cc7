// SPDX-License-Identifier: Apache-2.0

/// Computes a place from arrivals with a common unknown time. Late arrivals have little effect.
package struct ArrivalSolver: Sendable {
  package struct Place: Sendable, Hashable {
    package var position: SIMD3<Double>
    /// The standard deviation along the longest axis of the ellipse in the plane.
    package var deviation: Double
    /// The standard deviation of the height; 0 for a known height.
    package var heightDeviation: Double
  }

  package enum Refusal: Error, Sendable, Hashable {
    /// There are too few arrivals: a place needs one arrival more than its unknowns.
    case fewArrivals
    /// The place is outside of the anchors' hull, where hyperbolas diverge.
    case outsideHull
    /// The arrivals fit no place.
    case noFit
  }

  package var places: [SIMD3<Double>]
  /// The height with its standard deviation; nil if it is unknown.
  package var height: (value: Double, deviation: Double)?
  /// The distance in metres from the anchors' hull up to which a place is still stated.
  package var margin = 1.0

  package init(places: [SIMD3<Double>], height: (value: Double, deviation: Double)? = nil) {
    (self.places, self.height) = (places, height)
  }

  /// Returns the place of a tag at one moment.
  package func solve(_ arrivals: Arrivals) throws(Refusal) -> Place {
    let entries = arrivals.entries.filter { places.indices.contains($0.anchor) }
    guard entries.count >= (height == nil ? 4 : 3) + 1 else { throw .fewArrivals }
    let sites = entries.map { places[$0.anchor] }
    let middle = sites.reduce(.zero, +) / Double(sites.count)
    var best: (cost: Double, position: SIMD3<Double>, information: Matrix)?
    // Hyperbolas may intersect twice, so searches start at the middle, and between the middle and
    // each anchor.
    for start in [middle] + sites.map({ 0.4 * middle + 0.6 * $0 }) {
      var first = start
      first.z = height?.value ?? start.z - 0.5
      guard let found = descend(from: first, entries) else { continue }
      if best.map({ found.cost < $0.cost - 1e-6 }) ?? true { best = found }
      // If all arrivals agree with a place, no other place fits better.
      if found.cost < 1.5 * Double(entries.count),
        AnchorHull.contains(found.position, sites, margin: margin)
      {
        break
      }
    }
    guard let best, fits(best.position, entries) else { throw .noFit }
    guard AnchorHull.contains(best.position, sites, margin: margin) else { throw .outsideHull }
    guard let covariance = Cholesky(best.information)?.inverse else { throw .noFit }
    let (xx, yy, xy) = (covariance[0, 0], covariance[1, 1], covariance[0, 1])
    let half = ((xx - yy) * (xx - yy) / 4 + xy * xy).squareRoot()
    return Place(
      position: best.position, deviation: ((xx + yy) / 2 + half).squareRoot(),
      heightDeviation: covariance[2, 2].squareRoot())
  }

  /// Descends to a minimum of the robust cost.
  private func descend(
    from start: SIMD3<Double>, _ entries: [Arrivals.Entry]
  ) -> (cost: Double, position: SIMD3<Double>, information: Matrix)? {
    var position = start
    var time = 0.0
    for step in 0..<25 {
      var (information, right, cost) = equations(at: position, time, entries)
      if step == 0 {
        // The time that fits the start best: the median over all arrivals.
        let rays = entries.map { $0.metres - (position - places[$0.anchor]).length }.sorted()
        time = rays[rays.count / 2]
        (information, right, cost) = equations(at: position, time, entries)
      }
      guard let factor = Cholesky(information) else { return nil }
      let change = factor.solve(right)
      guard change.allSatisfy(\.isFinite) else { return nil }
      let length = (change[0] * change[0] + change[1] * change[1] + change[2] * change[2])
        .squareRoot()
      let part = min(1, 5 / max(length, 1e-9))
      position += part * SIMD3(change[0], change[1], change[2])
      time += part * change[3]
      if length < 1e-5 || step == 24 { return (cost, position, information) }
    }
    return nil
  }

  /// Returns the normal equations of a robust loss: a signal is late more often than early.
  private func equations(
    at position: SIMD3<Double>, _ time: Double, _ entries: [Arrivals.Entry]
  ) -> (Matrix, [Double], cost: Double) {
    var information = Matrix(rows: 4, columns: 4)
    var right = [0.0, 0, 0, 0]
    var cost = 0.0
    func add(_ gradient: [Double], _ residual: Double, weight: Double) {
      for i in 0..<4 where gradient[i] != 0 {
        right[i] += weight * gradient[i] * residual
        for j in 0..<4 { information[i, j] += weight * gradient[i] * gradient[j] }
      }
    }
    for entry in entries {
      let arm = position - places[entry.anchor]
      let distance = max(arm.length, 1e-3)
      let residual = entry.metres - distance - time
      let scaled = residual / entry.variance.squareRoot()
      // Cauchy's loss, which is wider for early signals than for late ones.
      let width = residual > 0 ? 4.0 : 6.0
      let robust = 1 / (1 + (scaled / width) * (scaled / width))
      cost += width * width * Math.log(1 + (scaled / width) * (scaled / width))
      let ray = arm / distance
      add(
        [ray.x, ray.y, ray.z, 1], residual, weight: robust / entry.variance)
    }
    if let height {
      let residual = height.value - position.z
      add([0, 0, 1, 0], residual, weight: 1 / (height.deviation * height.deviation))
      cost += residual * residual / (height.deviation * height.deviation)
    } else {
      // The height has a weak prior, because anchors on one ceiling do not determine it.
      add([0, 0, 1, 0], 0, weight: 1e-4)
    }
    return (information, right, cost)
  }

  /// Returns whether enough arrivals agree with a place: one arrival more than its unknowns.
  private func fits(_ position: SIMD3<Double>, _ entries: [Arrivals.Entry]) -> Bool {
    let times = entries.map { $0.metres - (position - places[$0.anchor]).length }
    let agreeing = times.map { time in
      zip(times, entries).count { abs($0 - time) < 5 * $1.variance.squareRoot() }
    }
    return (agreeing.max() ?? 0) >= (height == nil ? 4 : 3) + 1
  }
}
