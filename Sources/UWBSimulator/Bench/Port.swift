// SPDX-License-Identifier: Apache-2.0

import DequeModule
import Glibc
import SystemPackage

/// A pseudo-terminal with what it has not taken yet, and the link that leads to it.
struct Port {
  var terminal: PseudoTerminal?
  var link: String?
  private var queue = Deque<UInt8>()
  /// Bytes that wait for a host that does not read.
  private let limit: Int

  init(terminal: PseudoTerminal, limit: Int) {
    self.terminal = terminal
    self.limit = limit
  }

  /// Packets that do not fit are dropped whole: the oldest are kept, as the firmware does it.
  mutating func enqueue(_ packets: [[UInt8]]) {
    for packet in packets where queue.count + packet.count <= limit {
      queue.append(contentsOf: packet)
    }
  }

  /// Sends as much as the terminal takes.
  mutating func flush() {
    guard let master = terminal?.master.rawValue else { return }
    while !queue.isEmpty {
      let chunk = Array(queue.prefix(1_024))
      let written = write(master, chunk, chunk.count)
      guard written > 0 else { return }
      queue.removeFirst(written)
    }
  }

  /// What to wait for; nil while it is unplugged.
  var waiting: pollfd? {
    terminal.map { terminal in
      pollfd(
        fd: terminal.master.rawValue, events: Int16(queue.isEmpty ? POLLIN : POLLIN | POLLOUT),
        revents: 0)
    }
  }

  /// Hangs up and forgets what was not taken; the link is gone until there is a terminal again.
  mutating func unplug() {
    queue.removeAll()
    close()
    terminal = nil
  }

  func close() {
    // The link first: once the terminal is gone, its number may be another one's, and whoever waits
    // for this device would open that.
    if let link { unlink(link) }
    terminal?.hangUp()
  }
}

extension PseudoTerminal {
  /// What the host has written: a few chunks at a time, so that it cannot keep others waiting.
  func read(_ buffer: inout [UInt8]) -> [[UInt8]] {
    var chunks: [[UInt8]] = []
    while chunks.count < 4 {
      let count = Glibc.read(master.rawValue, &buffer, buffer.count)
      guard count > 0 else { break }
      chunks.append(Array(buffer[..<count]))
    }
    return chunks
  }
}

/// Makes a symbolic link, in the place of a link that is there.
func makeLink(at path: String, to target: String) throws(Errno) {
  var status = stat()
  if lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK { unlink(path) }
  guard symlink(target, path) == 0 else { throw Errno(rawValue: errno) }
}

/// CLOCK_MONOTONIC.
func monotonicNanoseconds() -> UInt64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}
