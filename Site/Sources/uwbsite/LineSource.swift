// SPDX-License-Identifier: Apache-2.0

import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The lines of a file, a pipe or a terminal.
struct LineSource: ~Copyable {
  enum Item {
    case line([UInt8])
    /// No line is there now.
    case pause
    case end
  }

  /// Longer lines are cut, and then no JSON.
  private static let longest = 65_536

  private let descriptor: Int32
  private var buffer: [UInt8] = []
  private var start = 0
  private var isEnded = false
  private var hasPaused = false

  /// Opens a file; `-` is standard input.
  init(_ path: String) throws(CommandFailure) {
    var opened = STDIN_FILENO
    if path != "-" {
      opened = unsafe open(path, O_RDONLY | O_CLOEXEC)
      guard opened >= 0 else {
        let reason = errno == ENOENT ? "there is no such file" : "it cannot be opened"
        throw CommandFailure(.noInput, "\(path): \(reason)")
      }
    }
    descriptor = opened
  }

  deinit { if descriptor != STDIN_FILENO { close(descriptor) } }

  /// Returns the next line; a pause comes before each wait, and at least every tenth of a second.
  mutating func next() throws(CommandFailure) -> Item {
    while true {
      if let end = buffer[start...].firstIndex(of: UInt8(ascii: "\n")) {
        defer { start = end + 1 }
        return .line(Array(buffer[start..<end]))
      }
      if buffer.count - start > Self.longest {
        defer { start = buffer.count }
        return .line(Array(buffer[start...]))
      }
      if isEnded {
        guard start < buffer.count else { return .end }
        defer { start = buffer.count }
        return .line(Array(buffer[start...]))
      }
      if !hasPaused, !isReadable(within: 0) {
        hasPaused = true
        return .pause
      }
      hasPaused = false
      guard isReadable(within: 100) else { return .pause }
      try fill()
    }
  }

  private func isReadable(within milliseconds: Int32) -> Bool {
    var one = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&one, 1, milliseconds) > 0
  }

  private mutating func fill() throws(CommandFailure) {
    buffer.removeFirst(start)
    start = 0
    var chunk = [UInt8](repeating: 0, count: 65_536)
    let count = unsafe chunk.withUnsafeMutableBytes {
      unsafe read(descriptor, $0.baseAddress, $0.count)
    }
    if count < 0 {
      guard errno == EINTR || errno == EAGAIN else {
        throw CommandFailure(.inputOutput, "the input cannot be read: error \(errno)")
      }
      return
    }
    if count == 0 { isEnded = true }
    buffer += chunk[..<count]
  }
}

/// The signals that end the command.
enum Interrupt {
  private static let flag = Atomic<Bool>(false)

  static var isSet: Bool { flag.load(ordering: .relaxed) }

  /// Makes SIGINT and SIGTERM end the command in order.
  static func install() {
    for number in [SIGINT, SIGTERM] {
      signal(number) { _ in Interrupt.flag.store(true, ordering: .relaxed) }
    }
  }

  static func sleep(_ duration: Duration) {
    let nanoseconds = Int(duration.components.attoseconds / 1_000_000_000)
    var wait = timespec(tv_sec: Int(duration.components.seconds), tv_nsec: nanoseconds)
    unsafe nanosleep(&wait, nil)
  }
}
