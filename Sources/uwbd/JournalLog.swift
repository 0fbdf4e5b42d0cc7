// SPDX-License-Identifier: Apache-2.0
import Glibc
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
    // In one piece: several threads write.
    _ = write(STDERR_FILENO, line, line.count)
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
