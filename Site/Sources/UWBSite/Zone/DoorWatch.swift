// SPDX-License-Identifier: Apache-2.0

/// The rules of a door with a board on each side of its leaf.
package struct DoorRules: Sendable, Hashable {
  /// The greatest distance in metres at which a door unlocks.
  package var nearest = 1.5
  /// The least speed of an approach to the door, in m/s.
  package var approach = 0.4
  /// The seconds for which an approach permits the door to unlock.
  package var approachMemory = 2.0
  /// The greatest probability of an error about the side of the tag.
  package var doubt = 1e-4
  /// The least difference of the ranges divided by the distance between the boards. 0.6 corresponds
  /// to 53° from the axis.
  package var leastCosine = 0.6
  /// The least number of rounds for a decision.
  package var rounds = 4
  /// The seconds within which rounds are used.
  package var window = 0.6
  /// The deviation in metres of the constant error of a board's ranges.
  package var biasDeviation = 0.03
  /// The distance in metres beyond which the door may unlock again.
  package var releaseDistance = 2.5
  /// The seconds after unlocking after which the door may unlock again.
  package var releaseTime = 5.0

  package init() {}
}

/// The side of a door on which a tag is, and whether it approaches from outside.
///
/// On the axis of the door, the ranges to both boards differ by the distance between the boards.
/// The sign of the difference gives the side. A decision uses several rounds.
package struct DoorWatch: Sendable, Codable {
  package enum Side: String, Sendable, Codable {
    case inside, outside, unsure
  }

  /// The state according to the last rounds.
  package struct State: Sendable, Hashable, Codable {
    package var side = Side.unsure
    /// The probability that the tag is outside, 0 to 1.
    package var outside = 0.5
    /// The distance in metres.
    package var distance = Double.infinity
    /// The speed towards the door in metres per second.
    package var approach = 0.0
  }

  private struct Round: Sendable, Codable {
    let time: Double
    let difference: Double
    let distance: Double
    let deviation: Double
  }

  private var separation = 0.0
  private var rules = DoorRules()
  private var recent: [Round] = []
  private var approached = -Double.infinity
  private var unlocked: Double?
  package private(set) var state = State()

  /// - Parameter separation: The distance in metres between both boards.
  package init(separation: Double, rules: DoorRules = DoorRules()) {
    self.separation = separation
    self.rules = rules
  }

  /// Saves the state without the distance between the boards and the rules, which are parts of the
  /// site.
  private enum CodingKeys: CodingKey { case recent, approached, unlocked, state }

  /// Returns a saved watch with the boards and rules of this watch.
  package func resumed(_ former: DoorWatch) -> DoorWatch {
    var watch = former
    (watch.separation, watch.rules) = (separation, rules)
    return watch
  }

  /// Adds the ranges of one round to both boards; returns whether the door unlocks.
  ///
  /// - Parameter deviation: The standard deviation of a range from round to round.
  package mutating func update(
    at time: Double, inside: Double, outside: Double, deviation: Double
  ) -> Bool {
    guard inside.isFinite, outside.isFinite, deviation > 0, time > recent.last?.time ?? -.infinity
    else { return false }
    recent.removeAll { $0.time < time - rules.window }
    recent.append(
      Round(
        time: time, difference: inside - outside, distance: (inside + outside) / 2,
        deviation: deviation))
    guard recent.count >= rules.rounds else {
      state = State()
      return false
    }
    look()
    return decide(time)
  }

  /// Updates the state from the last rounds.
  private mutating func look() {
    let difference = Self.median(recent.map(\.difference))
    let spread = 1.48 * Self.median(recent.map { abs($0.difference - difference) })
    let stated = 2.0.squareRoot() * Self.median(recent.map(\.deviation))
    // A median has 1.25 times the deviation of a mean. The boards' constant errors do not average
    // out.
    let noise = 1.25 * max(spread, stated)
    let variance =
      noise * noise / Double(recent.count) + 2 * rules.biasDeviation * rules.biasDeviation
    state.outside = Math.normalBelow(difference / variance.squareRoot())
    state.side =
      state.outside > 1 - rules.doubt ? .outside : state.outside < rules.doubt ? .inside : .unsure
    if difference < rules.leastCosine * separation && state.side == .outside {
      state.side = .unsure
    }
    state.approach = -slope()
    // The distance is extrapolated to the newest round, because a person may approach by 10 cm in
    // each round.
    let now = recent.last?.time ?? 0
    state.distance = Self.median(
      recent.dropFirst(recent.count / 2).map { $0.distance - state.approach * (now - $0.time) })
  }

  /// Returns the rate of change of the distance: the median slope between both halves of the
  /// rounds.
  private func slope() -> Double {
    let half = (recent.count + 1) / 2
    let slopes = zip(recent.dropLast(half), recent.dropFirst(half)).map {
      ($1.distance - $0.distance) / ($1.time - $0.time)
    }
    return Self.median(slopes)
  }

  private mutating func decide(_ time: Double) -> Bool {
    if let earlier = unlocked {
      let isReleased =
        state.distance > rules.releaseDistance || time - earlier > rules.releaseTime
      guard isReleased else { return false }
      unlocked = nil
    }
    guard state.side == .outside else {
      // Once the tag is inside, its earlier approach no longer counts.
      if state.side == .inside { approached = -.infinity }
      return false
    }
    if state.approach >= rules.approach { approached = time }
    guard time - approached <= rules.approachMemory, state.distance <= rules.nearest else {
      return false
    }
    unlocked = time
    approached = -.infinity
    return true
  }

  private static func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    guard !sorted.isEmpty else { return 0 }
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
  }
}
