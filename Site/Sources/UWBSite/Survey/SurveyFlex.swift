// SPDX-License-Identifier: Apache-2.0

/// Parts of a site that ranges do not hold in one place.
extension FoldSearch {
  /// The variance in m² of a movement that the ranges may not hold.
  private static let loose = 1.0
  /// The metres by which the anchor that moves most is moved for a trial.
  private static let trial = 2.0
  private static let trials = 4

  /// Returns the groups of anchors that turn about a single one: no range connects them otherwise.
  func joints() -> [SurveyAmbiguity] {
    let neighbours = model.neighbours
    return (0..<model.count).flatMap { joint in
      var rest = Set(0..<model.count)
      rest.remove(joint)
      var groups: [[Int]] = []
      for start in neighbours[joint] where rest.contains(start) {
        groups.append(SurveyModel.connected(to: start, &rest, neighbours).sorted())
      }
      // The largest group stays where it is. Its turn is the opposite one.
      let stays = groups.indices.max { groups[$0].count < groups[$1].count }
      return groups.indices.filter { index in
        index != stays && groups[index].count > 1
          && groups[index].allSatisfy { model.anchors[$0].rough == nil }
      }.map { turned(groups[$0], about: joint) }
    }
  }

  private func turned(_ group: [Int], about joint: Int) -> SurveyAmbiguity {
    let places = best.state.positions
    var other = places
    for anchor in group { other[anchor] = places[joint] + (places[anchor] - places[joint]).normal }
    let reach = group.map { (places[$0] - places[joint]).length }.max() ?? 0
    return SurveyAmbiguity(
      kind: .hinge(joint), anchors: group, distance: 2 * reach, cost: 0, alternative: other)
  }

  /// Returns shapes into which the ranges let the best one shift, without the evidence of missing
  /// pairs.
  ///
  /// Anchors in a line seem loose, too, but return to their places when the shape is refined.
  func shifted() -> [Minimum] {
    let size = 2 * model.count
    let covariance = SurveyCovariance(model, best.state).unknowns
    let eigen = SymmetricEigen(SurveyCovariance.block(covariance, size))
    let movements = (0..<size).reversed().prefix(Self.trials).filter {
      eigen.values[$0] > Self.loose
    }
    return movements.flatMap { column in
      let steps = (0..<model.count).map {
        SIMD2(eigen.vectors[2 * $0, column], eigen.vectors[2 * $0 + 1, column])
      }
      let scale = Self.trial / max(steps.map(\.length).max() ?? 0, 1e-9)
      return [scale, -scale].map { factor in
        var start = best.state
        for (anchor, step) in steps.enumerated() { start.positions[anchor] += factor * step }
        let (state, cost) = model.fit(start)
        return Minimum(state: state, fit: cost, cost: cost)
      }
    }
  }
}
