// SPDX-License-Identifier: Apache-2.0

/// The evidence of pairs that have no range.
///
/// Near anchors usually have a range, and far anchors seldom have one. Places are doubtful if many
/// near pairs lack a range, and many far pairs have a range. The reach of ranges is fitted to the
/// places. The evidence is weak where near pairs are often blocked, as in a hall with machines.
struct LinkModel: Sendable {
  /// All pairs of anchors, and whether each has a range.
  private let links: [(first: Int, second: Int, isMeasured: Bool)]
  private let isComplete: Bool

  /// The factor on the evidence: blocked paths have common causes, and are not independent.
  static let share = 0.5

  init(_ model: SurveyModel, measured: Set<[Int]>) {
    var links: [(first: Int, second: Int, isMeasured: Bool)] = []
    for i in 0..<model.count {
      for j in (i + 1)..<max(model.count, i + 1) {
        links.append((i, j, measured.contains([i, j])))
      }
    }
    self.links = links
    isComplete = links.allSatisfy(\.isMeasured)
  }

  /// The probability of a range as a function of the distance.
  struct Reach: Sendable {
    /// The distance at which the probability is half of `most`.
    var distance: Double
    /// The width of the transition from `most` to the least probability.
    var width: Double
    /// The probability of a range between near anchors.
    var most: Double
  }

  /// Returns twice the negative logarithm of the likelihood of the measured and missing pairs.
  func cost(_ positions: [SIMD2<Double>]) -> Double {
    isComplete ? 0 : Self.share * best(positions).cost
  }

  /// Returns the reach that fits best; nil if all pairs have a range.
  func reach(_ positions: [SIMD2<Double>]) -> Reach? { isComplete ? nil : best(positions).reach }

  private func best(_ positions: [SIMD2<Double>]) -> (cost: Double, reach: Reach?) {
    let lengths = links.map { (positions[$0.first] - positions[$0.second]).length }
    let measured = zip(lengths, links).filter(\.1.isMeasured).map(\.0).sorted()
    guard !measured.isEmpty else { return (0, nil) }
    var best = (cost: Double.infinity, reach: Reach?.none)
    for quantile in [0.5, 0.7, 0.8, 0.9, 0.95, 1] {
      let reach = max(PairRanges.quantile(measured, quantile), 0.1)
      for width in [0.03, 0.08, 0.15, 0.3] {
        let (cost, most) = cost(lengths, reach, width * reach)
        if cost < best.cost {
          best = (cost, Reach(distance: reach, width: width * reach, most: most))
        }
      }
    }
    return best
  }

  /// Returns the cost of the missing and measured pairs for a reach.
  func cost(_ positions: [SIMD2<Double>], _ reach: Reach) -> Double {
    links.reduce(0) { sum, link in
      let length = (positions[link.first] - positions[link.second]).length
      let probability = Self.probability(length, reach)
      return sum - 2 * Self.share * Math.log(link.isMeasured ? probability : 1 - probability)
    }
  }

  private static func probability(_ length: Double, _ reach: Reach) -> Double {
    let within = 1 / (1 + Math.exp(min(max((length - reach.distance) / reach.width, -40), 40)))
    return least + (reach.most - least) * within
  }

  /// Adds the information of the missing and measured pairs about places.
  func add(
    _ positions: [SIMD2<Double>], _ reach: Reach, to matrix: inout Matrix, _ slope: inout [Double]
  ) {
    for link in links {
      let difference = positions[link.first] - positions[link.second]
      let length = max(difference.length, 1e-6)
      let probability = Self.probability(length, reach)
      let within = (probability - Self.least) / (reach.most - Self.least)
      let fall = -(reach.most - Self.least) * within * (1 - within) / reach.width
      // The derivative of the log-likelihood, and its mean square.
      let pull = fall * (link.isMeasured ? 1 / probability : -1 / (1 - probability)) * Self.share
      let information = fall * fall / (probability * (1 - probability)) * Self.share
      guard information > 1e-9 else { continue }
      let unit = difference / length
      let (i, j) = (2 * link.first, 2 * link.second)
      let terms = [(i, unit.x), (i + 1, unit.y), (j, -unit.x), (j + 1, -unit.y)]
      for (row, left) in terms {
        slope[row] += pull * left
        for (column, right) in terms { matrix[row, column] += information * left * right }
      }
    }
  }

  /// Returns the cost for a reach, with the most likely share of near pairs that have a range.
  private func cost(
    _ lengths: [Double], _ reach: Double, _ width: Double
  ) -> (cost: Double, most: Double) {
    let within = lengths.map { 1 / (1 + Math.exp(min(max(($0 - reach) / width, -40), 40))) }
    return [0.6, 0.8, 0.9, 0.97].map { most in
      var (sum, product) = (0.0, 1.0)
      for (index, link) in links.enumerated() {
        let probability = Self.least + (most - Self.least) * within[index]
        product *= link.isMeasured ? probability : 1 - probability
        if product < 1e-200 {
          sum -= 2 * Math.log(product)
          product = 1
        }
      }
      return (sum - 2 * Math.log(product), most)
    }.min { $0.0 < $1.0 } ?? (0, 0)
  }

  /// The probability of a range at any distance.
  private static let least = 0.02
}
