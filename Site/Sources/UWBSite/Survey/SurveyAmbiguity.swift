// SPDX-License-Identifier: Apache-2.0

/// Anchors whose places are ambiguous: another shape fits the ranges equally well.
package struct SurveyAmbiguity: Sendable, Hashable {
  package enum Kind: Sendable, Hashable {
    /// The anchors may be mirrored about the line through two others.
    case mirror(Int, Int)
    /// The anchors have other places in another shape.
    case shape
    /// The anchors can rotate about another one, or move freely.
    case hinge(Int)
    /// The anchors can move together against the others.
    case shift
  }

  package var kind: Kind
  package var anchors: [Int]
  /// The largest distance between the two places of an anchor; infinite if it is free.
  package var distance: Double
  /// The extra cost of the other shape, in squared standard deviations.
  package var cost: Double
  /// The other places of all anchors; empty for a hinge.
  package var alternative: [SIMD2<Double>]
}

extension FoldSearch {
  /// The greatest extra cost of a possible shape: two standard deviations, squared.
  static let possible = 4.0
  /// The least distance in metres between two places of an anchor that makes shapes distinct.
  static let distinct = 1.0

  /// Returns the other shapes that the ranges do not exclude, and the anchors with too few ranges.
  func ambiguities() -> [SurveyAmbiguity] {
    let degrees = model.neighbours.map(\.count)
    let open = degrees.indices.filter { degrees[$0] <= 2 && model.anchors[$0].rough == nil }
    let free = open.filter { degrees[$0] <= 1 }
    var result = free.map { self.open($0) } + joints()
    for minimum in shifted() {
      guard var found = ambiguity(minimum, degrees) else { continue }
      found.kind = .shift
      let anchors = Set(found.anchors)
      if result.allSatisfy({ anchors.isDisjoint(with: $0.anchors) }) { result.append(found) }
    }
    for minimum in minima.sorted(by: { $0.cost < $1.cost }) {
      guard let found = ambiguity(minimum, degrees), !found.anchors.allSatisfy(free.contains) else {
        continue
      }
      if !result.contains(where: { $0.anchors == found.anchors }) { result.append(found) }
    }
    for anchor in open where !result.contains(where: { $0.anchors.contains(anchor) }) {
      result.append(self.open(anchor))
    }
    return result
  }

  /// Returns the changes to shapes near the best one that fit nearly as well.
  ///
  /// The probability of a shape follows from its cost and from the volume of places around it.
  /// Shapes without a volume are omitted.
  func nearShapes() -> [(probability: Double, change: [SIMD2<Double>])] {
    let places = best.state.positions
    guard let own = SurveyCovariance.logDeterminant(model, best.state) else { return [] }
    var result: [(probability: Double, change: [SIMD2<Double>])] = []
    for minimum in minima.sorted(by: { $0.cost < $1.cost }) {
      let extra = minimum.cost - best.cost
      guard extra < 9 else { break }
      let change = zip(aligned(minimum.state.positions), places).map { $0 - $1 }
      let largest = change.map(\.length).max() ?? 0
      guard (0.02...Self.distinct).contains(largest) else { continue }
      let isNew = result.allSatisfy { other in
        zip(other.change, change).contains { ($0 - $1).length > 0.02 }
      }
      guard isNew, let volume = SurveyCovariance.logDeterminant(model, minimum.state) else {
        continue
      }
      result.append((Math.exp(-(extra + volume - own) / 2), change))
    }
    let sum = 1 + result.reduce(0) { $0 + $1.probability }
    return result.map { ($0.probability / sum, $0.change) }
  }

  private func ambiguity(_ minimum: Minimum, _ degrees: [Int]) -> SurveyAmbiguity? {
    let places = best.state.positions
    let other = aligned(minimum.state.positions)
    let distances = zip(places, other).map { ($0 - $1).length }
    guard (distances.max() ?? 0) > Self.distinct else { return nil }
    let moved = places.indices.filter { distances[$0] > Self.distinct / 2 }
    // For an anchor with two ranges, the evidence of missing pairs alone does not decide.
    let isOpen = moved.allSatisfy { degrees[$0] <= 2 }
    let extra = isOpen ? minimum.fit - best.fit : minimum.cost - best.cost
    guard extra < Self.possible else { return nil }
    let distance = distances.max() ?? 0
    return SurveyAmbiguity(
      kind: kind(moved, other), anchors: moved, distance: distance, cost: max(extra, 0),
      alternative: other)
  }

  /// Moves another shape onto the best one, so that most anchors are near their places.
  ///
  /// Half of a folded site would be a compromise for all anchors, so that the neighbours of each
  /// anchor are a start, too.
  private func aligned(_ other: [SIMD2<Double>]) -> [SIMD2<Double>] {
    let places = best.state.positions
    guard !model.hasRoughPlaces else { return other }
    let groups = model.neighbours.enumerated().map { Set($1 + [$0]) } + [Set(places.indices)]
    let choices = groups.flatMap { group in
      [false, true].map { aligned(other, to: places, from: group, isMirrored: $0) }
    }
    return choices.min { $0.cost < $1.cost }?.positions ?? other
  }

  private func aligned(
    _ other: [SIMD2<Double>], to places: [SIMD2<Double>], from group: Set<Int>, isMirrored: Bool
  ) -> (positions: [SIMD2<Double>], cost: Double) {
    var weights = places.indices.map { group.contains($0) ? 1.0 : 0 }
    var moved = other
    for _ in 0..<10 {
      let motion = RigidMotion(from: other, to: places, weights: weights, isMirrored: isMirrored)
      moved = other.map(motion.callAsFunction)
      weights = zip(moved, places).map { 1 / (0.01 + ($0 - $1).lengthSquared) }
    }
    return (moved, zip(moved, places).reduce(0) { $0 + min(($1.0 - $1.1).length, 1) })
  }

  /// Names the line about which the anchors are mirrored by the two others that are nearest to it.
  private func kind(_ moved: [Int], _ other: [SIMD2<Double>]) -> SurveyAmbiguity.Kind {
    let places = best.state.positions
    let shift = moved.reduce(SIMD2<Double>.zero) { sum, anchor in
      let step = other[anchor] - places[anchor]
      return sum + (step.dot(sum) < 0 ? -step : step)
    }
    let middle =
      moved.reduce(.zero) { $0 + (other[$1] + places[$1]) / 2 } / Double(moved.count)
    let across = shift / max(shift.length, 1e-9)
    let rest = places.indices.filter { !moved.contains($0) }
      .map { ($0, abs((places[$0] - middle).dot(across))) }.sorted { $0.1 < $1.1 }
    guard rest.count >= 2, rest[1].1 < 0.25 * shift.length / Double(moved.count) else {
      return .shape
    }
    return .mirror(min(rest[0].0, rest[1].0), max(rest[0].0, rest[1].0))
  }

  /// Describes an anchor with one or two ranges.
  private func open(_ anchor: Int) -> SurveyAmbiguity {
    let near = model.neighbours[anchor]
    let places = best.state.positions
    guard near.count == 2 else {
      return SurveyAmbiguity(
        kind: .hinge(near.first ?? anchor), anchors: [anchor], distance: .infinity, cost: 0,
        alternative: [])
    }
    let line = places[near[1]] - places[near[0]]
    let part = Part(
      anchors: [anchor], point: places[near[0]], direction: line / max(line.length, 1e-9))
    let other = part.mirrored(places)
    return SurveyAmbiguity(
      kind: .mirror(min(near[0], near[1]), max(near[0], near[1])), anchors: [anchor],
      distance: (other[anchor] - places[anchor]).length, cost: 0, alternative: other)
  }
}
