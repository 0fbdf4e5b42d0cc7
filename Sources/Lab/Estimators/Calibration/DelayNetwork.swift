// SPDX-License-Identifier: Apache-2.0

internal import Ranging

/// Antennas that placements connect, with the best-fitting delays.
struct DelayNetwork {
  struct Solution {
    var values: [Double]
    /// The residual of each placement in metres.
    var residuals: [Double]
    var redundancy: Int
    /// The Cholesky factor of the normal equations.
    fileprivate var factor: ProfileMatrix
    /// The factor on the covariance because of large residuals.
    fileprivate var scale: Double

    /// Computes the covariances.
    func covariance() -> Covariance { Covariance(inverse: factor.inverse(), scale: scale) }
  }

  /// The covariances of delays that placements connect.
  struct Covariance {
    fileprivate var inverse: ProfileMatrix
    fileprivate var scale: Double

    /// Returns the variance of the sum of some delays.
    func variance(_ indices: [Int]) -> Double { max(0, scale * inverse.sum(indices)) }

    /// Returns the standard deviation of the sum of some delays.
    func deviation(_ indices: [Int]) -> Double { variance(indices).squareRoot() }
  }

  private let placements: [AntennaDelayFit.Placement]
  private let parameters: AntennaDelayFit.Parameters
  /// The index of each unknown delay.
  private(set) var indices: [BoardAntenna: Int] = [:]
  /// The indices of the unknown delays of each placement.
  private var terms: [[Int]] = []
  /// The measured sum of the unknown delays of each placement.
  private var observed: [Double] = []
  /// The variance of the sum for each placement.
  private var variances: [Double] = []
  private(set) var undetermined: [[BoardAntenna]] = []
  private(set) var verdicts: [AntennaDelayFit.Verdict]
  private var profile = MatrixProfile(neighbours: [])

  /// The limit of the work of one factorisation: 2000 antennas that are all measured with each
  /// other.
  private static let limit = 2.7e9

  /// - Throws: `FitFailure` when there are too many antennas.
  init(
    _ placements: [AntennaDelayFit.Placement], _ parameters: AntennaDelayFit.Parameters
  ) throws(FitFailure) {
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
    var neighbours = [Set<Int>](repeating: [], count: indices.count)
    for ends in terms where ends.count == 2 {
      neighbours[ends[0]].insert(ends[1])
      neighbours[ends[1]].insert(ends[0])
    }
    profile = MatrixProfile(neighbours: neighbours)
    guard profile.work <= Self.limit else { throw .tooMany(indices.count) }
    undetermined = looseGroups(placements.map { _ in true })
  }

  /// Computes the delays by robust regression; nil if the equations cannot be solved.
  mutating func solved() -> Solution? {
    // The fit starts with least absolute deviations, which resist single wrong placements.
    var weights = variances.map { 1 / $0 }
    var last: [Double] = []
    for _ in 0..<60 {
      guard let found = solution(weights, undetermined) else { return nil }
      if Self.isSame(found.values, last) { break }
      last = found.values
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
      let covariance = isFirst ? nil : current.covariance()
      for index in placements.indices {
        let scatter = covariance?.variance(terms[index]) ?? 0
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
        // Without both placements, a delay would be undetermined, so the wrong one cannot be
        // identified.
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
    let inverse = all.factor.inverse()
    // The effect of an error of a placement on its own residual, in standard deviations.
    let effects = placements.indices.map { 1 - inverse.sum(terms[$0]) / variances[$0] }
    let outliers = placements.indices.filter { verdicts[$0] == .outlier }
    for index in outliers {
      // Effects on two residuals can only be alike where both together are hardly above 1: each
      // error is divided among all residuals.
      let others = placements.indices.filter { $0 != index && effects[index] + effects[$0] < 1.06 }
      guard !others.isEmpty else { continue }
      var error = [Double](repeating: 0, count: indices.count)
      for term in terms[index] { error[term] = 1 }
      let shares = all.factor.solved(error)
      for other in others {
        let share = terms[other].reduce(0) { $0 + shares[$1] }
        let shared = share * share / (variances[index] * variances[other])
        let scale = effects[index] * effects[other]
        if scale > 1e-12, shared > 0.95 * scale {
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
      let isLast = Self.isSame(found.values, next.values)
      found = next
      if isLast { break }
    }
    return found
  }

  /// Returns whether further steps of a regression would change no delay by a nanometre.
  private static func isSame(_ values: [Double], _ others: [Double]) -> Bool {
    values.count == others.count && zip(values, others).allSatisfy { abs($0 - $1) < 1e-10 }
  }

  private var usedWeights: [Double] {
    placements.indices.map { verdicts[$0] == .outlier ? 0 : 1 / variances[$0] }
  }

  // MARK: linear algebra

  /// - Parameter isScaled: whether the covariance is scaled by excessive residuals.
  private func solution(
    _ weights: [Double], _ loose: [[BoardAntenna]], isScaled: Bool = true
  ) -> Solution? {
    var (matrix, right) = (ProfileMatrix(profile), [Double](repeating: 0, count: indices.count))
    for index in placements.indices where weights[index] > 0 {
      matrix.add(terms[index], weight: weights[index])
      for term in terms[index] { right[term] += weights[index] * observed[index] }
    }
    // In these groups the split of the sum between the ends is undetermined. Any choice gives the
    // same sums.
    for group in loose {
      if let first = group.first, let index = indices[first] {
        matrix.add([index], weight: 1 / variances[0])
      }
    }
    guard let factor = matrix.factored() else { return nil }
    let values = factor.solved(right)
    let residuals = placements.indices.map { index in
      observed[index] - terms[index].reduce(0) { $0 + values[$1] }
    }
    let used = placements.indices.filter { weights[$0] > 0 }
    let redundancy = used.count - (indices.count - loose.count)
    var scale = 1.0
    if isScaled, redundancy > 0 {
      scale = max(
        1,
        used.reduce(0) { $0 + weights[$1] * residuals[$1] * residuals[$1] } / Double(redundancy))
    }
    return Solution(
      values: values, residuals: residuals, redundancy: redundancy, factor: factor, scale: scale)
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
