// SPDX-License-Identifier: Apache-2.0

/// A thinner copy of a day, which can take the place of its file.
package struct ThinnedDay: Sendable {
  package let day: UTCDay
  /// The number of places before and now.
  package let before: Int
  package let after: Int
  private let folder: HistoryFolder
  private let copy: String
  private let stamp: [Int]

  /// Copies a day.
  init(_ day: UTCDay, in folder: HistoryFolder, interval: Int64) throws(HistoryFailure) {
    (self.day, self.folder) = (day, folder)
    copy = folder.file(day) + ".new"
    // Everything has to be in one file before another one takes its name.
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
  /// The days that are to be thinned, with the interval in milliseconds. Ages count from the newest
  /// day, so that a history without a run stays as it is.
  private func due(_ day: UTCDay) throws(HistoryFailure) -> Int64? {
    guard let newest = days.last else { return nil }
    let interval = Thinning.interval(ageInDays: newest.number - day.number)
    guard interval > 0, try DayReader(day, in: folder).thinned < interval else { return nil }
    return interval
  }

  /// Makes a thinner copy of a day; nil if the day is as thin as its age asks for.
  package func thinned(_ day: UTCDay) throws(HistoryFailure) -> ThinnedDay? {
    guard let interval = try due(day) else { return nil }
    return try ThinnedDay(day, in: folder, interval: interval)
  }

  /// Puts the days before the newest one into one file each, after a run that was killed.
  func complete() {
    for day in days.dropLast() where folder.hasLog(day) {
      try? DayFile(day, in: folder).close(isComplete: true)
    }
  }
}
