// SPDX-License-Identifier: Apache-2.0

package import UWBSite

/// A place of a tag in the history.
///
/// Values are stored in whole millimetres. Variances are rounded up, so that a stored place is
/// never more certain than the measured place.
package struct HistoryPlace: Sendable, Hashable {
  package var tag: String
  /// The time in milliseconds since 1970.
  package var time: Int64
  /// The place, with its time in seconds since 1970.
  package var place: TagPlace

  package init(tag: String, time: Int64, _ place: TagPlace) {
    (self.tag, self.time, self.place) = (tag, time, place)
    self.place.time = Double(time) / 1000
  }

  /// The names of the columns after the tag and the time.
  static let columns = "x, y, z, vx, vy, vz, xx, xy, xz, yy, yz, zz, motion"
  static let columnCount = 13

  /// Reads the columns.
  init(tag: String, time: Int64, columns value: (Int) -> Int64?) {
    func number(_ index: Int, _ unit: Double) -> Double { Double(value(index) ?? 0) / unit }
    let kinds = MotionModel.Kind.allCases
    let code = Int(clamping: value(12) ?? -1)
    let place = TagPlace(
      time: 0, position: SIMD3(number(0, 1e3), number(1, 1e3), number(2, 1e3)),
      velocity: SIMD3(number(3, 1e3), number(4, 1e3), number(5, 1e3)),
      spread: Spread(
        xx: number(6, 1e6), xy: number(7, 1e6), xz: number(8, 1e6), yy: number(9, 1e6),
        yz: number(10, 1e6), zz: number(11, 1e6)),
      // A newer version may have more motion models.
      motion: kinds.indices.contains(code) ? kinds[code] : .walk, moving: code == 0 ? 0 : 1)
    self.init(tag: tag, time: time, place)
  }

  /// Appends the columns.
  func write(to values: inout [Int64]) {
    func whole(_ value: Double, _ unit: Double) -> Int64 {
      Int64(max(-1e15, min(1e15, (value * unit).rounded())))
    }
    // Rounding errors are at most half a mm². The added mm² keeps the matrix positive.
    func variance(_ value: Double) -> Int64 {
      Int64(max(0, min(1e15, (value * 1e6).rounded(.up)))) + 1
    }
    let spread = place.spread
    for axis in 0..<3 { values.append(whole(place.position[axis], 1e3)) }
    for axis in 0..<3 { values.append(whole(place.velocity[axis], 1e3)) }
    values.append(variance(spread.xx))
    values.append(whole(spread.xy, 1e6))
    values.append(whole(spread.xz, 1e6))
    values.append(variance(spread.yy))
    values.append(whole(spread.yz, 1e6))
    values.append(variance(spread.zz))
    values.append(Int64(MotionModel.Kind.allCases.firstIndex(of: place.motion) ?? 1))
  }

  /// Whether all numbers are finite.
  var isUsable: Bool {
    let spread = place.spread
    return (place.position + place.velocity).sum().isFinite
      && (spread.xx + spread.yy + spread.zz).isFinite
      && (spread.xy + spread.xz + spread.yz).isFinite
  }
}

/// An event that is kept permanently: an event of a zone, a door, a floor, a tag or an anchor.
package struct HistoryEvent: Sendable, Hashable {
  /// The time at which the event happened, in milliseconds since 1970.
  package var time: Int64
  /// The time of the decision.
  package var decided: Int64
  /// The tag; nil for changes of anchors and clocks.
  package var tag: String?
  /// The kind of event as a word, such as `entered`.
  package var kind: String
  /// The event as an object of JSON.
  package var body: String

  package init(time: Int64, decided: Int64, tag: String?, kind: String, body: String) {
    (self.time, self.decided, self.tag, self.kind, self.body) = (time, decided, tag, kind, body)
  }
}

/// Records that are written in one transaction.
package struct HistoryBatch: Sendable, Hashable {
  package var places: [HistoryPlace] = []
  package var events: [HistoryEvent] = []
  package var measurements: [HistoryMeasurement] = []
  /// The number of records that were dropped, because the disk was full or too slow.
  var lost = 0

  package init() {}

  package var isEmpty: Bool { places.isEmpty && events.isEmpty && measurements.isEmpty }
  package var count: Int { places.count + events.count + measurements.count }

  mutating func append(_ other: HistoryBatch) {
    places += other.places
    events += other.events
    measurements += other.measurements
    lost += other.lost
  }

  /// Drops the oldest places beyond a number, and measurements beyond eight times this number.
  ///
  /// A round has several measurements. Events are few, and are never dropped.
  mutating func shorten(to most: Int) {
    guard most < .max else { return }
    let surplus = max(0, places.count - most)
    let others = max(0, measurements.count - 8 * most)
    places.removeFirst(surplus)
    measurements.removeFirst(others)
    lost += surplus + others
  }

  /// Divides the records by their days, in order.
  func byDay() -> [(day: UTCDay, batch: HistoryBatch)] {
    var days: [UTCDay: HistoryBatch] = [:]
    for place in places {
      if let day = UTCDay(of: place.time) { days[day, default: .init()].places.append(place) }
    }
    for measurement in measurements {
      guard let day = UTCDay(of: measurement.time / 1000) else { continue }
      days[day, default: .init()].measurements.append(measurement)
    }
    for event in events {
      if let day = UTCDay(of: event.time) { days[day, default: .init()].events.append(event) }
    }
    return days.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }
}
