// SPDX-License-Identifier: Apache-2.0

import DequeModule
import Glibc
package import SystemPackage

/// A pseudo-terminal, with its output queue and the symbolic link that leads to it.
struct Port {
  var terminal: PseudoTerminal?
  private var link: String?
  private var queue = Deque<UInt8>()
  /// The greatest number of queued bytes.
  private let limit: Int
  /// Whether hosts that close the terminal are detected.
  private let watchesHosts: Bool
  /// The inotify descriptor that reports when a host closes the terminal.
  private var closings: Int32?

  init(terminal: PseudoTerminal, limit: Int, watchesHosts: Bool = false) {
    self.terminal = terminal
    self.limit = limit
    self.watchesHosts = watchesHosts
    watch(terminal)
  }

  private mutating func watch(_ terminal: PseudoTerminal) {
    guard watchesHosts else { return }
    let events = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
    unsafe inotify_add_watch(events, terminal.path, UInt32(IN_CLOSE_WRITE))
    closings = events
  }

  /// Returns whether a host has closed the terminal since the last call. Discards the bytes that
  /// the host did not read.
  mutating func hostHasGone() -> Bool {
    guard let closings else { return false }
    var buffer = [UInt8](repeating: 0, count: 4_096)
    guard unsafe Glibc.read(closings, &buffer, buffer.count) > 0 else { return false }
    queue.removeAll()
    if let terminal { tcflush(terminal.slave.rawValue, TCIFLUSH) }
    return true
  }

  /// Queues packets. Like the firmware, drops whole packets that do not fit and keeps the oldest.
  mutating func enqueue(_ packets: [[UInt8]]) {
    for packet in packets where queue.count + packet.count <= limit {
      queue.append(contentsOf: packet)
    }
  }

  /// Writes as many bytes as the terminal accepts.
  mutating func flush() {
    guard let master = terminal?.master.rawValue else { return }
    while !queue.isEmpty {
      let chunk = Array(queue.prefix(1_024))
      let written = unsafe write(master, chunk, chunk.count)
      guard written > 0 else { return }
      queue.removeFirst(written)
    }
  }

  /// The requests for poll(2); empty while the chip is unplugged.
  var waiting: [pollfd] {
    guard let terminal else { return [] }
    let events = queue.isEmpty ? POLLIN : POLLIN | POLLOUT
    return [pollfd(fd: terminal.master.rawValue, events: Int16(events), revents: 0)]
      + (closings.map { [pollfd(fd: $0, events: Int16(POLLIN), revents: 0)] } ?? [])
  }

  /// Creates a symbolic link to the terminal, replacing an existing link.
  mutating func makeLink(at path: String) throws(Errno) {
    try terminal?.makeLink(at: path)
    link = path
  }

  /// Replaces the terminal; the link follows.
  mutating func plug(_ new: PseudoTerminal) throws(Errno) {
    close()
    terminal = new
    watch(new)
    if let link { try makeLink(at: link) }
  }

  /// Hangs up, discards the queue and removes the link.
  mutating func unplug() {
    queue.removeAll()
    close()
    terminal = nil
  }

  mutating func close() {
    if let events = closings.take() { Glibc.close(events) }
    // The link is removed first, because the number of a closed terminal may be used again. A host
    // that waits for this device would then open another one.
    if let link { unsafe unlink(link) }
    terminal?.hangUp()
  }
}

extension PseudoTerminal {
  /// Creates a symbolic link to the path, replacing an existing link.
  package func makeLink(at link: String) throws(Errno) {
    var status = stat()
    if unsafe lstat(link, &status) == 0, status.st_mode & S_IFMT == S_IFLNK { unsafe unlink(link) }
    guard unsafe symlink(path, link) == 0 else { throw Errno(rawValue: errno) }
  }

  /// Reads the host's bytes, a few chunks at a time, so that other chips are served as well.
  func read(_ buffer: inout [UInt8]) -> [[UInt8]] {
    var chunks: [[UInt8]] = []
    while chunks.count < 4 {
      let count = unsafe Glibc.read(master.rawValue, &buffer, buffer.count)
      guard count > 0 else { break }
      chunks.append(Array(buffer[..<count]))
    }
    return chunks
  }
}
