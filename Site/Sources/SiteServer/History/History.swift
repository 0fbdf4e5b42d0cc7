// SPDX-License-Identifier: Apache-2.0

import UWBSite

/// Reads the history of a folder.
package struct History: Sendable {
  package struct Query: Sendable, Hashable {
    /// The names of the selected tags; empty for all tags.
    package var tags: Set<String> = []
    /// The start of the time range, in milliseconds since 1970.
    package var from: Int64?
    /// The end of the time range, which is not part of it.
    package var to: Int64?
    /// The lower left and the upper right corner of a rectangle, in metres.
    package var area: Area?

    package struct Area: Sendable, Hashable {
      package var least: SIMD2<Double>
      package var greatest: SIMD2<Double>

      package init(_ least: SIMD2<Double>, _ greatest: SIMD2<Double>) {
        (self.least, self.greatest) = (least, greatest)
      }
    }

    package init() {}

    func includes(_ record: HistoryPlace) -> Bool {
      guard let area else { return true }
      let place = record.place.position
      return area.least.x <= place.x && place.x <= area.greatest.x && area.least.y <= place.y
        && place.y <= area.greatest.y
    }

    /// Returns the part of a day that the query selects; nil for none.
    func times(_ day: UTCDay) -> Range<Int64>? {
      let first = max(day.start, from ?? .min)
      let last = min(day.start + UTCDay.milliseconds, to ?? .max)
      return first < last ? first..<last : nil
    }
  }

  /// The content of a day's file.
  package struct Day: Sendable, Hashable {
    package var day: UTCDay
    package var tags: Int
    package var places: Int64
    package var events: Int64
    package var measurements: Int64
    package var octets: Int
    /// The least time between two places of a tag, in milliseconds; 0 before thinning.
    package var thinned: Int64
  }

  package let folder: HistoryFolder
  package let days: [UTCDay]

  /// - Throws: `HistoryFailure` if the folder has no history.
  package init(_ folder: HistoryFolder) throws(HistoryFailure) {
    self.folder = folder
    days = try folder.days()
    guard !days.isEmpty else { throw HistoryFailure(.missing, folder.path) }
  }

  package func summary(_ day: UTCDay) throws(HistoryFailure) -> Day {
    let reader = try DayReader(day, in: folder)
    let counts = try reader.counts()
    return Day(
      day: day, tags: reader.tags.count, places: counts.places, events: counts.events,
      measurements: counts.measurements,
      octets: folder.size(day), thinned: reader.thinned)
  }

  /// Returns the days that a query selects.
  package func days(_ query: Query) -> [UTCDay] { days.filter { query.times($0) != nil } }

  /// Returns the times of the first and the last place that a query selects; nil for none.
  ///
  /// A day whose file cannot be read counts as empty.
  package func extent(_ query: Query) -> ClosedRange<Int64>? {
    func extent(_ day: UTCDay) -> ClosedRange<Int64>? {
      guard let times = query.times(day), let reader = try? DayReader(day, in: folder) else {
        return nil
      }
      return (try? reader.extent(times)) ?? nil
    }
    let days = days(query)
    guard let first = days.lazy.compactMap(extent).first,
      let last = days.reversed().lazy.compactMap(extent).first
    else { return nil }
    return first.lowerBound...last.upperBound
  }

  /// Calls `body` with the places of a day in the order of their times, until it returns false.
  package func places(
    _ query: Query, _ day: UTCDay, _ body: (HistoryPlace) -> Bool
  ) throws(HistoryFailure) {
    guard let times = query.times(day) else { return }
    let reader = try DayReader(day, in: folder)
    let tags = reader.tags.filter { query.tags.isEmpty || query.tags.contains($0.name) }
    guard tags.count != 1 else {
      _ = try reader.places(tag: tags[0], times) { !query.includes($0) || body($0) }
      return
    }
    // The places of many tags are sorted in parts of a day. Days with few places have longer parts.
    var (start, length) = (times.lowerBound, Self.shortestPart)
    while start < times.upperBound {
      let part = start..<min(start + length, times.upperBound)
      var places: [HistoryPlace] = []
      for tag in tags {
        _ = try reader.places(tag: tag, part) {
          if query.includes($0) { places.append($0) }
          return true
        }
      }
      places.sort { ($0.time, $0.tag) < ($1.time, $1.tag) }
      for place in places where !body(place) { return }
      start = part.upperBound
      length =
        places.count < Self.fewPlaces
        ? min(2 * length, UTCDay.milliseconds) : max(length / 2, Self.shortestPart)
    }
  }

  /// The least length of a part in milliseconds.
  private static let shortestPart: Int64 = 10_000
  /// The number of places below which the next part is longer.
  private static let fewPlaces = 10_000

  /// Calls `body` with the events of a day in the order of their times, until it returns false.
  package func events(
    _ query: Query, _ day: UTCDay, _ body: (HistoryEvent) -> Bool
  ) throws(HistoryFailure) {
    guard let times = query.times(day) else { return }
    _ = try DayReader(day, in: folder).events(times) { event in
      let isAsked = query.tags.isEmpty || event.tag.map(query.tags.contains) == true
      return !isAsked || body(event)
    }
  }

  /// Calls `body` with the measurements of a day in the order of their arrival, until it returns
  /// false.
  package func measurements(
    _ query: Query, _ day: UTCDay, _ body: (HistoryMeasurement) -> Bool
  ) throws(HistoryFailure) {
    guard let times = query.times(day) else { return }
    _ = try DayReader(day, in: folder).measurements(Self.microseconds(times)) { record in
      let isAsked = query.tags.isEmpty || query.tags.contains(record.line.tag)
      return !isAsked || body(record)
    }
  }

  static func microseconds(_ times: Range<Int64>) -> Range<Int64> {
    times.lowerBound * 1000..<times.upperBound * 1000
  }
}
