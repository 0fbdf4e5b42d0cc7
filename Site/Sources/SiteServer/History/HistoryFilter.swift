// SPDX-License-Identifier: Apache-2.0

import UWBSite

/// Selects the places that are recorded. Few places of a resting tag are recorded.
struct DeadBand: Sendable {
  /// The distance in metres after which a new place is recorded.
  var distance = 0.02
  /// The seconds after which a place is recorded even without movement.
  var interval = 1.0
  private var last: [String: (time: Double, position: SIMD3<Double>)] = [:]

  /// Returns whether a place is recorded, and stores a recorded place for the next comparison.
  mutating func keeps(_ tag: String, _ place: TagPlace) -> Bool {
    if let last = last[tag] {
      let way = place.position - last.position
      // A place with a much earlier time is recorded as well, because the clock was set back.
      let isRecent = abs(place.time - last.time) < interval
      if isRecent, (way * way).sum() < distance * distance { return false }
    }
    last[tag] = (place.time, place.position)
    return true
  }
}

/// Converts the events of a run to records.
struct HistoryCollector: Sendable {
  /// The time 0 of the run in seconds since 1970.
  private let epoch: Double
  private var band = DeadBand()
  /// The tags whose places are currently refused. Only the first refusal is recorded.
  private var refused: Set<String> = []
  private var batch = HistoryBatch()
  /// The number of records with a time outside of the calendar, or with numbers that are not
  /// finite.
  private(set) var unusable = 0

  init(epoch: Double) { self.epoch = epoch }

  mutating func add(_ event: SiteEvent) {
    switch event.kind {
    case .place(let tag, let place, _):
      refused.remove(tag)
      guard band.keeps(tag, place) else { return }
      guard let time = HistoryTime.milliseconds(place.time + epoch) else { return unusable += 1 }
      let record = HistoryPlace(tag: tag, time: time, place)
      guard record.isUsable else { return unusable += 1 }
      batch.places.append(record)
    case .refused(let tag, _, let place):
      guard refused.insert(tag).inserted else { return }
      add(event, "refused", tag, place.time)
    case .lost(let tag, let since, _): add(event, "lost", tag, since)
    case .found(let tag, let time): add(event, "found", tag, time)
    case .zone(let change):
      var word = "left"
      if case .entered = change.side { word = "entered" }
      add(event, word, change.tag, change.happened)
    case .floor(let tag, let change): add(event, "floor", tag, change.happened)
    case .door(let change): add(event, "door", change.tag, change.happened)
    case .anchorMoved(_, let time, _): add(event, "anchor_moved", nil, time)
    case .anchorDoubtful(_, let time): add(event, "anchor_doubtful", nil, time)
    case .anchorRestored(_, let time): add(event, "anchor_restored", nil, time)
    case .clockSet: add(event, "clock_set", nil, event.decided)
    case .source: add(event, "source", nil, event.decided)
    case .siteChanged: add(event, "site_changed", nil, event.decided)
    case .unknownBoard, .bad: break
    }
  }

  private mutating func add(_ event: SiteEvent, _ kind: String, _ tag: String?, _ time: Double) {
    guard let happened = HistoryTime.milliseconds(time + epoch),
      let decided = HistoryTime.milliseconds(event.decided + epoch)
    else { return unusable += 1 }
    batch.events.append(
      HistoryEvent(
        time: happened, decided: decided, tag: tag, kind: kind, body: body(event).description))
  }

  /// Returns the event as JSON, with times since 1970.
  private func body(_ event: SiteEvent) -> JSONValue {
    guard case .object(let members) = event.json else { return event.json }
    return .object(
      members.map { member in
        guard ["t", "decided"].contains(member.name), case .number(let time) = member.value else {
          return member
        }
        return JSONMember(member.name, .number(((time + epoch) * 1000).rounded() / 1000))
      })
  }

  mutating func add(_ measurement: SiteMeasurement) {
    batch.measurements += HistoryMeasurement.records(measurement, epoch: epoch)
  }

  /// Returns the records since the last call.
  mutating func take() -> HistoryBatch {
    defer { batch = HistoryBatch() }
    return batch
  }
}

/// Selects the places that an old day keeps: the first place of each tag in each interval.
struct Thinning: Sendable {
  /// The interval in milliseconds; 0 keeps all places.
  let interval: Int64
  private var last: (tag: Int64, slot: Int64)?

  init(interval: Int64) { self.interval = interval }

  /// Returns the interval for a day of an age: 1 s after a week, a minute after a year.
  static func interval(ageInDays age: Int) -> Int64 { age > 365 ? 60_000 : age > 7 ? 1000 : 0 }

  /// Returns whether the next place is kept. Places are sorted by tag and time.
  mutating func keeps(tag: Int64, time: Int64) -> Bool {
    guard interval > 0 else { return true }
    let slot = time / interval
    if let last, last == (tag, slot) { return false }
    last = (tag, slot)
    return true
  }
}
