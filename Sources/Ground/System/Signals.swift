// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import Glibc
internal import Synchronization

/// Runs `body`, which creates a thread, with most signals blocked.
///
/// A new thread inherits the signal mask of its creator. Other threads of the program handle the
/// blocked signals. Two kinds stay unblocked: signals that a thread raises itself, and signals that
/// debuggers, profilers and Swift's backtraces send to a thread.
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

/// The signals that a program handles itself.
package enum Signals {
  /// The signals that end a program by default, and after which the program can end in order.
  /// Signals for errors of the program itself, SIGPROF of profilers and real-time signals are
  /// excluded.
  package static let ending = [
    SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGXCPU, SIGXFSZ,
    SIGPOLL, SIGPWR, SIGSTKFLT,
  ]

  /// Calls `body` on a new queue for each of these signals, until the receiver is cancelled.
  ///
  /// The signal handler writes to a pipe. A signal that arrives during the setup is therefore not
  /// lost, and child processes do not inherit ignored signals. An ignored SIGHUP stays ignored,
  /// because nohup starts programs that way so that they outlive their terminal. An ignored SIGTSTP
  /// stays ignored as well, because shells without job control start programs that way.
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
    for number in numbers where ![SIGHUP, SIGTSTP].contains(number) || !isIgnored(number) {
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

  /// A receiver of signals, until it is cancelled.
  package struct Receiver {
    // The source is nil if the system had no descriptor for a pipe. Signals then keep their
    // actions.
    fileprivate let source: (any DispatchSourceRead)?

    package func cancel() { source?.cancel() }
  }

  /// Stops the program as SIGTSTP does by default. Returns after it was continued.
  package static func stop() {
    var (action, before) = (sigaction(), sigaction())
    unsafe sigaction(SIGTSTP, &action, &before)
    // This thread may block the signal, as threads of Dispatch do.
    var signals = sigset_t()
    unsafe sigaddset(&signals, SIGTSTP)
    unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    raise(SIGTSTP)
    unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    unsafe sigaction(SIGTSTP, &before, nil)
  }

  /// Reports whether the program has been stopped and continued (SIGCONT) since the last call.
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

/// Distinguishes the first ending signal, which ends the program in order, from the second one,
/// which ends it at once.
package struct FirstSignal {
  private var since: ContinuousClock.Instant?

  /// The time within which further signals count as part of the first one.
  ///
  /// timeout(1) signals its child and then the process group of both. A terminal that closes sends
  /// SIGHUP just after Ctrl-C.
  private static let secondSignalAfter = Duration.seconds(1)

  package init() {}

  package var hasCome: Bool { since != nil }

  /// Reports whether the current signal is a second one, which ends the program at once.
  package mutating func isSecond() -> Bool {
    let now = ContinuousClock.now
    let first = since ?? now
    since = first
    return now - first >= Self.secondSignalAfter
  }
}

/// The pipe from the signal handlers to the queue. It is created before a handler is installed.
private let signalPipe = WakePipe()

private let wasContinued = Atomic(false)
