// SPDX-License-Identifier: Apache-2.0

/// Decides with each estimate whether one tag is in one zone.
struct ZonePresence: Sendable, Hashable, Codable {
  /// The time of crossing the edge, with its deviation.
  struct Crossing: Sendable, Hashable, Codable {
    var time: Double
    var deviation: Double
  }

  private enum Side: String, Codable {
    case unknown, outside, inside
  }

  private struct Sample: Sendable, Hashable, Codable {
    var time: Double
    var distance: Double
  }

  enum Change: Sendable, Hashable {
    case entered(Crossing)
    case left(Crossing, dwell: Double)
  }

  private var side = Side.unknown
  private var entered: Crossing?
  private var last: Sample?
  /// The last crossing of the edge inwards.
  private var inwards: Crossing?
  private var outwards: Crossing?
  /// The time since which the other side has been likely.
  private var likelySince: Double?
  private(set) var probability = 0.0

  var isInside: Bool { side == .inside }

  /// Adds an estimate. `deviation` is the deviation perpendicular to the nearest edge.
  mutating func update(
    time: Double, distance: Double, deviation: Double, probability: Double, margin: Double,
    rules: ZoneRules
  ) -> Change? {
    noteCrossing(time, distance, deviation)
    self.probability = probability
    // The probability of the side to which the tag may change, and the depth on that side.
    let isInwards = side == .inside ? false : side == .outside ? true : probability >= 0.5
    let other = isInwards ? probability : 1 - probability
    let depth = isInwards ? distance : -distance
    guard other >= rules.likely, depth >= margin / 2 else {
      likelySince = nil
      return nil
    }
    let since = likelySince ?? time
    likelySince = since
    let isSure = 1 - other <= rules.doubt && time - since >= rules.shortest
    guard isSure || time - since >= rules.longest else { return nil }
    likelySince = nil
    return change(isInwards, time)
  }

  /// Forgets the distances after the edge has changed.
  mutating func moveEdge() { (last, inwards, outwards, likelySince) = (nil, nil, nil, nil) }

  /// Returns the end of a presence without a crossing; nil if the tag is outside.
  func end(at time: Double) -> Change? {
    guard isInside else { return nil }
    let start = entered?.time ?? time
    return .left(Crossing(time: time, deviation: .infinity), dwell: max(0, time - start))
  }

  private mutating func change(_ isInwards: Bool, _ time: Double) -> Change? {
    let wasKnown = side != .unknown
    side = isInwards ? .inside : .outside
    guard isInwards || wasKnown else { return nil }
    let first = Crossing(time: time, deviation: .infinity)
    if isInwards {
      let crossing = inwards ?? first
      entered = crossing
      return .entered(crossing)
    }
    let crossing = outwards ?? first
    return .left(crossing, dwell: crossing.time - (entered?.time ?? crossing.time))
  }

  /// Interpolates the time at which the estimates crossed the edge.
  private mutating func noteCrossing(_ time: Double, _ distance: Double, _ deviation: Double) {
    defer { last = Sample(time: time, distance: distance) }
    guard let last else {
      if distance >= 0 { inwards = Crossing(time: time, deviation: .infinity) }
      return
    }
    guard (last.distance < 0) != (distance < 0) else { return }
    let (gap, step) = (time - last.time, distance - last.distance)
    let part = -last.distance / step
    let speed = abs(step) / gap
    let crossing = Crossing(
      time: last.time + part * gap,
      deviation: (gap * gap / 12 + (deviation / speed) * (deviation / speed)).squareRoot())
    if distance >= 0 { inwards = crossing } else { outwards = crossing }
  }
}
