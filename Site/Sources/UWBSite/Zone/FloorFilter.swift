// SPDX-License-Identifier: Apache-2.0

/// The observations of one round that depend on the floor of a tag.
package struct FloorEvidence: Sendable, Hashable {
  /// An anchor in range of the tag.
  package struct Anchor: Sendable, Hashable {
    package var floor: String
    package var isReached: Bool
    /// The loss in dB relative to free space at the measured range; nil without a level.
    package var excessLoss: Double?

    package init(floor: String, isReached: Bool, excessLoss: Double? = nil) {
      (self.floor, self.isReached, self.excessLoss) = (floor, isReached, excessLoss)
    }
  }

  package var anchors: [Anchor] = []
  /// The height in metres, from a place in space or from a barometer.
  package var height: Double?
  package var heightDeviation = Double.infinity

  package init(anchors: [Anchor] = []) { self.anchors = anchors }
}

/// The floor of one tag, by a hidden Markov model whose states are floors.
///
/// A tag changes floors by stairs and lifts, and hardly ever elsewhere.
package struct FloorFilter: Sendable, Codable {
  package struct Rules: Sendable, Hashable {
    /// The rate of changes to each neighbouring floor in stairs or a lift, per second.
    package var rateInConnection = 0.2
    /// The rate of changes to each neighbouring floor elsewhere, per second.
    package var rateElsewhere = 1e-4
    /// The probabilities of a range to an anchor on the same floor, on the next floor, and farther
    /// away.
    package var reached = [0.85, 0.3, 0.03]
    /// The loss of a slab in dB.
    package var slabLoss = 15.0
    /// The standard deviation of a level in dB.
    package var levelDeviation = 8.0
    /// The height in metres above the floor at which a tag is carried.
    package var carried = 1.1
    package var carriedDeviation = 0.5
    /// The seconds within which observations depend on one another.
    package var memory = 1.0
    /// The probability of a floor that a decision requires.
    package var sure = 0.95
    /// The seconds for which the probability must last.
    package var time = 3.0

    package init() {}
  }

  /// A decided change of the floor.
  package struct Change: Sendable, Hashable {
    /// The former floor; nil at the first decision.
    package var from: String?
    package var to: String
    /// The time at which the new floor became the likeliest floor.
    package var happened: Double
    package var decided: Double
  }

  private var floors: [Site.Floor] = []
  private var rules = Rules()
  private var probabilities: [Double]
  private var last: Double?
  private var likeliest: Likeliest?
  private var decided: Int?
  private static let certain = 1e-9

  private struct Likeliest: Sendable, Codable {
    var index: Int
    var since: Double
    var sureSince: Double?
  }

  /// Saves the state without the floors, which are a part of the site.
  private enum CodingKeys: CodingKey { case probabilities, last, likeliest, decided }

  /// - Parameter floors: The floors in any order, at least one.
  package init(_ floors: [Site.Floor], rules: Rules = Rules()) {
    self.floors = floors.sorted { $0.height < $1.height }
    self.rules = rules
    probabilities = Array(repeating: 1 / Double(max(1, floors.count)), count: floors.count)
  }

  /// Returns a saved filter with the floors of this filter; nil if they do not fit.
  package func resumed(_ former: FloorFilter) -> FloorFilter? {
    var filter = former
    (filter.floors, filter.rules) = (floors, rules)
    let places = [former.likeliest?.index, former.decided].compactMap(\.self)
    guard former.probabilities.count == floors.count,
      places.allSatisfy(floors.indices.contains)
    else { return nil }
    return filter
  }

  /// The last decided floor.
  package var floor: String? { decided.map { floors[$0].id } }

  package func probability(of floor: String) -> Double {
    floors.firstIndex { $0.id == floor }.map { probabilities[$0] } ?? 0
  }

  /// Adds the observations of a round.
  ///
  /// - Parameter connection: The probability that the tag is in stairs or a lift.
  package mutating func update(
    at time: Double, _ evidence: FloorEvidence, connection: Double
  ) -> Change? {
    guard !floors.isEmpty, time.isFinite, time > last ?? -.infinity else { return nil }
    let step = last.map { time - $0 } ?? rules.memory
    predict(step, connection)
    // Observations within one second count once, regardless of the number of rounds.
    observe(evidence, weight: min(1, step / rules.memory))
    last = time
    return decide(time)
  }

  private mutating func predict(_ step: Double, _ connection: Double) {
    let inside = min(1, max(0, connection))
    let rate = inside * rules.rateInConnection + (1 - inside) * rules.rateElsewhere
    let changing = (1 - Math.exp(-2 * rate * min(step, 60))) / 2
    var next = probabilities
    for index in floors.indices {
      for other in [index - 1, index + 1] where floors.indices.contains(other) {
        next[other] += changing * probabilities[index]
        next[index] -= changing * probabilities[index]
      }
    }
    probabilities = next
  }

  private mutating func observe(_ evidence: FloorEvidence, weight: Double) {
    let logs = floors.indices.map { logLikelihood(evidence, $0) }
    let best = logs.max() ?? 0
    for index in floors.indices {
      probabilities[index] *= Math.exp(weight * (logs[index] - best))
      probabilities[index] = max(probabilities[index], Self.certain)
    }
    let sum = probabilities.reduce(0, +)
    probabilities = probabilities.map { $0 / sum }
  }

  private func logLikelihood(_ evidence: FloorEvidence, _ index: Int) -> Double {
    var log = 0.0
    for anchor in evidence.anchors {
      guard let other = floors.firstIndex(where: { $0.id == anchor.floor }) else { continue }
      let slabs = abs(other - index)
      let reached = rules.reached[min(slabs, rules.reached.count - 1)]
      log += Math.log(anchor.isReached ? reached : 1 - reached)
      if let loss = anchor.excessLoss, loss.isFinite {
        log += Self.robust((loss - Double(slabs) * rules.slabLoss) / rules.levelDeviation)
      }
    }
    if let height = evidence.height, height.isFinite, evidence.heightDeviation.isFinite {
      let expected = floors[index].height + rules.carried
      let variance =
        evidence.heightDeviation * evidence.heightDeviation
        + rules.carriedDeviation * rules.carriedDeviation
      log += Self.robust((height - expected) / variance.squareRoot())
    }
    return log
  }

  /// Returns the logarithm of a normal density with a small share of outliers.
  private static func robust(_ deviations: Double) -> Double {
    Math.log(Math.exp(-min(deviations * deviations, 1000) / 2) + 0.01)
  }

  private mutating func decide(_ time: Double) -> Change? {
    guard let index = floors.indices.max(by: { probabilities[$0] < probabilities[$1] }) else {
      return nil
    }
    if likeliest?.index != index { likeliest = Likeliest(index: index, since: time) }
    guard var best = likeliest else { return nil }
    best.sureSince = probabilities[index] >= rules.sure ? best.sureSince ?? time : nil
    likeliest = best
    guard let since = best.sureSince, time - since >= rules.time, decided != index else {
      return nil
    }
    defer { decided = index }
    return Change(from: floor, to: floors[index].id, happened: best.since, decided: time)
  }
}
