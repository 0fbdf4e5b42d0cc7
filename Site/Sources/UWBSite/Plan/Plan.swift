// SPDX-License-Identifier: Apache-2.0

/// A schedule of all rounds of a site in a repeating block of time.
package struct Plan: Sendable, Hashable {
  /// A round of one controller.
  package struct Round: Sendable, Hashable {
    /// The name of the controller, such as `tag 3` or `anchor 1`; numbers begin with 1.
    package let controller: String
    /// The numbers of the nodes that answer or listen.
    package let others: ClosedRange<Int>
    /// Whether `others` are anchors rather than tags.
    package let areAnchors: Bool
    /// Seconds after the start of the block.
    package let start: Double
    package let slots: Int
  }

  /// The deviation of clocks without a common schedule, in parts per million.
  static let drift = 20.0
  /// The seconds between two frames of synchronisation.
  static let synchronization = 0.15
  /// The greatest number of anchors in one exchange to which tags listen.
  static let cluster = 7

  package let scheme: PlanScheme
  package let request: PlanRequest
  package let rounds: [Round]

  /// The time after which the rounds repeat, in seconds.
  package var block: Double { 1 / request.rate }

  /// The share of the time that rounds occupy.
  package var occupancy: Double {
    Double(rounds.reduce(0) { $0 + $1.slots }) * request.slot / block
  }

  private var longestRound: Double { Double(rounds.map(\.slots).max() ?? 0) * request.slot }

  // MARK: plans

  /// Plans the first scheme that works, and collects the reasons of rejected schemes in `refusals`.
  package static func best(
    _ request: PlanRequest
  ) -> (plan: Plan?, refusals: [(PlanScheme, PlanRefusal)]) {
    var refusals: [(PlanScheme, PlanRefusal)] = []
    for scheme in PlanScheme.allCases {
      do { return (try Plan(scheme, request), refusals) } catch {
        refusals.append((scheme, error))
      }
    }
    return (nil, refusals)
  }

  /// Plans one scheme.
  package init(_ scheme: PlanScheme, _ request: PlanRequest) throws(PlanRefusal) {
    try Self.check(scheme, request)
    self.scheme = scheme
    self.request = request
    rounds = Self.rounds(scheme, request)
    let (needed, place) = (occupancy, Self.name(scheme, request))
    guard needed <= 1 else {
      let percent = Int((100 * needed).rounded(.up))
      throw PlanRefusal(
        description: """
          \(place) need \(percent) % of the air; at most \(Self.text(request.rate / needed)) Hz \
          are possible
          """)
    }
  }

  private static func check(
    _ scheme: PlanScheme, _ request: PlanRequest
  ) throws(PlanRefusal) {
    guard (1...10_000).contains(request.anchors), (1...100_000).contains(request.tags),
      (0.001...1000).contains(request.rate), request.slot > 0
    else {
      throw PlanRefusal(
        description: "a plan has 1 to 10000 anchors, 1 to 100000 tags, and 0.001 to 1000 Hz")
    }
    let least = scheme == .differencesUp || scheme == .differencesDown ? 4 : 3
    guard request.anchors >= least else {
      throw PlanRefusal(
        description: "\(request.anchors) anchors do not determine a place; \(least) do")
    }
    guard request.slot >= request.chips.shortestSlot else {
      let (slot, limit) = (text(1000 * request.slot), text(1000 * request.chips.shortestSlot))
      throw PlanRefusal(description: "slots of \(slot) ms are shorter than \(limit) ms")
    }
    try checkControlees(scheme, request)
  }

  private static func checkControlees(
    _ scheme: PlanScheme, _ request: PlanRequest
  ) throws(PlanRefusal) {
    let most = request.chips.mostControlees
    if scheme == .twoWayByTags, request.anchors > most {
      throw PlanRefusal(
        description: "a round with \(request.anchors) anchors has more than \(most) controlees")
    }
    guard request.sharesTime else { return }
    guard scheme == .twoWayByAnchors else {
      throw PlanRefusal(description: "only anchors that are controllers share their time")
    }
    guard request.anchors - 1 <= most else {
      throw PlanRefusal(
        description: """
          a round of one anchor with the other \(request.anchors - 1) has more than \(most) \
          controlees
          """)
    }
  }

  private static func name(_ scheme: PlanScheme, _ request: PlanRequest) -> String {
    let (rate, slot) = (text(request.rate), text(1000 * request.slot))
    let wish = "\(request.tags) tags at \(rate) Hz with \(request.anchors) anchors"
    return "\(wish) and slots of \(slot) ms"
  }

  /// Formats a number with at most two decimals.
  static func text(_ value: Double) -> String {
    let hundredths = (100 * value).rounded()
    return "\(JSONValue.number(hundredths / 100))"
  }

  // MARK: rounds

  private typealias Part = (
    controller: String, others: ClosedRange<Int>, areAnchors: Bool, slots: Int
  )

  private static func rounds(_ scheme: PlanScheme, _ request: PlanRequest) -> [Round] {
    var start = 0.0
    return parts(scheme, request).map { part in
      defer { start += Double(part.slots) * request.slot }
      return Round(
        controller: part.controller, others: part.others, areAnchors: part.areAnchors,
        start: start, slots: part.slots)
    }
  }

  private static func parts(_ scheme: PlanScheme, _ request: PlanRequest) -> [Part] {
    let all = 1...request.anchors
    switch scheme {
    case .twoWayByTags:
      // A round has slots for control, poll, the response of each anchor, final and report.
      return (1...request.tags).map { ("tag \($0)", all, true, request.anchors + 4) }
    case .twoWayByAnchors:
      var list: [Part] = []
      // In this round, the other controllers measure the carrier of the first one.
      if request.sharesTime {
        list.append(("anchor 1", 2...request.anchors, true, request.anchors + 3))
      }
      for group in groups(of: request.tags, atMost: request.chips.mostControlees) {
        list += all.map { ("anchor \($0)", group, false, group.count + 4) }
      }
      return list
    case .differencesUp:
      let syncs = Int((1 / (request.rate * synchronization)).rounded(.up))
      let blinks: [Part] = (1...request.tags).map { ("tag \($0)", all, true, 1) }
      return (0..<syncs).map { _ in ("anchor 1", all, true, 1) } + blinks
    case .differencesDown:
      // A round has slots for poll, the response of each other anchor, and final.
      return groups(of: request.anchors, atMost: cluster).map {
        ("anchor \($0.lowerBound)", $0, true, $0.count + 1)
      }
    }
  }

  /// Divides numbers into groups that are as equal as possible.
  private static func groups(of count: Int, atMost most: Int) -> [ClosedRange<Int>] {
    let groups = (count + most - 1) / most
    return (0..<groups).map { (count * $0 / groups + 1)...(count * ($0 + 1) / groups) }
  }

  // MARK: expectations

  /// The probability that a round succeeds beside sessions without a common schedule.
  ///
  /// Each of these sessions has one round at a random time of its block. A hopping session draws a
  /// new time in every block. Other sessions keep theirs for minutes: see `deadTime`.
  package var success: Double {
    let other = request.neighbourRound ?? longestRound
    let otherBlock = request.neighbourBlock ?? block
    return Self.success(longestRound + other, otherBlock, sessions: request.neighbours)
  }

  /// The probability of success if the rounds of this site had no common schedule either.
  package var uncoordinatedSuccess: Double {
    success * Self.success(2 * longestRound, block, sessions: rounds.count - 1)
  }

  package static func success(_ window: Double, _ block: Double, sessions: Int) -> Double {
    let free = max(0, 1 - window / block)
    return (0..<max(0, sessions)).reduce(1) { product, _ in product * free }
  }

  /// The duration in seconds of a collision between two sessions that do not hop.
  package var deadTime: Double {
    let other = request.neighbourRound ?? longestRound
    return (longestRound + other) / (Self.drift * 1e-6)
  }
}
