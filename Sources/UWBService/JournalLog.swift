// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import Locking
import Logging
import UWBLab

/// Writes to standard error: for the journal with its priorities, which has the time itself.
struct JournalLog: LogHandler {
  var metadata: Logger.Metadata = [:]
  var logLevel: Logger.Level

  /// Whether standard error is the journal: systemd.exec(5), JOURNAL_STREAM.
  private static let isJournal: Bool = {
    var status = stat()
    guard let stream = getenv("JOURNAL_STREAM"), fstat(STDERR_FILENO, &status) == 0 else {
      return false
    }
    return String(cString: stream) == "\(status.st_dev):\(status.st_ino)"
  }()

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let all = metadata.merging(event.metadata ?? [:]) { $1 }.sorted { $0.key < $1.key }
    let details = all.map { " \($0.key)=\($0.value)" }.joined()
    let beginning = Self.isJournal ? "<\(priority(event.level))>" : "uwbd: "
    let line = Array("\(beginning)\(printable("\(event.message)\(details)"))\n".utf8)
    Self.write(line)
  }

  /// Messages that wait to be written, and how many were lost since: standard error may be a pipe that
  /// nobody reads, which holds up nothing here.
  private static let waiting = Locked((count: 0, lost: 0))
  private static let queue = DispatchQueue(label: "log")
  private static let mostWaiting = 1_000

  private static func write(_ line: [UInt8]) {
    let isTaken = waiting.withLock { waiting in
      guard waiting.count < mostWaiting else {
        waiting.lost += 1
        return false
      }
      waiting.count += 1
      return true
    }
    guard isTaken else { return }
    queue.async {
      let lost = waiting.withLock { waiting in
        defer { waiting.lost = 0 }
        return waiting.lost
      }
      // In one piece, for others that write there.
      _ = Glibc.write(STDERR_FILENO, line, line.count)
      if lost > 0 {
        let note = Array("\(isJournal ? "<4>" : "uwbd: ")\(lost) messages were lost\n".utf8)
        _ = Glibc.write(STDERR_FILENO, note, note.count)
      }
      waiting.withLock { $0.count -= 1 }
    }
  }

  /// Returns when everything is written, or half a second later when nobody reads it.
  static func finish() async {
    for _ in 0..<50 where waiting.withLock({ $0.count }) > 0 {
      try? await Task.sleep(for: .milliseconds(10))
    }
  }

  /// As syslog(3) numbers them.
  private func priority(_ level: Logger.Level) -> Int {
    switch level {
    case .critical: 2
    case .error: 3
    case .warning: 4
    case .notice: 5
    case .info: 6
    case .debug, .trace: 7
    }
  }
}
