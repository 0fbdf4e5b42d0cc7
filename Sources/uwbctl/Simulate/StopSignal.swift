// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization
import SystemPackage

/// Waits for SIGINT or SIGTERM, whichever thread the kernel gives it to.
struct StopSignal {
  /// Where the handler writes to.
  private static let writeEnd = Atomic<Int32>(-1)
  private let readEnd: FileDescriptor

  /// From now on the signals no longer end the process.
  init() throws {
    let pipe = try FileDescriptor.pipe()
    readEnd = pipe.readEnd
    Self.writeEnd.store(pipe.writeEnd.rawValue, ordering: .releasing)
    for number in [SIGINT, SIGTERM] {
      signal(number) { _ in
        var octet: UInt8 = 1
        write(StopSignal.writeEnd.load(ordering: .acquiring), &octet, 1)
      }
    }
  }

  /// Returns when a signal has come, or after so many seconds.
  func wait(seconds: Double?) {
    var descriptor = pollfd(fd: readEnd.rawValue, events: Int16(POLLIN), revents: 0)
    var beginning = timespec()
    clock_gettime(CLOCK_MONOTONIC, &beginning)
    while true {
      var time = timespec()
      clock_gettime(CLOCK_MONOTONIC, &time)
      let passed =
        Double(time.tv_sec - beginning.tv_sec) + Double(time.tv_nsec - beginning.tv_nsec) * 1e-9
      let rest = seconds.map { max(0, $0 - passed) * 1_000 }
      let result = poll(&descriptor, 1, rest.map { Int32(clamping: Int($0.rounded(.up))) } ?? -1)
      if result > 0 || rest == 0 { return }
    }
  }
}
