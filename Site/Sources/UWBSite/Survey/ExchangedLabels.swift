// SPDX-License-Identifier: Apache-2.0

/// Two anchors whose rough places fit the ranges much better when they are exchanged.
package struct ExchangedLabels: Sendable, Hashable {
  package var first: Int
  package var second: Int
  /// The decrease of the cost, in squared standard deviations.
  package var gain: Double

  /// The least decrease that counts: four deviations.
  static let least = 16.0

  /// Compares the shape computed from the ranges alone with the rough places.
  init?(_ model: SurveyModel) {
    let rough = model.anchors.indices.filter { model.anchors[$0].rough != nil }
    guard rough.count >= 4, model.islands.count == 1 else { return nil }
    var free = model
    free.forgetRoughPlaces()
    let start = SurveyState(free.majorised(free.classicalScaling()))
    let shape = free.fit(start).state.positions
    let places = rough.map { shape[$0] }
    let targets = rough.compactMap { model.anchors[$0].rough }
    let before = Self.cost(places, targets)
    var best: (first: Int, second: Int, cost: Double)?
    for i in targets.indices {
      for j in targets.indices where j > i {
        var exchanged = targets
        exchanged.swapAt(i, j)
        let cost = Self.cost(places, exchanged)
        if cost < best?.cost ?? before { best = (rough[i], rough[j], cost) }
      }
    }
    // If the fit is still bad after the exchange, the cause is not two exchanged anchors.
    guard let best, before - best.cost > Self.least, best.cost < before / 2 else { return nil }
    (first, second, gain) = (best.first, best.second, before - best.cost)
  }

  /// Returns the sum of squared deviations after the best motion onto rough places.
  private static func cost(_ places: [SIMD2<Double>], _ rough: [SurveyAnchor.Rough]) -> Double {
    let weights = rough.map { 1 / ($0.deviation * $0.deviation) }
    let motion = RigidMotion.nearest(from: places, to: rough.map(\.position), weights: weights)
    return places.indices.reduce(0) { sum, index in
      sum + weights[index] * (motion(places[index]) - rough[index].position).lengthSquared
    }
  }
}
