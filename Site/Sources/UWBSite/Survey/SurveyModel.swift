// SPDX-License-Identifier: Apache-2.0

/// The knowledge about an anchor before a survey.
package struct SurveyAnchor: Sendable, Hashable {
  /// An approximate place, such as a click on a floor plan.
  package struct Rough: Sendable, Hashable {
    package var position: SIMD2<Double>
    package var deviation: Double

    package init(_ position: SIMD2<Double>, deviation: Double) {
      (self.position, self.deviation) = (position, deviation)
    }
  }

  package var id: String
  package var height: Double
  package var heightDeviation: Double
  package var rough: Rough?
  /// The length by which each range to this anchor is too long.
  package var delay = 0.0
  package var delayDeviation = 0.05

  package init(
    _ id: String, height: Double, heightDeviation: Double = 0.02, rough: Rough? = nil
  ) {
    (self.id, self.height, self.heightDeviation) = (id, height, heightDeviation)
    self.rough = rough
  }
}

/// Places and delays: the unknowns of a survey.
struct SurveyState: Sendable, Hashable {
  var positions: [SIMD2<Double>]
  /// The part of the delay that all ranges share.
  var common = 0.0
  /// The delay of each anchor beyond the common delay.
  var delays: [Double]

  init(_ positions: [SIMD2<Double>], common: Double = 0, delays: [Double]? = nil) {
    (self.positions, self.common) = (positions, common)
    self.delays = delays ?? Array(repeating: 0, count: positions.count)
  }
}

/// The ranges of a survey, and the assumptions about its anchors.
struct SurveyModel: Sendable {
  /// The function that converts residuals to a cost.
  enum Loss: Sendable {
    /// The square of the residual, as in textbooks.
    case squares
    /// A cost that grows more slowly for large residuals, and most slowly if the range is too long.
    case oneSided
    /// The negative log-density of ranges, some of which have a blocked path. It has more minima.
    case detours
  }

  var anchors: [SurveyAnchor]
  var pairs: [PairRange]
  /// The variance of each pair, including the deviations of the heights.
  private(set) var variances: [Double]
  var loss = Loss.oneSided
  /// The deviation of the delay that all ranges have in common; 0 to assume that there is none.
  var commonDelayDeviation = 0.15
  /// Whether each anchor also has a delay of its own.
  var hasOwnDelays = true
  /// The evidence of missing pairs, and the assumed reach.
  var links: (model: LinkModel, reach: LinkModel.Reach)?
  /// The spring that holds a trial movement.
  var tether: Tether?

  init(anchors: [SurveyAnchor], pairs: [PairRange]) {
    (self.anchors, self.pairs) = (anchors, pairs)
    variances = pairs.map { pair in
      let (a, b) = (anchors[pair.first], anchors[pair.second])
      let distance = max(pair.distance, 0.1)
      let slope = (a.height - b.height) / distance
      let heights =
        a.heightDeviation * a.heightDeviation + b.heightDeviation * b.heightDeviation
      let bend = heights / (2 * distance)
      return pair.deviation * pair.deviation + slope * slope * heights + bend * bend
    }
  }

  /// Multiplies the deviations of all pairs by a factor.
  mutating func widen(by factor: Double) {
    for index in variances.indices { variances[index] *= factor * factor }
  }

  /// Removes a range.
  mutating func drop(_ index: Int) {
    pairs.remove(at: index)
    variances.remove(at: index)
  }

  var count: Int { anchors.count }
  var hasRoughPlaces: Bool { anchors.count { $0.rough != nil } >= 2 }

  /// Returns the squared difference of the heights of a pair.
  func rise(_ pair: PairRange) -> Double {
    let difference = anchors[pair.first].height - anchors[pair.second].height
    return difference * difference
  }

  /// Returns the distance in the plane for a measured range.
  func level(_ pair: PairRange) -> Double {
    max(pair.distance * pair.distance - rise(pair), 1e-4).squareRoot()
  }

  /// The anchors with which each anchor has a range.
  var neighbours: [[Int]] {
    var result = Array(repeating: [Int](), count: count)
    for pair in pairs {
      result[pair.first].append(pair.second)
      result[pair.second].append(pair.first)
    }
    return result
  }

  /// Returns the vector between two anchors in the plane, its length, and the excess of the range.
  func residual(
    _ index: Int, _ state: SurveyState
  ) -> (difference: SIMD2<Double>, distance: Double, excess: Double) {
    let pair = pairs[index]
    let difference = state.positions[pair.first] - state.positions[pair.second]
    let distance = max((difference.lengthSquared + rise(pair)).squareRoot(), 1e-9)
    let delays = state.common + state.delays[pair.first] + state.delays[pair.second]
    return (difference, distance, pair.distance - distance - delays)
  }

  /// Returns the cost and the weight of an excess.
  ///
  /// The one-sided loss has a width of 2 deviations for ranges that are too long, and 4 for other
  /// ranges. Long ranges are usual, since paths go around corners; short ranges are errors.
  func loss(_ excess: Double, _ deviation: Double) -> (cost: Double, weight: Double) {
    let ratio = excess / deviation
    switch loss {
    case .squares: return (ratio * ratio, 1)
    case .oneSided:
      let width = ratio > 0 ? 4.0 : 16.0
      let part = 1 + ratio * ratio / width
      return (width * Math.log(part), 1 / part)
    case .detours: return detourLoss(ratio, deviation)
    }
  }

  /// Returns twice the negative log-density of an excess, relative to an open path.
  ///
  /// Detours are exponentially distributed; other errors are rare.
  private func detourLoss(
    _ ratio: Double, _ deviation: Double
  ) -> (cost: Double, weight: Double) {
    let share = SurveyCovariance.blockedShare
    let slope = deviation / SurveyCovariance.meanDetour
    let root = (2 * Double.pi).squareRoot()
    let open = (1 - share) * Math.exp(-ratio * ratio / 2)
    let detour = share * slope * Math.exp(slope * slope / 2 - ratio * slope)
    let blocked = detour * root * Math.normalBelow(ratio - slope)
    let density = open + blocked + 1e-6 * deviation * root
    // The logarithm of the blocked density falls with the slope, and rises steeply where the
    // density begins.
    let rise = detour * Math.exp(-(ratio - slope) * (ratio - slope) / 2)
    let pull = open * ratio + slope * blocked - rise
    let weight = abs(ratio) > 1e-6 ? pull / (ratio * density) : 1
    return (-2 * Math.log(density), min(max(weight, 1e-4), 1))
  }

  /// Returns the total cost of ranges, delays and rough places.
  func cost(_ state: SurveyState) -> Double {
    let missing = links.map { $0.model.cost(state.positions, $0.reach) } ?? 0
    let rest = tether?.rest(state.positions) ?? 0
    return rangeCost(state) + priorCost(state) + missing + rest * rest
  }

  private func rangeCost(_ state: SurveyState) -> Double {
    var sum = 0.0
    for index in pairs.indices {
      let excess = residual(index, state).excess
      sum += loss(excess, variances[index].squareRoot()).cost
    }
    return sum
  }

  func priorCost(_ state: SurveyState) -> Double {
    var sum = 0.0
    if commonDelayDeviation > 0 {
      let ratio = state.common / commonDelayDeviation
      sum += ratio * ratio
    }
    for (index, anchor) in anchors.enumerated() {
      if hasOwnDelays, anchor.delayDeviation > 0 {
        let ratio = (state.delays[index] - anchor.delay) / anchor.delayDeviation
        sum += ratio * ratio
      }
      if let rough = anchor.rough {
        sum +=
          (state.positions[index] - rough.position).lengthSquared
          / (rough.deviation * rough.deviation)
      }
    }
    return sum
  }
}
