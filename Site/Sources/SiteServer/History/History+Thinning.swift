// SPDX-License-Identifier: Apache-2.0

/// A thinned copy of a day, which can replace its file.
package struct ThinnedDay: Sendable {
  package let day: UTCDay
  /// The number of places before thinning.
  package let before: Int
  /// The number of places after thinning.
  package let after: Int
  private let folder: HistoryFolder
  private let copy: String
  private let stamp: [Int]

  /// Copies a day.
  init(_ day: UTCDay, in folder: HistoryFolder, interval: Int64) throws(HistoryFailure) {
    (self.day, self.folder) = (day, folder)
    copy = folder.file(day) + ".new"
    // The log must be empty before another file replaces this one.
    try DayFile(day, in: folder).close(isComplete: true)
    guard !folder.hasLog(day) else {
      throw HistoryFailure(.busy, folder.file(day), "it reads the file")
    }
    stamp = HistoryFolder.stamp(folder.file(day))
    HistoryFolder.remove(copy)
    do {
      (before, after) = try DayReader(day, in: folder).write(thinnedTo: interval, file: copy)
    } catch {
      HistoryFolder.remove(copy)
      throw error
    }
  }

  /// Replaces the file of the day, unless something was written to it.
  package func replace() throws(HistoryFailure) {
    let file = folder.file(day)
    guard !folder.hasLog(day), HistoryFolder.stamp(file) == stamp else {
      HistoryFolder.remove(copy)
      throw HistoryFailure(.busy, file, "it writes to the file")
    }
    try HistoryFolder.rename(copy, file)
  }
}

extension History {
  /// Returns the interval in milliseconds to which a day is to be thinned; nil for none.
  ///
  /// Ages count from the newest day, so that a history without a run does not change.
  private func due(_ day: UTCDay) throws(HistoryFailure) -> Int64? {
    guard let newest = days.last else { return nil }
    let interval = Thinning.interval(ageInDays: newest.number - day.number)
    guard interval > 0, try DayReader(day, in: folder).thinned < interval else { return nil }
    return interval
  }

  /// Makes a thinned copy of a day; nil if the day is already thin enough for its age.
  package func thinned(_ day: UTCDay) throws(HistoryFailure) -> ThinnedDay? {
    guard let interval = try due(day) else { return nil }
    return try ThinnedDay(day, in: folder, interval: interval)
  }

  /// Moves the logs of all days before the newest one into their files, after a killed run.
  func complete() {
    for day in days.dropLast() where folder.hasLog(day) {
      try? DayFile(day, in: folder).close(isComplete: true)
    }
  }
}
