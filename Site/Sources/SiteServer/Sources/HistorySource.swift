// SPDX-License-Identifier: Apache-2.0

internal import UWBSite

/// The measurements of a history, day by day. A changed site leads to different places.
struct RecordedMeasurements: Recording {
  /// The number of measurements that are read together.
  private static let part = 4096

  private let history: History
  private var days: ArraySlice<UTCDay>
  /// The number of the last returned measurement of the first remaining day.
  private var number: Int64 = 0
  private var items: ArraySlice<SourceItem> = []

  init(_ folder: HistoryFolder) throws(HistoryFailure) {
    history = try History(folder)
    days = history.days[...]
  }

  mutating func next() -> SourceItem? {
    while items.isEmpty, let day = days.first {
      do throws(HistoryFailure) { try read(day) } catch {
        nextDay()
        return .bad("\(error)")
      }
    }
    return items.popFirst()
  }

  private mutating func read(_ day: UTCDay) throws(HistoryFailure) {
    guard let times = History.Query().times(day) else { return nextDay() }
    var found: [SourceItem] = []
    let last = try DayReader(day, in: history.folder).measurements(
      History.microseconds(times), after: number, most: Self.part
    ) { record in
      found.append(.measurement(record.line))
      return true
    }
    items = found[...]
    guard let last else { return nextDay() }
    number = last
  }

  private mutating func nextDay() {
    days = days.dropFirst()
    number = 0
  }
}
