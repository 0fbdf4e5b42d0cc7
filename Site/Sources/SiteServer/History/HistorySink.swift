// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// Records the events of a run in a folder, on its own thread.
package final class HistorySink: SiteSink {
  private let recorder: HistoryRecorder
  private var collector = HistoryCollector(epoch: 0)
  private var isLive = true
  private var isClosed = false
  private let isRaw: Bool

  /// - Parameters:
  ///   - folder: the folder, which is created if it is missing.
  ///   - isRaw: whether measurements are recorded as well.
  ///   - report: writes a line about the disk, from any thread.
  package init(
    _ folder: HistoryFolder, isRaw: Bool = false, report: @escaping @Sendable (String) -> Void
  ) throws(HistoryFailure) {
    self.isRaw = isRaw
    recorder = try HistoryRecorder(folder, report: report)
  }

  package func begin(_ run: SiteRun) {
    collector = HistoryCollector(epoch: run.epoch)
    isLive = run.isLive
  }

  package func receive(_ batch: SiteBatch) {
    for event in batch.events { collector.add(event) }
    if isRaw { for measurement in batch.measurements { collector.add(measurement) } }
    let records = collector.take()
    guard !records.isEmpty else { return }
    // A recording can wait for the disk, unlike a live run.
    recorder.add(records, waits: !isLive)
  }

  package func finish(_ counters: SiteCounters) { close() }

  /// Writes the last records, even if the run has failed.
  package func close() {
    guard !isClosed else { return }
    isClosed = true
    recorder.finish(unusable: collector.unusable)
  }
}

/// Writes records on its own thread.
final class HistoryRecorder: Sendable {
  /// The seconds from an event to its transaction. With the duration of the transaction, a crash
  /// loses less than a second.
  private static let delay = 0.5
  /// The number of waiting records above which a recording waits for the disk.
  private static let many = 5000

  private struct Waiting {
    var batch = HistoryBatch()
    var isScheduled = false
  }

  private let folder: HistoryFolder
  private let lock: HistoryLock
  private let report: @Sendable (String) -> Void
  private let waiting = Mutex(Waiting())
  private let writer: Mutex<HistoryWriter>
  private let queue = DispatchQueue(label: "history")
  private let thinning = DispatchQueue(label: "thinning", qos: .background)
  private let start = ContinuousClock.now

  init(
    _ folder: HistoryFolder, report: @escaping @Sendable (String) -> Void
  ) throws(HistoryFailure) {
    try folder.create()
    (self.folder, self.report) = (folder, report)
    lock = try HistoryLock.take(folder)
    writer = Mutex(HistoryWriter(folder))
    thinning.async { [self] in thin() }
  }

  /// Adds records, which are written soon after.
  func add(_ batch: HistoryBatch, waits: Bool) {
    let (isFirst, count) = waiting.withLock { waiting in
      waiting.batch.append(batch)
      waiting.batch.shorten(to: waits ? .max : HistoryWriter.mostWaiting)
      defer { waiting.isScheduled = true }
      return (!waiting.isScheduled, waiting.batch.count)
    }
    if waits, count >= Self.many { return queue.sync { write() } }
    if isFirst { queue.asyncAfter(deadline: .now() + Self.delay) { [self] in write() } }
  }

  /// Writes the last records.
  func finish(unusable: Int) {
    let missing = queue.sync {
      write(isLast: true)
      return writer.withLock { writer in
        writer.close()
        return writer.missing
      }
    }
    if missing > 0 { report("history: \(missing) records are missing") }
    if unusable > 0 { report("history: \(unusable) records without a usable time or place") }
  }

  private func write(isLast: Bool = false) {
    let batch = waiting.withLock { waiting in
      defer { waiting = Waiting() }
      return waiting.batch
    }
    let passed = (ContinuousClock.now - start).components
    let now = Double(passed.seconds) + 1e-18 * Double(passed.attoseconds)
    let (notes, isNewDay) = writer.withLock { writer in
      let former = writer.newest
      return (writer.write(batch, now: now, isLast: isLast), writer.newest != former)
    }
    for note in notes { report("history: \(note)") }
    if isNewDay, !isLast { thinning.async { [self] in thin() } }
  }

  /// Thins the old days. If this fails for a day, it is tried again on another day.
  private func thin() {
    guard let history = try? History(folder) else { return }
    writer.withLock { _ in history.complete() }
    for day in history.days {
      guard let copy = try? history.thinned(day) else { continue }
      writer.withLock { _ in try? copy.replace() }
    }
  }
}
