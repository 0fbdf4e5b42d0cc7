// SPDX-License-Identifier: Apache-2.0

/// A search for the shape with the least cost, and for other shapes that fit as well.
///
/// Ranges often permit a part of a site to be mirrored: the part beyond a line through two anchors.
/// The search mirrors each such part about its line, and refines the shape. A shape that fits
/// better becomes the best shape.
struct FoldSearch: Sendable {
  /// A local minimum of the cost.
  struct Minimum: Sendable {
    let state: SurveyState
    /// The cost of ranges and priors alone.
    let fit: Double
    /// The cost including the evidence of missing pairs.
    let cost: Double
  }

  private(set) var model: SurveyModel
  let links: LinkModel
  private(set) var best: Minimum
  private(set) var minima: [Minimum] = []

  /// The greatest number of mirrored shapes that are refined for each best shape.
  private static let refined = 16
  private static let rounds = 8
  /// The greatest number of other places of an anchor that are refined.
  private static let meetings = 4
  /// The extra cost above which another place of an anchor is excluded.
  private static let exclusion = 12.0

  init(_ model: SurveyModel, links: LinkModel, start: SurveyState) {
    (self.model, self.links) = (model, links)
    best = Self.refine(start, model, links)
    minima = [best]
  }

  private static func refine(
    _ start: SurveyState, _ model: SurveyModel, _ links: LinkModel
  ) -> Minimum {
    var (state, fit) = model.fit(start)
    if let reach = links.reach(state.positions) {
      var model = model
      model.links = (links, reach)
      state = model.fit(state).state
      model.links = nil
      fit = model.cost(state)
    }
    return Minimum(state: state, fit: fit, cost: fit + links.cost(state.positions))
  }

  /// Refines a shape and keeps it; returns whether it is better than the best shape so far.
  @discardableResult mutating func consider(_ start: SurveyState) -> Bool {
    let minimum = Self.refine(start, model, links)
    minima.append(minimum)
    guard minimum.cost < best.cost - 0.01 else { return false }
    best = minimum
    return true
  }

  /// Restarts the search from the rough places, and from randomly moved places.
  ///
  /// This corrects wrong choices of blocked ranges.
  mutating func shake() {
    if model.hasRoughPlaces { consider(SurveyState(model.roughStart())) }
    var random = SeededNormal(seed: 1)
    let start = best.state
    for _ in 0..<(model.count < 12 ? 16 : 4) {
      let shaken = start.positions.map { $0 + 0.7 * SIMD2(random.next(), random.next()) }
      consider(SurveyState(shaken, common: start.common, delays: start.delays))
    }
  }

  /// Chooses among the best shapes by the probability density of ranges with detours.
  ///
  /// This density has too many minima to be used in the search itself.
  mutating func decide() {
    model.loss = .detours
    let near = minima.filter { $0.cost < best.cost + 20 }.sorted { $0.cost < $1.cost }
    minima = near.prefix(24).map { Self.refine($0.state, model, links) }
    best = minima.min { $0.cost < $1.cost } ?? best
    intersect()
    release()
  }

  /// Restarts the search without each range in turn: it may be blocked, even with a small residual.
  ///
  /// Larger sites have enough ranges to reveal blocked ranges, and are not searched again.
  private mutating func release() {
    guard model.count < 12 else { return }
    for index in model.pairs.indices {
      var other = model
      other.drop(index)
      consider(other.fit(best.state).state)
    }
  }

  /// Restarts the search with an anchor where two of its ranges meet, in case the other ranges are
  /// blocked.
  private mutating func intersect() {
    for anchor in 0..<model.count {
      for place in meetings(anchor).prefix(Self.meetings) {
        var start = best.state
        start.positions[anchor] = place
        consider(start)
      }
    }
  }

  /// Returns the other places where two ranges of an anchor meet, the most likely places first.
  ///
  /// Places that the anchor's ranges exclude are omitted.
  private func meetings(_ anchor: Int) -> [SIMD2<Double>] {
    let state = best.state
    let own = model.pairs.indices.filter { model.pairs[$0].has(anchor) }
    func cost(_ place: SIMD2<Double>) -> Double {
      var moved = state
      moved.positions[anchor] = place
      return own.reduce(0) { sum, index in
        let excess = model.residual(index, moved).excess
        return sum + model.loss(excess, model.variances[index].squareRoot()).cost
      }
    }
    let limit = cost(state.positions[anchor]) + Self.exclusion
    let circles = own.map { index in
      let pair = model.pairs[index]
      let (_, distance, excess) = model.residual(index, state)
      let square = (distance + excess) * (distance + excess) - model.rise(pair)
      let center = state.positions[pair.other(anchor)]
      return Circle(center: center, radius: max(square, 0).squareRoot())
    }
    var found: [(place: SIMD2<Double>, cost: Double)] = []
    for (index, circle) in circles.enumerated() {
      for place in circles.dropFirst(index + 1).flatMap(circle.meetings(with:)) {
        found.append((place, cost(place)))
      }
    }
    var result = [state.positions[anchor]]
    for one in found.sorted(by: { $0.cost < $1.cost }) where one.cost < limit {
      if result.allSatisfy({ ($0 - one.place).length > 0.2 }) { result.append(one.place) }
    }
    return Array(result.dropFirst())
  }

  private struct Circle {
    var center: SIMD2<Double>
    var radius: Double

    /// Returns the two intersections of the circles. Without an intersection, returns a place near
    /// both circles twice.
    func meetings(with other: Circle) -> [SIMD2<Double>] {
      let line = other.center - center
      let length = max(line.length, 1e-6)
      let squares = length * length + radius * radius - other.radius * other.radius
      let along = squares / (2 * length)
      let across = max(radius * radius - along * along, 0).squareRoot()
      let (unit, foot) = (line / length, center + line / length * along)
      return [foot - unit.normal * across, foot + unit.normal * across]
    }
  }

  /// Mirrors parts until no shape is better than the best shape.
  mutating func run() {
    for _ in 0..<Self.rounds {
      guard improve() else { return }
    }
  }

  private mutating func improve() -> Bool {
    let state = best.state
    for positions in folded(state).prefix(Self.refined) {
      if consider(SurveyState(positions, common: state.common, delays: state.delays)) {
        return true
      }
    }
    return false
  }

  /// Returns the shapes with one mirrored part, in the order of their costs.
  private func folded(_ state: SurveyState) -> [[SIMD2<Double>]] {
    var distinct: [[SIMD2<Double>]] = []
    let ranked = Self.parts(model, state.positions).map { part in
      let positions = part.mirrored(state.positions)
      let shape = SurveyState(positions, common: state.common, delays: state.delays)
      return (positions, model.cost(shape))
    }.sorted { $0.1 < $1.1 }
    for (positions, _) in ranked where Self.differ(positions, state.positions) {
      guard distinct.count < Self.refined else { break }
      if distinct.allSatisfy({ Self.differ($0, positions) }) { distinct.append(positions) }
    }
    return distinct
  }

  /// Returns whether any anchor has different places in two shapes.
  private static func differ(_ one: [SIMD2<Double>], _ other: [SIMD2<Double>]) -> Bool {
    zip(one, other).contains { ($0 - $1).length > 0.5 }
  }

  // MARK: parts

  /// A group of anchors, and the line about which the group can be mirrored.
  struct Part: Sendable, Hashable {
    var anchors: [Int]
    var point: SIMD2<Double>
    var direction: SIMD2<Double>

    func mirrored(_ positions: [SIMD2<Double>]) -> [SIMD2<Double>] {
      var result = positions
      for anchor in anchors {
        let offset = positions[anchor] - point
        result[anchor] = point + 2 * offset.dot(direction) * direction - offset
      }
      return result
    }
  }

  /// Returns each part on one side of a line through two anchors, and each single anchor.
  static func parts(_ model: SurveyModel, _ positions: [SIMD2<Double>]) -> [Part] {
    let neighbours = model.neighbours
    var result = (0..<model.count).compactMap { alone($0, neighbours[$0], positions) }
    for a in 0..<model.count {
      for b in (a + 1)..<max(model.count, a + 1) {
        let line = positions[b] - positions[a]
        guard line.length > 0.5 else { continue }
        let direction = line / line.length
        for side in [1.0, -1] {
          var beyond = Set(
            positions.indices.filter {
              side * (positions[$0] - positions[a]).dot(direction.normal) > 0.3
            })
          for start in positions.indices where beyond.contains(start) {
            let anchors = SurveyModel.connected(to: start, &beyond, neighbours)
            result.append(Part(anchors: anchors, point: positions[a], direction: direction))
          }
        }
      }
    }
    if model.hasRoughPlaces { result += whole(model, positions) }
    return result
  }

  /// Returns a single anchor with the best line through its neighbours.
  private static func alone(
    _ anchor: Int, _ neighbours: [Int], _ positions: [SIMD2<Double>]
  ) -> Part? {
    guard neighbours.count >= 2 else { return nil }
    let (point, direction) = principalLine(neighbours.map { positions[$0] })
    return Part(anchors: [anchor], point: point, direction: direction)
  }

  /// Returns the whole site. It is needed only with rough places, which distinguish mirror images.
  private static func whole(_ model: SurveyModel, _ positions: [SIMD2<Double>]) -> [Part] {
    let rough = model.anchors.compactMap(\.rough?.position)
    let (point, direction) = principalLine(rough)
    return [Part(anchors: Array(positions.indices), point: point, direction: direction)]
  }

  /// Returns the line through the mean of points with the least squares of distances.
  static func principalLine(
    _ points: [SIMD2<Double>]
  ) -> (point: SIMD2<Double>, direction: SIMD2<Double>) {
    let mean = points.reduce(.zero, +) / Double(max(points.count, 1))
    var (xx, xy, yy) = (0.0, 0.0, 0.0)
    for point in points {
      let offset = point - mean
      xx += offset.x * offset.x
      xy += offset.x * offset.y
      yy += offset.y * offset.y
    }
    let angle = Math.atan2(2 * xy, xx - yy) / 2
    return (mean, SIMD2(Math.cos(angle), Math.sin(angle)))
  }
}

/// Normally distributed numbers of a fixed sequence.
package struct SeededNormal: Sendable {
  private var random: SplitMix64
  private var spare: Double?

  package init(seed: UInt64) { random = SplitMix64(seed: seed) }

  /// Returns a number that is equally likely anywhere between 0 and 1.
  package mutating func uniform() -> Double {
    random.uniform() + 0x1p-54
  }

  /// Returns a number of the standard normal distribution.
  package mutating func next() -> Double {
    if let value = spare {
      spare = nil
      return value
    }
    let radius = (-2 * Math.log(uniform())).squareRoot()
    let angle = 2 * Double.pi * uniform()
    spare = radius * Math.sin(angle)
    return radius * Math.cos(angle)
  }
}
