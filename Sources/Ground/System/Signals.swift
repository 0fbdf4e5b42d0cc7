// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import Glibc
internal import Synchronization

/// Runs `body`, which creates a thread. A new thread has the signal mask of the one that creates it.
///
/// Signals are left to the program's own threads, except for those that a thread causes itself or
/// that debuggers, profilers and Swift's backtraces send to it.
package func withSignalsBlocked(_ body: () -> Int32) -> Int32 {
  var blocked = sigset_t()
  var before = sigset_t()
  unsafe sigfillset(&blocked)
  for signal in [SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF] {
    unsafe sigdelset(&blocked, signal)
  }
  unsafe pthread_sigmask(SIG_SETMASK, &blocked, &before)
  defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
  return body()
}

/// Signals that a program handles itself.
package enum Signals {
  /// Calls `body`, on a queue of its own, with each of these signals from now on, until the source is
  /// cancelled.
  ///
  /// Through a handler that writes to a pipe: a signal that comes while this is set up is not lost, and
  /// programs that are started later do not inherit that it is ignored. SIGHUP stays ignored where it
  /// is: programs that shall outlive their terminal are started so (nohup).
  package static func receive(
    _ numbers: [Int32], _ body: @escaping @Sendable (Int32) -> Void
  ) -> Receiver {
    _ = wasStopped()
    guard signalPipe.readEnd >= 0 else { return Receiver(source: nil) }
    let source = DispatchSource.makeReadSource(
      fileDescriptor: signalPipe.readEnd, queue: DispatchQueue(label: "signals"))
    source.setEventHandler {
      while let number = signalPipe.next() { body(Int32(number)) }
    }
    source.resume()
    for number in numbers where number != SIGHUP || !isIgnored(number) {
      var action = sigaction()
      action.sa_flags = SA_RESTART
      unsafe action.__sigaction_handler.sa_handler = { number in
        let error = errno
        if number == SIGCONT { wasContinued.store(true, ordering: .relaxed) }
        signalPipe.wake(UInt8(truncatingIfNeeded: number))
        errno = error
      }
      unsafe sigaction(number, &action, nil)
    }
    return Receiver(source: source)
  }

  /// Receives signals until it is cancelled.
  package struct Receiver {
    // nil: the system had no descriptor for a pipe, and signals keep their actions.
    fileprivate let source: (any DispatchSourceRead)?

    package func cancel() { source?.cancel() }
  }

  /// Whether the program has been stopped since the last call, and has received SIGCONT.
  package static func wasStopped() -> Bool {
    wasContinued.exchange(false, ordering: .relaxed)
  }

  private static func isIgnored(_ number: Int32) -> Bool {
    var now = sigaction()
    guard unsafe sigaction(number, nil, &now) == 0 else { return false }
    return unsafe unsafeBitCast(now.__sigaction_handler.sa_handler, to: Int.self)
      == unsafeBitCast(SIG_IGN, to: Int.self)
  }
}

/// Tells a second signal that is to end a program from the first, which ends it in order.
package struct FirstSignal {
  private var since: ContinuousClock.Instant?

  /// A second signal within this time belongs to the first: timeout(1) signals its child and then the
  /// group of both, and a closed terminal hangs up what Ctrl-C has interrupted just before.
  private static let secondSignalAfter = Duration.seconds(1)

  package init() {}

  package var hasCome: Bool { since != nil }

  /// Whether the signal that has come now is a second one: to end the program at once.
  package mutating func isSecond() -> Bool {
    let now = ContinuousClock.now
    let first = since ?? now
    since = first
    return now - first >= Self.secondSignalAfter
  }
}

/// Made before the handlers that use it are in place.
private let signalPipe = WakePipe()

private let wasContinued = Atomic(false)
