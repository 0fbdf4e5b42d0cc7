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

  /// Makes SIGINT, SIGTERM and SIGHUP end the command in order.
  static func install() {
    for number in [SIGINT, SIGTERM, SIGHUP] {
      let former = signal(number) { _ in Interrupt.flag.store(true, ordering: .relaxed) }
      // SIGHUP stays ignored under nohup.
      if number == SIGHUP, isIgnored(former) { signal(number, SIG_IGN) }
    }
    // SIGPIPE is ignored, so that a reader that has closed the output causes an error of writing.
    signal(SIGPIPE, SIG_IGN)
    // SIGXFSZ is ignored, so that a file that reaches its size limit causes an error of writing, as
    // a full disk does.
    signal(SIGXFSZ, SIG_IGN)
  }

  private static func isIgnored(_ handler: (@convention(c) (Int32) -> Void)?) -> Bool {
    unsafe unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  /// Waits, at most until a signal.
  static func sleep(_ duration: Duration) {
    let parts = duration.components
    guard parts.seconds >= 0, parts.attoseconds >= 0 else { return }
    var wait = timespec(
      tv_sec: Int(parts.seconds), tv_nsec: Int(parts.attoseconds / 1_000_000_000))
    unsafe nanosleep(&wait, nil)
  }
}
