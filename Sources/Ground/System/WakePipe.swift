// SPDX-License-Identifier: Apache-2.0
package import Glibc

/// Makes a descriptor non-blocking, and closes it on exec.
package func makeNonBlocking(_ descriptor: Int32) {
  _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
  _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
}

/// A pipe that wakes a thread from `poll`. Both ends are closed with the last reference.
package final class WakePipe: Sendable {
  /// The end to wait for, which is readable after a wake; -1 if the system had no free descriptor.
  package let readEnd: Int32
  private let writeEnd: Int32

  package init() {
    var ends: [Int32] = [-1, -1]
    _ = unsafe pipe(&ends)
    for end in ends where end >= 0 { makeNonBlocking(end) }
    (readEnd, writeEnd) = (ends[0], ends[1])
  }

  deinit { for end in [readEnd, writeEnd] where end >= 0 { close(end) } }

  /// Makes the read end readable. May be called on any thread, and in a signal handler.
  package func wake(_ byte: UInt8 = 0) {
    var byte = byte
    // If the pipe is full, the thread is woken already.
    _ = unsafe write(writeEnd, &byte, 1)
  }

  /// Removes and returns the oldest byte; nil if there is none.
  package func next() -> UInt8? {
    var byte: UInt8 = 0
    return unsafe read(readEnd, &byte, 1) == 1 ? byte : nil
  }

  /// Empties the pipe.
  package func drain() {
    var bytes = [UInt8](repeating: 0, count: 4_096)
    while unsafe read(readEnd, &bytes, bytes.count) > 0 {}
  }

  /// Waits for events of descriptors, a wake-up or a deadline, and empties the pipe.
  ///
  /// - Parameters:
  ///   - deadline: The deadline in nanoseconds of the clock of `now`; nil for none.
  ///   - now: The current time.
  package func wait(_ descriptors: inout [pollfd], until deadline: UInt64?, now: UInt64) {
    descriptors.append(pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0))
    // The milliseconds are rounded up. Otherwise, the caller's loop would spin until the deadline.
    let timeout = deadline.map { due in due > now ? (due - now - 1) / 1_000_000 + 1 : 0 }
    _ = unsafe poll(
      &descriptors, nfds_t(descriptors.count), timeout.map { Int32(clamping: $0) } ?? -1)
    if descriptors.removeLast().revents != 0 { drain() }
  }
}
