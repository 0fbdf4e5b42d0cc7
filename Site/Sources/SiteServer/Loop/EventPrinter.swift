// SPDX-License-Identifier: Apache-2.0

internal import UWBSite

/// Writes events as lines.
package final class EventPrinter: SiteSink {
  package enum Format: Sendable, Hashable { case text, json }

  /// The size in bytes at which output of a recording is written.
  private static let chunk = 32_768

  private let format: Format
  private let write: (String) throws(SinkFailure) -> Void
  private let report: (String) -> Void
  private var isLive = false
  private var output = ""
  /// The tags whose places are currently refused, which only the text format needs.
  private var refused: Set<String> = []

  /// - Parameters:
  ///   - write: writes text to the output.
  ///   - report: writes a line about the input, which does not belong to the output.
  package init(
    _ format: Format, write: @escaping (String) throws(SinkFailure) -> Void,
    report: @escaping (String) -> Void
  ) {
    (self.format, self.write, self.report) = (format, write, report)
  }

  package func begin(_ run: SiteRun) { isLive = run.isLive }

  package func receive(_ batch: SiteBatch) throws(SinkFailure) {
    for event in batch.events { add(event) }
    if isLive || output.utf8.count > Self.chunk { try flush() }
  }

  package func finish(_ counters: SiteCounters) throws(SinkFailure) {
    try flush()
    report(counters.description)
  }

  private func add(_ event: SiteEvent) {
    if let sentence = event.report { report(sentence) }
    if case .bad = event.kind { return }
    guard format == .text else {
      output += event.json.description + "\n"
      return
    }
    // A refused tag is printed once. It is printed again after the tag had a place.
    if case .place(let tag, _, _) = event.kind { refused.remove(tag) }
    if case .refused(let tag, _, _) = event.kind, !refused.insert(tag).inserted { return }
    if let line = event.text { output += line + "\n" }
  }

  private func flush() throws(SinkFailure) {
    guard !output.isEmpty else { return }
    try write(output)
    output.removeAll(keepingCapacity: true)
  }
}

extension SiteCounters: CustomStringConvertible {
  /// The counters in one line.
  package var description: String {
    var words = [
      "\(measurements + failed + bad) lines", "\(places) places",
      "\(engine.used) measurements used",
    ]
    for (count, word) in [
      (engine.waiting, "before the first place"), (engine.rejected, "outliers"),
      (engine.late, "late"), (engine.repeated, "repeated"),
      (engine.unusable, "unusable"), (unknown, "of unknown boards"), (withoutTag, "without a tag"),
      (failed, "without a measurement"), (lost, "lost since they came too fast"),
      (bad, "bad lines"),
    ] where count > 0 { words.append("\(count) \(word)") }
    return words.joined(separator: ", ")
  }
}
