// SPDX-License-Identifier: Apache-2.0

/// The places of all tags of a site, from the measurements of any number of sources.
///
/// Tags, anchors and sources are named by their index. Time is an input, and events are an output.
/// In steady state, a measurement costs no allocation.
package struct Engine: Sendable {
  package struct Tag: Sendable, Hashable {
    package var name: String
    package var addresses: [String]
    package var carrier: TagTrack.Carrier
    /// The height above the surface of the floor on which the tag is.
    package var height: TagTrack.Height

    package init(
      _ name: String, addresses: [String] = [], carrier: TagTrack.Carrier = .person,
      height: TagTrack.Height
    ) {
      (self.name, self.addresses, self.carrier) = (name, addresses, carrier)
      self.height = height
    }
  }

  package struct Anchor: Sendable, Hashable {
    package var name: String
    package var addresses: [String]
    package var place: TagTrack.Anchor
    /// The metres by which each range to this anchor is too long.
    package var delay: Double

    package init(
      _ name: String, addresses: [String] = [], _ place: TagTrack.Anchor, delay: Double = 0
    ) {
      (self.name, self.addresses, self.place) = (name, addresses, place)
      self.delay = delay
    }
  }

  package enum Node: Sendable, Hashable {
    case tag(Int)
    case anchor(Int)
  }

  package enum Event: Sendable, Hashable {
    case place(tag: Int, TagPlace)
    /// The place is too uncertain to be reported.
    case refused(tag: Int, TagTrack.Refusal, TagPlace)
    /// The tag has been silent for longer than its usual rate explains.
    case lost(tag: Int, since: Double)
    /// An address that is not in the site, reported once.
    case unknown(address: String)
    /// Many tags contradict the place of an anchor; the displacement in metres.
    case anchorMoved(anchor: Int, time: Double, by: SIMD3<Double>)
    /// The ranges of many tags to an anchor do not fit any place.
    case anchorDoubtful(anchor: Int, time: Double)
    case anchorRestored(anchor: Int, time: Double)
    /// The clock of a source was set by this number of seconds.
    case clockSet(source: Int, by: Double)
  }

  /// The numbers of measurements by their effect.
  package struct Counters: Sendable, Hashable {
    package var used = 0
    package var rejected = 0
    package var waiting = 0
    package var late = 0
    package var repeated = 0
    package var unusable = 0
    package var unknown = 0

    package init() {}
  }

  struct Follower: Sendable, Codable {
    var track: TagTrack
    /// Whether the tag has new measurements since the last event.
    var isChanged = false
    /// Whether the tag is in the list of changed tags.
    var isListed = false
    /// Whether measurements arrive, and the tag is not lost.
    var isPresent = false
  }

  /// The number of unknown addresses that are reported; further addresses are only counted. A
  /// faulty source may invent addresses without end.
  static let mostUnknown = 1000
  /// The greatest time in seconds between measurements of one round.
  private static let round = 0.001

  package private(set) var tags: [Tag]
  package private(set) var anchors: [Anchor]
  package private(set) var counters = Counters()
  /// The effect of the last measurement; after a line, the effect of its first measurement.
  package internal(set) var reception = TagTrack.Reception(.unusable)
  private var places: [TagTrack.Anchor]
  private var surfaces: ClosedRange<Double>
  private var nodes: [String: Node] = [:]
  var unknown: Set<String> = []
  var followers: [Follower]
  var watches: [AnchorWatch]
  private var clocks: [SourceClock] = []
  /// Whether the times of recordings are by clocks that agree: an earlier time is late, and no
  /// clock was set.
  package var hasOneClock = false
  var changed: [Int] = []
  private var events: [Event] = []
  /// The newest time of a measurement.
  package internal(set) var newest = -Double.infinity
  /// The time of the next search for lost tags.
  private var nextSearch = -Double.infinity

  /// - Parameter surfaces: the heights of the surfaces of all floors: any of them, because the
  ///   floor of a tag is unknown at first.
  package init(
    tags: [Tag], anchors: [Anchor], surfaces: ClosedRange<Double> = 0...0,
    errors: TagTrack.Errors = .init()
  ) {
    (self.tags, self.anchors, self.surfaces) = (tags, anchors, surfaces)
    places = anchors.map(\.place)
    followers = tags.map {
      Follower(track: TagTrack($0.carrier, $0.height.raised(by: surfaces), errors))
    }
    watches = anchors.map { _ in AnchorWatch() }
    for (index, anchor) in anchors.enumerated() {
      for name in [anchor.name] + anchor.addresses { nodes[name] = .anchor(index) }
    }
    for (index, tag) in tags.enumerated() {
      for name in [tag.name] + tag.addresses { nodes[name] = .tag(index) }
    }
    changed.reserveCapacity(tags.count)
    events.reserveCapacity(2 * tags.count + 64)
  }

  // MARK: input

  /// Returns the tag or anchor with a name or an address; nil for an unknown one.
  package func known(_ address: String) -> Node? {
    // An address can be written in several ways.
    nodes[address] ?? Address(address).flatMap { nodes[$0.description] }
  }

  /// Returns the tag or anchor with a name or an address. An unknown name or address is reported
  /// once.
  package mutating func node(_ address: String) -> Node? {
    if let node = known(address) { return node }
    counters.unknown += 1
    if unknown.count < Self.mostUnknown, unknown.insert(address).inserted {
      events.append(.unknown(address: address))
    }
    return nil
  }

  /// Adds a measurement of a tag.
  ///
  /// - Parameters:
  ///   - source: the index of the source.
  ///   - arrival: seconds by the clock of the engine; nil for recordings.
  /// - Returns: the time for the engine; nil for a rejected measurement.
  @discardableResult
  package mutating func add(
    _ measurement: TagMeasurement, tag: Int, source: Int = 0, arrival: Double? = nil
  ) -> Double? {
    reception = TagTrack.Reception(.late)
    guard let time = read(measurement.time, source, arrival) else {
      counters.late += 1
      return nil
    }
    var measurement = measurement
    measurement.time = time
    measurement.value -= delay(of: measurement)
    let (anchor, reference) = measurement.anchors
    if isNamed(anchor) || isNamed(reference) {
      measurement.deviation = max(measurement.deviation, TagMeasurement.distrusted)
    }
    finishRound(of: tag, before: time)
    reception = followers[tag].track.add(measurement, places)
    guard note(reception, time, tag) else { return nil }
    if case .range(let anchor) = measurement.kind { watch(anchor, reception, tag) }
    return time
  }

  /// Adds the arrivals of one moment of a tag, whose common time is unknown.
  ///
  /// - Parameter time: seconds by the clock of the source.
  /// - Returns: the time for the engine, and the effect of each arrival; nil if they are too late.
  @discardableResult
  package mutating func add(
    _ arrivals: Arrivals, at time: Double, tag: Int, source: Int = 0, arrival: Double? = nil
  ) -> (time: Double, receptions: [TagTrack.Reception])? {
    guard let time = read(time, source, arrival) else {
      counters.late += arrivals.entries.count
      return nil
    }
    var arrivals = arrivals
    for (index, entry) in arrivals.entries.enumerated() where anchors.indices ~= entry.anchor {
      arrivals.entries[index].metres -= anchors[entry.anchor].delay
      if isNamed(entry.anchor) { arrivals.entries[index].deviation = TagMeasurement.distrusted }
    }
    finishRound(of: tag, before: time)
    let receptions = followers[tag].track.add(arrivals, at: time, places)
    for (entry, reception) in zip(arrivals.entries, receptions) where note(reception, time, tag) {
      watch(entry.anchor, reception, tag)
    }
    return (time, receptions)
  }

  /// Forgets the clock of a source that has restarted.
  package mutating func restartClock(of source: Int) {
    if clocks.indices.contains(source) { clocks[source] = SourceClock() }
  }

  /// Converts a time of a source to the time of the engine; nil for a time that nothing confirms.
  private mutating func read(_ time: Double, _ source: Int, _ arrival: Double?) -> Double? {
    if hasOneClock, arrival == nil { return time.isFinite ? time : nil }
    while clocks.count <= source { clocks.append(SourceClock()) }
    guard time.isFinite, let reading = clocks[source].read(time, arrival: arrival) else {
      return nil
    }
    if let change = reading.change { events.append(.clockSet(source: source, by: change)) }
    return reading.time
  }

  /// Reports the place of the last round, which is complete when the next round begins.
  private mutating func finishRound(of tag: Int, before time: Double) {
    if followers[tag].isChanged, time > followers[tag].track.time + Self.round { report(tag) }
  }

  /// Counts a measurement of a tag.
  ///
  /// - Returns: whether the measurement was accepted.
  private mutating func note(_ reception: TagTrack.Reception, _ time: Double, _ tag: Int) -> Bool {
    count(reception.kind)
    guard reception.kind != .late, reception.kind != .repeated, reception.kind != .unusable else {
      return false
    }
    newest = max(newest, time)
    followers[tag].isPresent = true
    followers[tag].isChanged = true
    if !followers[tag].isListed {
      followers[tag].isListed = true
      changed.append(tag)
    }
    return true
  }

  /// Returns the part of a measurement that is caused by the known delays of its anchors.
  private func delay(of measurement: TagMeasurement) -> Double {
    switch measurement.kind {
    case .range(let anchor) where anchors.indices.contains(anchor): anchors[anchor].delay
    case .difference(let first, let second)
    where anchors.indices.contains(first) && anchors.indices.contains(second):
      anchors[second].delay - anchors[first].delay
    default: 0
    }
  }

  private mutating func count(_ kind: TagTrack.Reception.Kind) {
    switch kind {
    case .used: counters.used += 1
    case .rejected: counters.rejected += 1
    case .waiting: counters.waiting += 1
    case .late: counters.late += 1
    case .repeated: counters.repeated += 1
    case .unusable: counters.unusable += 1
    }
  }

  private mutating func watch(_ anchor: Int, _ reception: TagTrack.Reception, _ tag: Int) {
    guard reception.kind == .used || reception.kind == .rejected else { return }
    let arm = followers[tag].track.position - places[anchor].position
    let finding = watches[anchor].add(
      tag: tag, time: newest, direction: arm / max(arm.length, 0.1), residual: reception.residual,
      isOutlier: reception.normalised > 9)
    guard let finding else { return }
    guard finding == .restored || isWorst(anchor) && isProven(by: tag) else { return }
    if finding != .restored { name(anchor) }
    switch finding {
    case .moved(let by): events.append(.anchorMoved(anchor: anchor, time: newest, by: by))
    case .doubtful: events.append(.anchorDoubtful(anchor: anchor, time: newest))
    case .restored: events.append(.anchorRestored(anchor: anchor, time: newest))
    }
  }

  /// Returns whether the place of an anchor is reported as wrong. Its measurements have no effect.
  private func isNamed(_ anchor: Int) -> Bool {
    watches.indices.contains(anchor) && watches[anchor].isNamed
  }

  /// Notes that the place of an anchor is wrong, and forgets the residuals of the other anchors.
  ///
  /// The wrong anchor has distorted the places, and with them the residuals.
  private mutating func name(_ anchor: Int) {
    for other in watches.indices where !watches[other].isNamed { watches[other] = AnchorWatch() }
    watches[anchor].name()
    for tag in followers.indices { followers[tag].track.restart(without: anchor) }
  }

  /// Whether the ranges of a tag can show which anchor is wrong. One range more than the
  /// coordinates shows a contradiction, of which each anchor may be the cause.
  private func isProven(by tag: Int) -> Bool {
    followers[tag].track.surplus { !isNamed($0) } >= 2
  }

  /// Returns whether an anchor has much larger residuals than usual at this site.
  ///
  /// A wrong anchor distorts places, and with them the residuals of other anchors.
  private func isWorst(_ anchor: Int) -> Bool {
    let own = watches[anchor].size
    let others = watches.indices.filter { $0 != anchor && watches[$0].size > 0 }
    guard others.allSatisfy({ watches[$0].isNamed || watches[$0].size < own }) else { return false }
    let sizes = others.map { watches[$0].size }.sorted()
    return sizes.isEmpty || own > 2 * sizes[sizes.count / 2]
  }

  // MARK: another site

  /// Replaces the tags and the anchors by the tags and the anchors of a new engine, after all
  /// events were returned.
  ///
  /// Tags in both engines keep their tracks. A track searches its place again if an anchor that it
  /// uses has moved.
  package mutating func replace(by next: Engine) {
    let numbers = Dictionary(next.anchors.enumerated().map { ($1.name, $0) }) { one, _ in one }
    let successors = anchors.map { numbers[$0.name] }
    let moved = zip(anchors, successors).map { anchor, number in
      guard let other = number.map({ next.anchors[$0] }) else { return false }
      return other.place != anchor.place || other.delay != anchor.delay
    }
    let former = Dictionary(tags.enumerated().map { ($1.name, $0) }) { one, _ in one }
    var followers = next.followers
    for (index, tag) in next.tags.enumerated() {
      guard let old = former[tag.name], tags[old].carrier == tag.carrier else { continue }
      followers[index] = self.followers[old]
      followers[index].isListed = false
      followers[index].track.renumber(anchors: successors, moved: moved)
      if tags[old].height != tag.height || surfaces != next.surfaces {
        followers[index].track.set(height: tag.height.raised(by: next.surfaces))
      }
    }
    var watches = next.watches
    for (old, successor) in successors.enumerated() where !moved[old] {
      if let successor { watches[successor] = self.watches[old] }
    }
    (self.followers, self.watches) = (followers, watches)
    (tags, anchors, places, nodes) = (next.tags, next.anchors, next.places, next.nodes)
    surfaces = next.surfaces
    changed.removeAll(keepingCapacity: true)
  }

  // MARK: output

  /// Reports all events up to a time.
  ///
  /// - Parameters:
  ///   - now: seconds by the clock of the engine; nil for the newest measurement.
  ///   - isComplete: whether all measurements of the last rounds have arrived. Otherwise, the place
  ///     of a round is reported when the next round begins.
  package mutating func drain(
    now: Double? = nil, isComplete: Bool = true, _ body: (Event) -> Void
  ) {
    if isComplete {
      for tag in changed {
        followers[tag].isListed = false
        if followers[tag].isChanged { report(tag) }
      }
      changed.removeAll(keepingCapacity: true)
    }
    let now = now ?? newest
    if now >= nextSearch, now.isFinite {
      nextSearch = now + 0.1
      for tag in followers.indices { findLost(tag, now) }
    }
    for event in events { body(event) }
    events.removeAll(keepingCapacity: true)
  }

  private mutating func report(_ tag: Int) {
    followers[tag].isChanged = false
    let (watches, newest) = (watches, newest)
    switch followers[tag].track.answer(doubt: { watches[$0].doubt(at: newest) }) {
    case .place(let place): events.append(.place(tag: tag, place))
    case .refused(let reason, let place): events.append(.refused(tag: tag, reason, place))
    case .searching: break
    }
  }

  private mutating func findLost(_ tag: Int, _ now: Double) {
    guard followers[tag].isPresent, now > followers[tag].track.lostFrom else { return }
    followers[tag].isPresent = false
    events.append(.lost(tag: tag, since: followers[tag].track.time))
  }

  /// Sets the height of the floor surface below a tag.
  package mutating func set(surface: Double, ofTag tag: Int) {
    followers[tag].track.set(height: tags[tag].height.raised(by: surface...surface))
  }
}
