// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Foundation
internal import Synchronization
internal import UWBSite

/// The data of a run that only pages need: the last measurements, and recent places and events.
final class PageFeed: Sendable {
  /// The number of events that are kept.
  private static let mostEvents = 10_000
  /// The greatest number of places in one reply.
  private static let mostPlaces = 5_000

  private struct State {
    var links: LinkTable
    var places = TimeRing<RecordedPlace>(capacity: RecordedPlace.capacity)
    var events: [(time: Double, text: [UInt8])] = []
    var counters = SiteCounters()
    var newest = 0.0
    var isEnded = false
    /// The numbers of all tags of the run, including tags that are no longer in the site.
    var tags: [String: Int] = [:]
    /// The names of all tags, by their number.
    var names: [JSONValue] = []

    /// Adds the tags that have no number yet.
    mutating func add(_ site: Site) {
      for tag in site.tags where tags[tag.id] == nil {
        tags[tag.id] = names.count
        names.append(.string(tag.id))
      }
    }
  }

  private let run: SiteRun
  private let history: HistoryFolder?
  /// The times of a history without a run, in seconds.
  private let times: ClosedRange<Double>?
  private let queue = DispatchQueue(label: "page history")
  private let state: Mutex<State>

  /// - Parameter times: The times of a history without a run, in milliseconds since 1970.
  init(_ run: SiteRun, history: HistoryFolder?, times: ClosedRange<Int64>? = nil) {
    self.run = run
    // The places of a recording are kept from the start of the page, so its history is not needed.
    self.history = run.isLive || times != nil ? history : nil
    self.times = times.map { Double($0.lowerBound) / 1000...Double($0.upperBound) / 1000 }
    var first = State(links: LinkTable(run.site))
    first.add(run.site)
    state = Mutex(first)
  }

  // MARK: input

  func change(_ site: Site) {
    state.withLock { state in
      state.links = LinkTable(site)
      state.add(site)
    }
  }

  func add(_ batch: SiteBatch) {
    state.withLock { state in
      for measurement in batch.measurements { state.links.add(measurement) }
      for event in batch.events { add(event, &state) }
      state.newest = max(state.newest, batch.now)
      state.counters = batch.counters
    }
  }

  private func add(_ event: SiteEvent, _ state: inout State) {
    switch event.kind {
    case .place(let name, let place, _):
      guard let tag = state.tags[name] else { return }
      state.places.add(.init(tag: tag, place, isRefused: false))
    case .refused(let name, _, let place):
      guard let tag = state.tags[name] else { return }
      state.places.add(.init(tag: tag, place, isRefused: true))
    default:
      let json = event.json
      var time = event.decided
      if case .number(let happened)? = json["t"] { time = happened }
      if state.events.count >= Self.mostEvents { state.events.removeFirst(Self.mostEvents / 2) }
      state.events.append((time, Array(json.description.utf8)))
    }
  }

  func finish() { state.withLock { $0.isEnded = true } }

  // MARK: output

  /// Returns the residuals of the anchors, the counters, and the measurements of a tag as JSON.
  ///
  /// - Parameter time: The time of the measurements; nil for the present.
  func links(tag: String?, at time: Double?) -> [UInt8] {
    let members = state.withLock { state in
      state.links.json(tag: tag, at: time) + [JSONMember("counters", state.counters.json)]
    }
    return Array(JSONValue.object(members).description.utf8)
  }

  /// Returns the time range that a page can show, as members of an object of JSON.
  func extent() async -> [JSONMember] {
    if let times {
      return [
        JSONMember("from", .number(times.lowerBound)), JSONMember("to", .number(times.upperBound)),
        JSONMember("ended", .bool(true)), JSONMember("live", .bool(false)),
      ]
    }
    let (first, newest, isEnded) = state.withLock { state in
      (state.places.count > 0 ? state.places[0].time : nil, state.newest, state.isEnded)
    }
    var earliest = first
    if let history {
      let day = await perform { try? History(history).days.first }
      if let day { earliest = min(first ?? .infinity, Double(day.start) / 1000 - run.epoch) }
    }
    return [
      JSONMember("from", earliest.map(JSONValue.number) ?? .null),
      JSONMember("to", .number(newest)), JSONMember("ended", .bool(isEnded)),
      JSONMember("live", .bool(run.isLive)),
    ]
  }

  /// Returns the places and the events of a time range as JSON, at most 5,000 places.
  ///
  /// `next` is the time from which the rest follows; null at the end.
  func record(from start: Double, to end: Double) async -> [UInt8] {
    let oldest = state.withLock { $0.places.count > 0 ? $0.places[0].time : .infinity }
    if start < oldest, let history {
      let run = run
      let (tags, names) = state.withLock { ($0.tags, JSONValue.array($0.names)) }
      let stop = min(end, oldest)
      let part = await perform { Self.old(history, run, tags, start, stop) }
      return part.text(next: part.next ?? (stop < end ? stop : nil), names)
    }
    return state.withLock { state in
      var part = RecordPart()
      var index = state.places.index(from: start)
      while index < state.places.count, state.places[index].time < end {
        guard part.count < Self.mostPlaces else {
          part.next = state.places[index].time
          break
        }
        part.add(state.places[index])
        index += 1
      }
      let stop = part.next ?? end
      for event in state.events where event.time >= start && event.time < stop {
        part.add(event.text)
      }
      return part.text(next: part.next, .array(state.names))
    }
  }

  /// Calls a body that reads files.
  private func perform<R: Sendable>(_ body: @escaping @Sendable () -> R) async -> R {
    await withCheckedContinuation { continuation in
      queue.async { continuation.resume(returning: body()) }
    }
  }

  /// Reads the history from before the kept places.
  private static func old(
    _ folder: HistoryFolder, _ run: SiteRun, _ tags: [String: Int], _ start: Double, _ end: Double
  ) -> RecordPart {
    var part = RecordPart()
    var query = History.Query()
    query.from = milliseconds(start + run.epoch)
    query.to = milliseconds(end + run.epoch)
    guard let history = try? History(folder) else { return part }
    for day in history.days(query) where part.next == nil {
      try? history.places(query, day) { record in
        let time = Double(record.time) / 1000 - run.epoch
        guard part.count < mostPlaces else {
          part.next = time
          return false
        }
        guard let tag = tags[record.tag] else { return true }
        var place = record.place
        place.time = time
        part.add(RecordedPlace(tag: tag, place, isRefused: false))
        return true
      }
    }
    if let next = part.next { query.to = milliseconds(next + run.epoch) }
    for day in history.days(query) {
      try? history.events(query, day) { event in
        let time = Double(event.time) / 1000 - run.epoch
        guard case .object(let members)? = try? JSONValue(Array(event.body.utf8)) else {
          return true
        }
        let own = [JSONMember("t", .number(time))] + members.filter { $0.name != "t" }
        part.add(Array(JSONValue.object(own).description.utf8))
        return true
      }
    }
    return part
  }

  /// Converts a time that a page has sent, which may be any number.
  private static func milliseconds(_ seconds: Double) -> Int64 {
    Int64(1000 * min(max(seconds, -1e12), 1e12))
  }
}

/// A reply with places and events of a time.
private struct RecordPart: Sendable {
  private(set) var count = 0
  private var places: [UInt8] = []
  private var events: [UInt8] = []
  var next: Double?

  mutating func add(_ place: RecordedPlace) {
    if count > 0 { places.append(UInt8(ascii: ",")) }
    place.append(to: &places)
    count += 1
  }

  mutating func add(_ event: [UInt8]) {
    if !events.isEmpty { events.append(UInt8(ascii: ",")) }
    events += event
  }

  func text(next: Double?, _ tags: JSONValue) -> [UInt8] {
    var text = Array(#"{"tags":\#(tags),"places":["#.utf8) + places + #"],"events":["#.utf8 + events
    text += #"],"next":\#(next.map(JSONValue.number) ?? .null)}"#.utf8
    return text
  }
}
