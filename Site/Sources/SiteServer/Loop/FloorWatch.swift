// SPDX-License-Identifier: Apache-2.0

internal import UWBSite

/// The floors of all tags, determined from the anchors in range.
struct FloorWatch {
  /// The seconds without any range after which an anchor counts as switched off.
  private static let silence = 10.0

  private let floors: [Site.Floor]
  private let rules = FloorFilter.Rules()
  /// The floor of each anchor.
  private let anchorFloors: [String?]
  private let connections: [String]
  /// The time of the last range of each anchor with any tag.
  private var alive: [Double]
  /// The time of the last range of each anchor with each tag.
  private var reached: [[Double]]
  private var filters: [FloorFilter]

  init(_ site: Site, _ engine: Engine) {
    // A single floor needs no decision.
    floors = site.floors.count > 1 ? site.floors : []
    anchorFloors = engine.anchors.map { anchor in
      site.anchors.first { $0.id == anchor.name }?.floor
    }
    connections = site.zones.filter { !$0.connectedFloors.isEmpty }.map(\.id)
    alive = Array(repeating: -.infinity, count: engine.anchors.count)
    let tags = floors.isEmpty ? 0 : engine.tags.count
    reached = Array(repeating: alive, count: tags)
    filters = Array(repeating: FloorFilter(floors), count: tags)
  }

  /// The floors of all tags, and the times of ranges by anchors.
  struct State: Sendable, Codable {
    var alive: [Double]
    var reached: [[Double]]
    var filters: [FloorFilter]
  }

  var state: State { State(alive: alive, reached: reached, filters: filters) }

  /// Continues a saved state of the same site; returns false if it does not fit.
  mutating func resume(_ state: State) -> Bool {
    guard state.alive.count == alive.count, state.reached.count == reached.count,
      state.reached.allSatisfy({ $0.count == alive.count }), state.filters.count == filters.count
    else { return false }
    let resumed = zip(filters, state.filters).compactMap { $0.resumed($1) }
    guard resumed.count == filters.count else { return false }
    (alive, reached, filters) = (state.alive, state.reached, resumed)
    return true
  }

  /// Keeps the floor of a tag that had another number before, unless the floors have changed.
  mutating func keep(_ tag: Int, of former: FloorWatch, _ number: Int) {
    guard !floors.isEmpty, floors == former.floors else { return }
    filters[tag] = former.filters[number]
  }

  /// Notes a range between a tag and an anchor.
  mutating func note(_ tag: Int, _ anchor: Int, _ time: Double) {
    guard !floors.isEmpty else { return }
    alive[anchor] = max(alive[anchor], time)
    reached[tag][anchor] = max(reached[tag][anchor], time)
  }

  func floor(of tag: Int) -> String? { floors.isEmpty ? nil : filters[tag].floor }

  /// Adds a place of a tag.
  mutating func add(
    _ place: TagPlace, _ tag: Int, _ zones: ZoneMonitor, _ engine: Engine
  ) -> FloorFilter.Change? {
    guard !floors.isEmpty else { return nil }
    let name = engine.tags[tag].name
    let connection = connections.map { zones.probability(name, in: $0) ?? 0 }.max() ?? 0
    return filters[tag].update(
      at: place.time, evidence(place, tag, engine), connection: connection)
  }

  /// Returns the anchors with a range within the last second, and equally near anchors without a
  /// range.
  ///
  /// Tags often range only with the nearest anchors, so a missing range to a farther anchor means
  /// nothing.
  private func evidence(_ place: TagPlace, _ tag: Int, _ engine: Engine) -> FloorEvidence {
    func distance(_ anchor: Int) -> Double {
      let arm = engine.anchors[anchor].place.position - place.position
      return (arm.x * arm.x + arm.y * arm.y).squareRoot()
    }
    func isReached(_ anchor: Int) -> Bool {
      place.time - reached[tag][anchor] <= rules.memory
    }
    let farthest = reached[tag].indices.filter(isReached).map(distance).max() ?? 0
    var evidence = FloorEvidence()
    for (anchor, floor) in anchorFloors.enumerated() {
      guard let floor, place.time - alive[anchor] <= Self.silence else { continue }
      let isReached = isReached(anchor)
      guard isReached || distance(anchor) <= farthest else { continue }
      evidence.anchors.append(FloorEvidence.Anchor(floor: floor, isReached: isReached))
    }
    if case .free = engine.tags[tag].height, place.spread.zz > 0 {
      evidence.height = place.position.z
      evidence.heightDeviation = place.spread.zz.squareRoot()
    }
    return evidence
  }
}
