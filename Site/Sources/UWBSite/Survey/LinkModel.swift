// SPDX-License-Identifier: Apache-2.0

/// The evidence in the pairs that were not measured.
///
/// Anchors range with near ones rather than with far ones. Places at which many near pairs have no
/// range, and many far pairs have one, are doubtful. How far a range reaches is fitted to the
/// places themselves. Where near pairs are often blocked, as in a hall with machines, it decides
/// little.
struct LinkModel: Sendable {
  /// Each two anchors, and whether they have a range.
  private let links: [(first: Int, second: Int, isMeasured: Bool)]
  private let isComplete: Bool

  /// The share with which the evidence counts: blocked paths have common causes.
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

  /// Twice the negative logarithm of the likelihood of the measured and missing pairs.
  func cost(_ positions: [SIMD2<Double>]) -> Double {
    guard !isComplete else { return 0 }
    let lengths = links.map { (positions[$0.first] - positions[$0.second]).length }
    let measured = zip(lengths, links).filter(\.1.isMeasured).map(\.0).sorted()
    guard !measured.isEmpty else { return 0 }
    var best = Double.infinity
    for quantile in [0.5, 0.7, 0.8, 0.9, 0.95, 1] {
      let reach = max(PairRanges.quantile(measured, quantile), 0.1)
      for width in [0.03, 0.08, 0.15, 0.3] {
        best = min(best, cost(lengths, reach, width * reach))
      }
    }
    return Self.share * best
  }

  /// The cost for a reach, with the most likely share of near pairs that have a range.
  private func cost(_ lengths: [Double], _ reach: Double, _ width: Double) -> Double {
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
      return sum - 2 * Math.log(product)
    }.min() ?? 0
  }

  /// The probability of a range at any distance.
  private static let least = 0.02
}
