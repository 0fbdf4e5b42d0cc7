// SPDX-License-Identifier: Apache-2.0

/// Decides from estimates which zones a tag is in.
///
/// Zones may overlap and contain one another: each is decided independently.
package struct ZoneMonitor: Sendable {
  private struct Area: Sendable {
    let zone: Site.Zone
    let area: ZoneArea

    init(_ zone: Site.Zone) { (self.zone, area) = (zone, ZoneArea(zone.shape)) }
  }

  fileprivate struct Tag: Sendable, Codable {
    var presences: [ZonePresence]
    var last: Double
    var rhythm = Rhythm()
    /// The last estimate.
    var mean: SIMD2<Double>?
    /// The difference between the last two estimates.
    var step: SIMD2<Double>?
    /// The mean square of the changes of `step`, relative to independent errors.
    var changes = 1.0

    /// Updates the usual interval.
    mutating func note(_ time: Double) {
      if last.isFinite { rhythm.add(time - last) }
      last = time
    }

    /// Updates the correlation of the errors from the change between the last two steps.
    ///
    /// A steady motion does not contribute to this change.
    mutating func note(_ estimate: PlaneEstimate) {
      let next = mean.map { estimate.mean - $0 }
      defer { (mean, step) = (estimate.mean, next) }
      guard let next, let step, next != step else { return }
      let change = next - step
      let square = change.x * change.x / estimate.xx + change.y * change.y / estimate.yy
      changes += (min(square / 12, 1) - changes) / 64
    }

    /// Returns the seconds within which the errors are correlated.
    func memory(_ rules: ZoneRules) -> Double {
      guard rhythm.count > 0 else { return rules.errorMemory }
      // If errors lose a share e in an interval, the changes of steps have 4 e + 2 e² times their
      // variance.
      let part = (1 + 3 * changes).squareRoot() - 1
      let own = part < 1 ? -rhythm.interval / Math.log(1 - part) : 0
      return min(max(own, rules.errorMemory), rules.longestMemory)
    }
  }

  private var areas: [Area]
  private let rules: ZoneRules
  private var tags: [String: Tag] = [:]
  /// The number of unused estimates: estimates that are older than the last one, or without a
  /// covariance.
  package private(set) var ignored = 0

  package init(_ zones: [Site.Zone], rules: ZoneRules = ZoneRules()) {
    areas = zones.map(Area.init)
    self.rules = rules
  }

  // MARK: state

  /// The presence of all tags.
  package struct State: Sendable, Codable {
    fileprivate var tags: [String: Tag]
  }

  package var state: State { State(tags: tags) }

  /// Continues a saved state of the same zones; returns false if it does not fit.
  package mutating func resume(_ state: State) -> Bool {
    guard
      state.tags.values.allSatisfy({ $0.presences.count == areas.count && $0.rhythm.isUsable })
    else { return false }
    tags = state.tags
    return true
  }

  /// Returns the tags in a zone in alphabetical order, including silent ones.
  package func tags(in zone: String) -> [String] {
    guard let index = areas.firstIndex(where: { $0.zone.id == zone }) else { return [] }
    return tags.filter { $0.value.presences[index].isInside }.map(\.key).sorted()
  }

  /// Returns the number of tags in a zone.
  package func count(in zone: String) -> Int { tags(in: zone).count }

  /// Returns the probability that a tag was in a zone at its last estimate; nil for an unknown tag.
  package func probability(_ tag: String, in zone: String) -> Double? {
    guard let index = areas.firstIndex(where: { $0.zone.id == zone }) else { return nil }
    return tags[tag]?.presences[index].probability
  }

  // MARK: changes

  /// Replaces the zones and the tags.
  ///
  /// A tag in a kept zone remains there until an estimate is outside of the zone, whose edge may
  /// have changed.
  ///
  /// - Parameter names: The tags that are kept.
  /// - Returns: the ends of presences in removed zones, and of removed tags.
  package mutating func replace(
    _ zones: [Site.Zone], tags names: Set<String>, at time: Double
  ) -> [ZoneEvent] {
    let next = zones.map(Area.init)
    let former = next.map { area in areas.firstIndex { $0.zone.id == area.zone.id } }
    var events: [ZoneEvent] = []
    for name in tags.keys.sorted() {
      guard var tag = tags[name] else { continue }
      for (index, area) in areas.enumerated() where !names.contains(name) || !former.contains(index)
      {
        guard let change = tag.presences[index].end(at: time) else { continue }
        events.append(Self.event(name, area.zone, change, time))
      }
      tag.presences = zip(next, former).map { area, index in
        guard let index else { return ZonePresence() }
        var presence = tag.presences[index]
        if areas[index].zone.shape != area.zone.shape { presence.moveEdge() }
        return presence
      }
      tags[name] = names.contains(name) ? tag : nil
    }
    areas = next
    return events
  }

  /// Adds an estimate of a tag.
  ///
  /// - Parameter floor: The floor of the tag; nil if unknown, so that zones on all floors are
  ///   possible.
  package mutating func update(
    _ tag: String, at time: Double, _ estimate: PlaneEstimate, floor: String? = nil
  ) -> [ZoneEvent] {
    var state =
      tags[tag]
      ?? Tag(presences: Array(repeating: ZonePresence(), count: areas.count), last: -.infinity)
    guard estimate.isUsable, time.isFinite, time > state.last else {
      ignored += 1
      return []
    }
    var events: [ZoneEvent] = []
    state.note(time)
    state.note(estimate)
    var rules = rules
    rules.slowMemory = state.memory(rules)
    for (index, area) in areas.enumerated() {
      let change = Self.change(&state.presences[index], area, time, estimate, floor, rules)
      if let change { events.append(Self.event(tag, area.zone, change, time)) }
    }
    tags[tag] = state
    return events
  }

  private static func change(
    _ presence: inout ZonePresence, _ area: Area, _ time: Double, _ estimate: PlaneEstimate,
    _ floor: String?, _ rules: ZoneRules
  ) -> ZonePresence.Change? {
    let isElsewhere = floor != nil && area.zone.floor != nil && floor != area.zone.floor
    // On another floor, the tag is clearly outside.
    var (distance, probability) = (-1.0, 0.0)
    if !isElsewhere { (distance, probability) = area.area.evaluate(estimate) }
    return presence.update(
      time: time, distance: distance, deviation: estimate.largestDeviation,
      probability: probability, margin: isElsewhere ? 0 : area.zone.margin, rules: rules)
  }

  private static func event(
    _ tag: String, _ zone: Site.Zone, _ change: ZonePresence.Change, _ time: Double
  ) -> ZoneEvent {
    switch change {
    case .entered(let crossing):
      ZoneEvent(
        tag: tag, kind: .entered(zone: zone.id), happened: crossing.time,
        happenedDeviation: crossing.deviation, decided: time)
    case .left(let crossing, let dwell):
      ZoneEvent(
        tag: tag, kind: .left(zone: zone.id, dwell: dwell), happened: crossing.time,
        happenedDeviation: crossing.deviation, decided: time)
    }
  }
}
