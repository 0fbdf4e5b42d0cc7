// SPDX-License-Identifier: Apache-2.0

internal import Ranging

/// Antennas that are connected by placements, and the delays that fit the placements best.
struct DelayNetwork {
  struct Solution {
    var values: [Double]
    /// Covariance, row by row.
    var covariance: [Double]
    /// The residual of each placement in metres.
    var residuals: [Double]
    var redundancy: Int

    /// Returns the standard deviation of the sum of some delays.
    func deviation(_ indices: [Int]) -> Double {
      var variance = 0.0
      for row in indices {
        for column in indices { variance += covariance[row * values.count + column] }
      }
      return max(0, variance).squareRoot()
    }
  }

  private let placements: [AntennaDelayFit.Placement]
  private let parameters: AntennaDelayFit.Parameters
  /// The unknowns.
  private(set) var indices: [BoardAntenna: Int] = [:]
  /// For each placement: its unknowns, their sum, and the variance of the sum.
  private var terms: [[Int]] = []
  private var observed: [Double] = []
  private var variances: [Double] = []
  private(set) var undetermined: [[BoardAntenna]] = []
  private(set) var verdicts: [AntennaDelayFit.Verdict]

  init(_ placements: [AntennaDelayFit.Placement], _ parameters: AntennaDelayFit.Parameters) {
    self.placements = placements
    self.parameters = parameters
    verdicts = placements.map { _ in .used }
    for placement in placements {
      for antenna in [placement.a, placement.b]
      where parameters.known[antenna] == nil && indices[antenna] == nil {
        indices[antenna] = indices.count
      }
      terms.append([placement.a, placement.b].compactMap { indices[$0] })
      let known = [placement.a, placement.b].reduce(0) { $0 + (parameters.known[$1] ?? 0) }
      observed.append(placement.excess - known)
      let mean = placement.spread * placement.spread / Double(placement.count)
      variances.append(parameters.placementDeviation * parameters.placementDeviation + mean)
    }
    undetermined = looseGroups(placements.map { _ in true })
  }

  /// Computes the delays by robust regression; nil if the equations cannot be solved.
  mutating func solved() -> Solution? {
    // Least absolute deviations first, which resist single wrong placements.
    var weights = variances.map { 1 / $0 }
    for _ in 0..<60 {
      guard let found = solution(weights, undetermined) else { return nil }
      for index in weights.indices {
        let standard = abs(found.residuals[index]) / variances[index].squareRoot()
        weights[index] = 1 / (variances[index] * max(0.05, standard))
      }
    }
    guard let robust = solution(weights, undetermined) else { return nil }
    excludeOutliers(startingFrom: robust)
    return finish()
  }

  /// Marks placements that contradict the rest, until nothing changes.
  private mutating func excludeOutliers(startingFrom robust: Solution) {
    var current = robust
    for round in 0..<10 {
      let before = verdicts
      // The uncertainty of the robust solution is unknown.
      let isFirst = round == 0
      for index in placements.indices {
        let scatter = isFirst ? 0 : predictedVariance(index, current)
        let sign = verdicts[index] == .outlier ? 1.0 : -1.0
        let variance = max(0.2 * variances[index], variances[index] + sign * scatter)
        let limit = parameters.gate * (isFirst ? variances[index] : variance).squareRoot()
        verdicts[index] = abs(current.residuals[index]) > limit ? .outlier : .used
      }
      if verdicts == before, !isFirst { break }
      let kept = verdicts.map { $0 != .outlier }
      guard looseGroups(kept).joined().count == undetermined.joined().count,
        let next = solution(usedWeights, undetermined)
      else {
        // Without the two a delay would be undetermined: the wrong placement cannot be identified.
        verdicts = verdicts.map { $0 == .outlier ? .suspect : $0 }
        return
      }
      current = next
    }
    markSuspects()
  }

  /// Marks an outlier and another placement as suspect if either explains the contradiction.
  private mutating func markSuspects() {
    guard verdicts.contains(.outlier),
      let all = solution(variances.map { 1 / $0 }, undetermined, isScaled: false)
    else { return }
    let outliers = placements.indices.filter { verdicts[$0] == .outlier }
    for index in outliers {
      for other in placements.indices where other != index {
        let shared = projection(index, other, all)
        let scale = projection(index, index, all) * projection(other, other, all)
        if scale > 1e-12, shared * shared > 0.95 * scale {
          verdicts[index] = .suspect
          verdicts[other] = .suspect
        }
      }
    }
  }

  private func finish() -> Solution? {
    var weights = usedWeights
    guard var found = solution(weights, undetermined) else { return nil }
    guard verdicts.contains(.suspect) else { return found }
    for _ in 0..<30 {
      for index in weights.indices where verdicts[index] != .outlier {
        let standard = abs(found.residuals[index]) / variances[index].squareRoot()
        weights[index] = min(1, 1.5 / max(1e-9, standard)) / variances[index]
      }
      guard let next = solution(weights, undetermined) else { return nil }
      found = next
    }
    return found
  }

  private var usedWeights: [Double] {
    placements.indices.map { verdicts[$0] == .outlier ? 0 : 1 / variances[$0] }
  }

  // MARK: linear algebra

  /// - Parameter isScaled: whether the covariance is scaled by excessive residuals.
  private func solution(
    _ weights: [Double], _ loose: [[BoardAntenna]], isScaled: Bool = true
  ) -> Solution? {
    let count = indices.count
    guard count > 0 else {
      return Solution(
        values: [], covariance: [], residuals: observed, redundancy: placements.count)
    }
    var equations = NormalEquations(count: count)
    for index in placements.indices where weights[index] > 0 {
      equations.observe(terms[index].map { ($0, 1) }, observed[index], weights[index])
    }
    // In these groups the split of the sum between the ends is undetermined. Any choice gives the
    // same sums.
    for group in loose {
      if let first = group.first, let index = indices[first] {
        equations.observe([(index, 1)], 0, 1 / variances[0])
      }
    }
    guard let values = equations.solved(), var covariance = equations.inverse() else { return nil }
    let residuals = placements.indices.map { index in
      observed[index] - terms[index].reduce(0) { $0 + values[$1] }
    }
    let used = placements.indices.filter { weights[$0] > 0 }
    let redundancy = used.count - (count - loose.count)
    if isScaled, redundancy > 0 {
      let misfit =
        used.reduce(0) { $0 + weights[$1] * residuals[$1] * residuals[$1] } / Double(redundancy)
      if misfit > 1 { for index in covariance.indices { covariance[index] *= misfit } }
    }
    return Solution(
      values: values, covariance: covariance, residuals: residuals, redundancy: redundancy)
  }

  private func predictedVariance(_ index: Int, _ solution: Solution) -> Double {
    let deviation = solution.deviation(terms[index])
    return deviation * deviation
  }

  /// Returns the effect of an error of one placement on the residual of another, in standard
  /// deviations.
  private func projection(_ a: Int, _ b: Int, _ solution: Solution) -> Double {
    var shared = 0.0
    for row in terms[a] {
      for column in terms[b] { shared += solution.covariance[row * indices.count + column] }
    }
    return (a == b ? 1 : 0) - shared / (variances[a] * variances[b]).squareRoot()
  }

  // MARK: determined delays

  /// Returns the connected groups of antennas whose delays are undetermined: all rings are even,
  /// and no board is known.
  private func looseGroups(_ isUsed: [Bool]) -> [[BoardAntenna]] {
    var neighbours = [[Int]](repeating: [], count: indices.count)
    var isFixed = [Bool](repeating: false, count: indices.count)
    for index in placements.indices where isUsed[index] {
      let ends = terms[index]
      if ends.count == 2 {
        neighbours[ends[0]].append(ends[1])
        neighbours[ends[1]].append(ends[0])
      } else if let only = ends.first {
        isFixed[only] = true
      }
    }
    let names = indices.sorted { $0.value < $1.value }.map(\.key)
    var sides = [Int](repeating: 0, count: indices.count)
    var groups: [[BoardAntenna]] = []
    for start in sides.indices where sides[start] == 0 {
      sides[start] = 1
      var group = [start]
      var isDetermined = false
      var next = 0
      while next < group.count {
        let here = group[next]
        next += 1
        isDetermined = isDetermined || isFixed[here]
        for other in neighbours[here] {
          if sides[other] == 0 {
            sides[other] = -sides[here]
            group.append(other)
          } else if sides[other] == sides[here] {
            isDetermined = true
          }
        }
      }
      if !isDetermined { groups.append(group.map { names[$0] }.sorted()) }
    }
    return groups
  }
}
