// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Formats
import Glibc
import System
import Logging
import UCI
import UWBLink

/// Writes log messages to standard error, or to the journal with fields.
///
/// If standard error is the journal, messages have fields such as `UWB_CHIP`, `UWB_SESSION` and
/// `UWB_PEER_PID` (systemd.journal-fields(7)).
struct JournalLog: LogHandler {
  var metadata: Logger.Metadata = [:]
  var logLevel: Logger.Level

  /// Whether standard error is the journal, from JOURNAL_STREAM (systemd.exec(5)).
  private static let isJournal: Bool = {
    var status = stat()
    guard let stream = unsafe getenv("JOURNAL_STREAM"), unsafe fstat(STDERR_FILENO, &status) == 0
    else {
      return false
    }
    return unsafe String(cString: stream) == "\(status.st_dev):\(status.st_ino)"
  }()

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let all = metadata.merging(event.metadata ?? [:]) { $1 }.sorted { $0.key < $1.key }
      .map { ($0.key, "\($0.value)") }
    let details = all.filter { $0.0 != "MESSAGE_ID" }.map { " \($0)=\($1)" }.joined()
    let text = printable("\(event.message)\(details)")
    let line = Array("\(Self.isJournal ? "<\(priority(event.level))>" : "uwbd: ")\(text)\n".utf8)
    Self.write(
      line, Self.isJournal ? Self.entry(text, priority(event.level), all) : nil)
  }

  /// Encodes a datagram in the journal's native protocol.
  static func entry(_ text: String, _ priority: Int, _ fields: [(String, String)]) -> [UInt8] {
    let names = ["pid": "UWB_PEER_PID", "MESSAGE_ID": "MESSAGE_ID"]
    let all =
      [("MESSAGE", text), ("PRIORITY", "\(priority)"), ("SYSLOG_IDENTIFIER", "uwbd")]
      + fields.map { (names[$0] ?? "UWB_\($0.uppercased())", $1) }
    return all.flatMap { name, value -> [UInt8] in
      let bytes = Array(value.utf8)
      guard bytes.contains(0x0A) else { return Array("\(name)=".utf8) + bytes + [0x0A] }
      return Array("\(name)\n".utf8) + UInt64(bytes.count).littleEndianBytes + bytes + [0x0A]
    }
  }

  /// Sends an entry to the journal, and returns whether the journal accepted it.
  private static func send(_ entry: [UInt8]) -> Bool {
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    defer { close(descriptor) }
    return unsafe withUnixAddress("/run/systemd/journal/socket") {
      unsafe sendto(descriptor, entry, entry.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT), $0, $1)
    } == entry.count
  }

  /// The number of messages in the queue, and the number of messages dropped because the queue was
  /// full. Standard error may be a pipe without a reader, which must not block the service.
  private static let waiting = Locked((count: 0, lost: 0))
  private static let queue = DispatchQueue(label: "log")
  private static let mostWaiting = 1_000

  /// Queues a message, or drops it if the queue is full.
  ///
  /// - Parameter entry: The journal entry; `line` is written if the journal rejects the entry.
  private static func write(_ line: [UInt8], _ entry: [UInt8]?) {
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
      // A line is written with one call, so that lines of several processes do not mix.
      if entry.map(send) != true { _ = unsafe Glibc.write(STDERR_FILENO, line, line.count) }
      if lost > 0 {
        let note = Array(
          "\(isJournal ? "<4>" : "uwbd: ")\(counted(lost, "message was", "messages were")) lost\n"
            .utf8)
        _ = unsafe Glibc.write(STDERR_FILENO, note, note.count)
      }
      waiting.withLock { $0.count -= 1 }
    }
  }

  /// Returns when all messages are written, or after half a second.
  static func finish() async {
    let end = Latch()
    let timer = OneShotTimer(after: .milliseconds(500)) { end.open() }
    // The queue runs this block after its messages.
    queue.async { end.open() }
    await end.wait()
    timer.cancel()
  }

  /// Returns the priority as syslog(3) numbers it.
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
