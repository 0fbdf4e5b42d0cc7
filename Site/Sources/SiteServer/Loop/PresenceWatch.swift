// SPDX-License-Identifier: Apache-2.0

internal import UWBSite

/// The zones, floors and doors of all tags, from the places and the ranges of an engine.
struct PresenceWatch {
  /// The changes that a place causes.
  struct Changes {
    var isFound = false
    var floor: String?
    var events: [SiteEvent.Kind] = []
  }

  private var zones: ZoneMonitor
  private var zoneNames: [String]
  private var counts: [String: Int] = [:]
  private var inside: [[String]]
  private var isLost: [Bool]
  private var floors: FloorWatch
  private var doors: [DoorPair]

  init(_ site: Site, _ engine: Engine) {
    zones = ZoneMonitor(site.zones)
    zoneNames = site.zones.map(\.id)
    inside = Array(repeating: [], count: engine.tags.count)
    isLost = Array(repeating: false, count: engine.tags.count)
    floors = FloorWatch(site, engine)
    doors = site.doors.compactMap { DoorPair($0, engine) }
  }

  /// The zones, floors and sides of doors of all tags.
  struct State: Sendable, Codable {
    fileprivate var zones: ZoneMonitor.State
    fileprivate var counts: [String: Int]
    fileprivate var inside: [[String]]
    fileprivate var isLost: [Bool]
    fileprivate var floors: FloorWatch.State
    fileprivate var doors: [[Int: DoorPair.Near]]
  }

  var state: State {
    State(
      zones: zones.state, counts: counts, inside: inside, isLost: isLost, floors: floors.state,
      doors: doors.map(\.tags))
  }

  /// Continues a saved state of the same site; returns false if it does not fit.
  mutating func resume(_ state: State) -> Bool {
    var next = self
    let names = Set(zoneNames)
    guard state.inside.count == inside.count, state.isLost.count == isLost.count,
      state.inside.allSatisfy(names.isSuperset), state.doors.count == doors.count,
      state.counts.values.allSatisfy({ 0...inside.count ~= $0 }), next.zones.resume(state.zones),
      next.floors.resume(state.floors)
    else { return false }
    (next.counts, next.inside, next.isLost) = (state.counts, state.inside, state.isLost)
    for index in doors.indices { next.doors[index].resume(state.doors[index]) }
    self = next
    return true
  }

  /// Returns the zones that each tag is in, by the name of the tag.
  func zones(_ engine: Engine) -> [String: [String]] {
    Dictionary(zip(engine.tags.map(\.name), inside)) { one, _ in one }.filter { !$1.isEmpty }
  }

  /// Replaces the site. Tags keep their zones, floors and sides of doors, if the new site still has
  /// them.
  ///
  /// - Parameter engines: the engines before and after the change.
  /// - Returns: the ends of presences in removed zones, and of removed tags.
  mutating func replace(
    _ site: Site, _ engines: (old: Engine, new: Engine), at time: Double
  ) -> [SiteEvent.Kind] {
    let (old, new) = engines
    let names = Set(new.tags.map(\.name))
    let numbers = Dictionary(old.tags.enumerated().map { ($1.name, $0) }) { one, _ in one }
    let events = zones.replace(site.zones, tags: names, at: time).compactMap { event in
      numbers[event.tag].map { SiteEvent.Kind.zone(change(event, $0)) }
    }
    var next = PresenceWatch(site, new)
    (next.zones, next.counts) = (zones, counts.filter { next.zoneNames.contains($0.key) })
    for (index, tag) in new.tags.enumerated() {
      guard let number = numbers[tag.name] else { continue }
      (next.inside[index], next.isLost[index]) = (inside[number], isLost[number])
      next.floors.keep(index, of: floors, number)
      for door in next.doors.indices {
        if let former = doors.first(where: { $0.isSame(as: next.doors[door]) }) {
          next.doors[door].keep(index, of: former, number)
        }
      }
    }
    self = next
    return events
  }

  /// Adds a range of a tag.
  mutating func add(
    _ range: Double, deviation: Double, _ tag: Int, _ anchor: Int, _ time: Double, _ engine: Engine
  ) -> [SiteEvent.Kind] {
    floors.note(tag, anchor, time)
    var events: [SiteEvent.Kind] = []
    for index in doors.indices where doors[index].has(anchor) {
      let length = range - engine.anchors[anchor].delay
      events += doors[index].add(length, deviation, tag, anchor, time).map {
        .door(
          DoorChange(
            tag: engine.tags[tag].name, door: doors[index].name, kind: $0.kind, happened: time,
            outside: $0.outside))
      }
    }
    return events
  }

  /// Adds a place of a tag.
  mutating func add(_ place: TagPlace, _ tag: Int, _ engine: Engine) -> Changes {
    let name = engine.tags[tag].name
    var changes = Changes(isFound: isLost[tag])
    isLost[tag] = false
    if let change = floors.add(place, tag, zones, engine) {
      changes.events.append(.floor(tag: name, change))
    }
    changes.floor = floors.floor(of: tag)
    guard !zoneNames.isEmpty else { return changes }
    let estimate = PlaneEstimate(
      mean: SIMD2(place.position.x, place.position.y), xx: place.spread.xx, xy: place.spread.xy,
      yy: place.spread.yy)
    for event in zones.update(name, at: place.time, estimate, floor: changes.floor) {
      changes.events.append(.zone(change(event, tag)))
    }
    return changes
  }

  private mutating func change(_ event: ZoneEvent, _ tag: Int) -> ZoneChange {
    let (zone, side): (String, ZoneChange.Side)
    switch event.kind {
    case .entered(let name): (zone, side) = (name, .entered)
    case .left(let name, let dwell): (zone, side) = (name, .left(dwell: dwell))
    }
    if case .entered = side {
      inside[tag].append(zone)
      counts[zone, default: 0] += 1
    } else {
      inside[tag].removeAll { $0 == zone }
      counts[zone, default: 1] -= 1
    }
    return ZoneChange(
      tag: event.tag, zone: zone, side: side, happened: event.happened,
      happenedDeviation: event.happenedDeviation, count: counts[zone] ?? 0)
  }

  /// Notes that a tag is lost; returns its last zones.
  mutating func lose(_ tag: Int) -> [String] {
    isLost[tag] = true
    return inside[tag]
  }
}

/// The two boards of a door, with the tags near it.
struct DoorPair {
  /// The greatest time in seconds between the two ranges of one round.
  private static let round = 0.15

  fileprivate struct Near: Sendable, Codable {
    var watch: DoorWatch
    var inside: Reading?
    var outside: Reading?
    var side = DoorWatch.Side.unsure
  }

  fileprivate struct Reading: Sendable, Codable {
    var range: Double
    var time: Double
  }

  let name: String
  private let insideAnchor: Int
  private let outsideAnchor: Int
  private let separation: Double
  fileprivate private(set) var tags: [Int: Near] = [:]

  /// Creates the pair; nil for a door without two boards that have places.
  init?(_ door: Site.Door, _ engine: Engine) {
    func anchor(_ name: String?) -> Int? { engine.anchors.firstIndex { $0.name == name } }
    guard let inside = anchor(door.insideAnchor), let outside = anchor(door.outsideAnchor) else {
      return nil
    }
    name = door.id
    (insideAnchor, outsideAnchor) = (inside, outside)
    let gap = engine.anchors[inside].place.position - engine.anchors[outside].place.position
    separation = (gap * gap).sum().squareRoot()
    guard separation > 0 else { return nil }
  }

  /// Returns whether both pairs are of the same door, with boards at the same distance.
  func isSame(as other: DoorPair) -> Bool {
    name == other.name && separation == other.separation
  }

  /// Continues with the tags of a saved state.
  fileprivate mutating func resume(_ former: [Int: Near]) {
    tags = former.mapValues { near in
      var near = near
      near.watch = DoorWatch(separation: separation).resumed(near.watch)
      return near
    }
  }

  /// Keeps the side of a tag that had another number before.
  mutating func keep(_ tag: Int, of former: DoorPair, _ number: Int) {
    tags[tag] = former.tags[number]
  }

  func has(_ anchor: Int) -> Bool { anchor == insideAnchor || anchor == outsideAnchor }

  /// Adds a range to one of the boards. The second range of a round leads to a decision.
  mutating func add(
    _ range: Double, _ deviation: Double, _ tag: Int, _ anchor: Int, _ time: Double
  ) -> [(kind: DoorChange.Kind, outside: Double)] {
    var near = tags[tag] ?? Near(watch: DoorWatch(separation: separation))
    defer { tags[tag] = near }
    if anchor == insideAnchor {
      near.inside = Reading(range: range, time: time)
    } else {
      near.outside = Reading(range: range, time: time)
    }
    guard let inside = near.inside, let outside = near.outside,
      abs(inside.time - outside.time) <= Self.round
    else { return [] }
    (near.inside, near.outside) = (nil, nil)
    let unlocks = near.watch.update(
      at: max(inside.time, outside.time), inside: inside.range, outside: outside.range,
      deviation: deviation)
    let state = near.watch.state
    var changes: [(kind: DoorChange.Kind, outside: Double)] = []
    if state.side != .unsure, state.side != near.side {
      near.side = state.side
      changes.append((state.side == .inside ? .inside : .outside, state.outside))
    }
    if unlocks { changes.append((.unlocks, state.outside)) }
    return changes
  }
}
