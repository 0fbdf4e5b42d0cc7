// SPDX-License-Identifier: Apache-2.0

import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The signals that end the command.
enum Interrupt {
  private static let flag = Atomic<Bool>(false)

  static var isSet: Bool { flag.load(ordering: .relaxed) }

  /// Makes SIGINT and SIGTERM end the command in order.
  static func install() {
    for number in [SIGINT, SIGTERM] {
      signal(number) { _ in Interrupt.flag.store(true, ordering: .relaxed) }
    }
    // A file that reaches the limit of its size is an error of writing, as a full disk is.
    signal(SIGXFSZ, SIG_IGN)
  }

  /// Waits, until a signal at the latest.
  static func sleep(_ duration: Duration) {
    let parts = duration.components
    guard parts.seconds >= 0, parts.attoseconds >= 0 else { return }
    var wait = timespec(
      tv_sec: Int(parts.seconds), tv_nsec: Int(parts.attoseconds / 1_000_000_000))
    unsafe nanosleep(&wait, nil)
  }
}
