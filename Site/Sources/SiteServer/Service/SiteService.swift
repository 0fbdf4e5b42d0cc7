// SPDX-License-Identifier: Apache-2.0

internal import UWBSite

/// The current state of a site and its last events, as programs receive them.
///
/// A program has a position in the events and in the places, but no queue. A slow program misses
/// old events and receives their number. It misses places that newer places have replaced.
struct SiteService: Sendable {
  static let protocolVersion = 1
  /// The additions to the interface since version 1.
  static let features = ["site_changed"]
  /// The number of events that are kept.
  static let capacity = 4_096

  struct Tag: Sendable {
    enum Presence: String, Sendable { case silent, present, lost }

    let name: String
    let label: String?
    var presence = Presence.silent
    var zones: [String] = []
    /// The last place.
    var last: SiteEvent.Kind?
    /// The number of the last place among all places of the run.
    var sequence = 0
    /// The number of the last place among all places of the tag.
    var number = 0
    /// The last place as JSON; nil until a program needs it.
    var text: [UInt8]?

    /// Copies the state of a tag from before a change of the site.
    mutating func keep(_ former: Tag) {
      (presence, zones, last) = (former.presence, former.zones, former.last)
      (sequence, number, text) = (former.sequence, former.number, former.text)
    }
  }

  struct Anchor: Sendable {
    let anchor: Site.Anchor
    var state = "good"
    var displacement: SIMD3<Double>?
  }

  struct Door: Sendable {
    let door: Site.Door
    var inside: Set<String> = []
    var outside: Set<String> = []
  }

  /// The random name of the run.
  let run: String
  private(set) var description: SiteRun
  private(set) var tags: [Tag]
  private(set) var anchors: [Anchor]
  private(set) var counts: [String: Int] = [:]
  private(set) var doors: [Door]
  private(set) var counters = SiteCounters()
  /// The number of the last event.
  private(set) var sequence = 0
  /// The number of places of all tags.
  private(set) var placeSequence = 0
  /// The last events as JSON. The index of an event is its number modulo the capacity.
  private var events: [[UInt8]] = []
  private var indices: [String: Int]

  init(_ description: SiteRun, run: String) {
    (self.description, self.run) = (description, run)
    let site = description.site
    tags = site.tags.map { Tag(name: $0.id, label: $0.label) }
    anchors = site.anchors.map { Anchor(anchor: $0) }
    doors = site.doors.map { Door(door: $0) }
    for index in tags.indices { tags[index].zones = description.zones[tags[index].name] ?? [] }
    for zone in description.zones.values.joined() { counts[zone, default: 0] += 1 }
    indices = Dictionary(tags.enumerated().map { ($1.name, $0) }) { first, _ in first }
  }

  func index(of tag: String) -> Int? { indices[tag] }

  // MARK: input

  /// Replaces the site. Tags, anchors and doors in both sites keep their state.
  mutating func change(_ description: SiteRun) {
    var next = SiteService(description, run: run)
    let zones = Set(description.site.zones.map(\.id))
    for index in next.tags.indices {
      guard let former = indices[next.tags[index].name] else { continue }
      next.tags[index].keep(tags[former])
      next.tags[index].zones.removeAll { !zones.contains($0) }
    }
    for index in next.anchors.indices {
      let anchor = next.anchors[index].anchor
      if let former = anchors.first(where: { $0.anchor.id == anchor.id }),
        former.anchor.place == anchor.place
      {
        (next.anchors[index].state, next.anchors[index].displacement) =
          (former.state, former.displacement)
      }
    }
    for index in next.doors.indices {
      if let former = doors.first(where: { $0.door.id == next.doors[index].door.id }) {
        next.doors[index].inside = former.inside.filter { next.indices[$0] != nil }
        next.doors[index].outside = former.outside.filter { next.indices[$0] != nil }
      }
    }
    (tags, anchors, doors, indices) = (next.tags, next.anchors, next.doors, next.indices)
    self.description = description
    counts = counts.filter { zones.contains($0.key) }
  }

  mutating func add(_ batch: SiteBatch) {
    counters = batch.counters
    for event in batch.events { add(event) }
  }

  private mutating func add(_ event: SiteEvent) {
    switch event.kind {
    case .place(let name, _, _), .refused(let name, _, _):
      guard let tag = indices[name] else { return }
      placeSequence += 1
      tags[tag].last = event.kind
      tags[tag].sequence = placeSequence
      tags[tag].number += 1
      tags[tag].text = nil
      tags[tag].presence = .present
      return
    case .lost(let name, _, _): setPresence(.lost, name)
    case .found(let name, _): setPresence(.present, name)
    case .zone(let change): add(change)
    case .door(let change): add(change)
    case .anchorMoved(let name, _, let by): setAnchor(name, "moved", by)
    case .anchorDoubtful(let name, _): setAnchor(name, "doubtful", nil)
    case .anchorRestored(let name, _): setAnchor(name, "good", nil)
    case .floor, .unknownBoard, .clockSet, .source, .siteChanged, .bad: break
    }
    record(event)
  }

  private mutating func setPresence(_ presence: Tag.Presence, _ name: String) {
    if let tag = indices[name] { tags[tag].presence = presence }
  }

  private mutating func setAnchor(_ name: String, _ state: String, _ by: SIMD3<Double>?) {
    guard let index = anchors.firstIndex(where: { $0.anchor.id == name }) else { return }
    (anchors[index].state, anchors[index].displacement) = (state, by)
  }

  private mutating func add(_ change: ZoneChange) {
    counts[change.zone] = change.count
    guard let tag = indices[change.tag] else { return }
    tags[tag].zones.removeAll { $0 == change.zone }
    if case .entered = change.side { tags[tag].zones.append(change.zone) }
  }

  private mutating func add(_ change: DoorChange) {
    guard let index = doors.firstIndex(where: { $0.door.id == change.door }) else { return }
    switch change.kind {
    case .inside:
      doors[index].outside.remove(change.tag)
      doors[index].inside.insert(change.tag)
    case .outside:
      doors[index].inside.remove(change.tag)
      doors[index].outside.insert(change.tag)
    case .unlocks: break
    }
  }

  private mutating func record(_ event: SiteEvent) {
    sequence += 1
    guard case .object(let members) = event.json else { return }
    let number = JSONMember("sequence", .number(Double(sequence)))
    let text = Array(JSONValue.object([number] + members).description.utf8)
    if events.count < Self.capacity {
      events.append(text)
    } else {
      events[(sequence - 1) % Self.capacity] = text
    }
  }

  // MARK: readers

  /// The position of a program.
  struct Reader: Sendable {
    /// The number of the last event that the program has received.
    var event: Int
    /// The number of the last place that the program has received.
    var place = 0
    /// The names of the requested tags; nil for all tags.
    var tags: [String]?
  }

  /// Returns the position after an event of a run. All events of another run are new.
  func reader(after event: Int?, run: String?, tags: [String]? = nil) -> Reader {
    let after = run == nil || run == self.run ? min(event ?? sequence, sequence) : 0
    return Reader(event: max(0, after), tags: tags)
  }

  /// The size in bytes after which the rest follows in the next reply.
  private static let room = 32_768

  /// Returns the reply with everything that is new for a reader; nil if there is nothing.
  ///
  /// - Parameter isFirst: whether a reply without events and places is returned as well.
  mutating func next(_ reader: inout Reader, isFirst: Bool = false) -> [UInt8]? {
    let news = news(for: reader)
    guard isFirst || reader.event < sequence || !news.isEmpty else { return nil }
    let oldest = sequence - events.count + 1
    let lost = max(0, oldest - reader.event - 1)
    var list: [UInt8] = []
    var number = reader.event + lost
    while number < sequence, list.count < Self.room {
      if !list.isEmpty { list.append(UInt8(ascii: ",")) }
      list += events[number % Self.capacity]
      number += 1
    }
    reader.event = number
    var places: [UInt8] = []
    var isComplete = true
    for tag in news {
      guard list.count + places.count < Self.room else {
        isComplete = false
        break
      }
      if !places.isEmpty { places.append(UInt8(ascii: ",")) }
      places += text(of: tag)
      reader.place = tags[tag].sequence
    }
    if isComplete { reader.place = placeSequence }
    var reply = Array(#"{"run":"\#(run)","sequence":\#(number),"lost":\#(lost),"events":["#.utf8)
    reply += list + #"],"places":["#.utf8 + places + "]}".utf8
    return reply
  }

  /// Returns the tags with places that a reader does not have, in the order of these places.
  private func news(for reader: Reader) -> [Int] {
    guard reader.place < placeSequence else { return [] }
    var news: [Int] = []
    if let names = reader.tags {
      news = names.compactMap { indices[$0] }.filter { tags[$0].sequence > reader.place }
    } else {
      for tag in tags.indices where tags[tag].sequence > reader.place { news.append(tag) }
    }
    return news.sorted { tags[$0].sequence < tags[$1].sequence }
  }

  /// Returns the last place of a tag as JSON, which is the same for all programs.
  mutating func text(of tag: Int) -> [UInt8] {
    if let text = tags[tag].text { return text }
    let text = tags[tag].placeText
    tags[tag].text = text
    return text
  }
}
