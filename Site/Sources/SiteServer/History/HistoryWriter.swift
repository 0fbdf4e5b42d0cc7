// SPDX-License-Identifier: Apache-2.0

/// Writes batches to the files of their days.
///
/// If the disk is full or missing, keeps a limited number of records, and tries again. Counts the
/// dropped records.
package struct HistoryWriter: Sendable {
  /// A change of which the user must be informed.
  package enum Note: Sendable, Hashable, CustomStringConvertible {
    case failed(HistoryFailure)
    case setAside(String)
    case resumed(lost: Int)
    /// Records were dropped because the disk works, but is too slow.
    case slow(lost: Int)

    package var description: String {
      switch self {
      case .failed(let failure): "no history until this is solved: \(failure)"
      case .setAside(let file): "a damaged file is \(file) now, and a new one begins"
      case .slow(let lost): "the disk is too slow; \(lost) records are missing"
      case .resumed(lost: 0): "the history goes on; nothing is missing"
      case .resumed(let lost): "the history goes on; \(lost) records are missing"
      }
    }
  }

  /// The seconds between two attempts.
  static let pause = 5.0
  /// The greatest number of records that wait for the next attempt.
  static let mostWaiting = 20_000

  private let folder: HistoryFolder
  private var file: DayFile?
  private var waiting = HistoryBatch()
  /// The time of the next attempt in seconds; nil while the disk works.
  private var retry: Double?
  private(set) var newest: UTCDay?

  package init(_ folder: HistoryFolder) { self.folder = folder }

  /// Writes a batch at a time in seconds.
  ///
  /// - Parameter isLast: Whether no further attempt follows.
  package mutating func write(_ batch: HistoryBatch, now: Double, isLast: Bool = false) -> [Note] {
    waiting.append(batch)
    if let retry, now < retry, !isLast {
      waiting.shorten(to: Self.mostWaiting)
      return []
    }
    do {
      var notes = try writeWaiting()
      let lost = waiting.lost
      if retry != nil { notes.append(.resumed(lost: lost)) }
      if retry == nil, lost > 0 { notes.append(.slow(lost: lost)) }
      (waiting, retry) = (HistoryBatch(), nil)
      return notes
    } catch {
      file?.close(isComplete: false)
      file = nil
      waiting.shorten(to: Self.mostWaiting)
      defer { retry = now + Self.pause }
      return retry == nil ? [.failed(error)] : []
    }
  }

  /// The number of records that have not been written.
  var missing: Int { waiting.count + waiting.lost }

  private mutating func writeWaiting() throws(HistoryFailure) -> [Note] {
    var notes: [Note] = []
    for (day, batch) in waiting.byDay() {
      do { try write(batch, to: day) } catch {
        guard error.kind == .damaged else { throw error }
        file?.close(isComplete: false)
        file = nil
        notes.append(.setAside(try folder.setAside(day)))
        try write(batch, to: day)
      }
      waiting.places.removeAll { UTCDay(of: $0.time) == day }
      waiting.events.removeAll { UTCDay(of: $0.time) == day }
      waiting.measurements.removeAll { UTCDay(of: $0.time / 1000) == day }
    }
    return notes
  }

  private mutating func write(_ batch: HistoryBatch, to day: UTCDay) throws(HistoryFailure) {
    if file?.day != day {
      file?.close(isComplete: true)
      file = nil
      file = try DayFile(day, in: folder)
      newest = max(day, newest ?? day)
    }
    try file?.write(batch)
  }

  package mutating func close() {
    file?.close(isComplete: true)
    file = nil
  }
}
