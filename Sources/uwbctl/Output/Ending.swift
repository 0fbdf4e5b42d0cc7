// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Dispatch
@preconcurrency import Glibc
import System
import Synchronization
import SystemPackage
import UWB
import UWBLink

/// The one way in which a command ends before its work is done: its task is cancelled, and closes
/// everything it has opened, in order.
///
/// Signals and lost output lead here.
enum Ending {
  private struct State {
    var cancel: (@Sendable () -> Void)?
    var first = FirstSignal()
    /// Why standard output takes nothing any more.
    var outputError: Errno?
    var isCaptureIncomplete = false
    var endsWithCapture = false
    var screenChanged: (@Sendable () -> Void)?
    var exits: (@Sendable () -> Void)?
  }
  private static let state = Mutex(State())

  /// SIGQUIT as well, whose default leaves a session on the chip.
  private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
  /// These do not end a program, but change what is on its screen.
  private static let screenSignals = [SIGWINCH, SIGCONT]

  /// Where commands run: they may wait for a pipe.
  static let threads = BlockingThreads(limit: 64)

  /// Runs `body` in a task that the signals which end programs, and the loss of standard output,
  /// cancel. A second signal, at least a second after the first, ends the program at once.
  static func cancelling(_ body: @escaping @Sendable () async throws -> Void) async throws {
    state.withLock { $0 = State() }
    let source = Signals.receive(signals + screenSignals) { received($0) }
    defer { source.cancel() }
    // When the reader of the output goes away, the chip must be stopped first.
    signal(SIGPIPE, SIG_IGN)
    let task = Task(executorPreference: threads) { try await body() }
    let isLate = state.withLock { state in
      state.cancel = { task.cancel() }
      return state.first.hasCome || state.outputError != nil
    }
    if isLate { task.cancel() }
    do { try await task.value } catch {
      // Not a failure of the device, nor of a pipe that was waited for.
      let isEnd =
        (error as? DriverError)?.linkError?.code == .cancelled || ExitStatus(of: error) == .noInput
      guard task.isCancelled, isEnd else { throw error }
    }
  }

  /// Whether an error only says that its task was cancelled.
  static func isCancellation(_ error: any Error) -> Bool {
    error is CancellationError || (error as? DriverError)?.linkError?.code == .cancelled
  }

  private static func received(_ number: Int32) {
    if screenSignals.contains(number) {
      state.withLock { $0.screenChanged }?()
      return
    }
    let (isSecond, cancel, exits) = state.withLock { state in
      (state.first.isSecond(), state.cancel, state.exits)
    }
    if isSecond {
      exits?()
      _exit(128 + number)
    }
    cancel?()
  }

  /// Calls `body` when the window has changed its size, and after Ctrl-Z and `fg`; nil: not any more.
  static func onScreenChange(_ body: (@Sendable () -> Void)?) {
    state.withLock { $0.screenChanged = body }
  }

  /// Calls `body` before a second signal ends the program at once; it must not wait. nil: not any more.
  static func onExit(_ body: (@Sendable () -> Void)?) {
    state.withLock { $0.exits = body }
  }

  /// Standard output cannot be written: the command ends, because nobody sees what it does.
  static func outputFailed(_ error: Errno) {
    let cancel = state.withLock { state in
      defer { state.outputError = state.outputError ?? error }
      return state.outputError == nil ? state.cancel : nil
    }
    cancel?()
  }

  static var isOutputLost: Bool { state.withLock { $0.outputError != nil } }

  /// The command does nothing but capture, and ends when that fails.
  static func endWithCapture() { state.withLock { $0.endsWithCapture = true } }

  /// A capture takes nothing any more: says so once.
  static func captureFailed(_ error: CaptureError) {
    if case .notWritten(path: "-", let number, _) = error {
      return outputFailed(Errno(rawValue: number))
    }
    let (isFirst, cancel) = state.withLock { state in
      defer { state.isCaptureIncomplete = true }
      return (!state.isCaptureIncomplete, state.endsWithCapture ? state.cancel : nil)
    }
    if isFirst { _ = Failure(error)?.report() }
    cancel?()
  }

  /// Throws when something that was printed or captured has not been written.
  static func checkOutput() throws {
    let (error, isCaptureIncomplete) = state.withLock { ($0.outputError, $0.isCaptureIncomplete) }
    guard let error else {
      if isCaptureIncomplete { throw ExitCode(ExitStatus.system.rawValue) }
      return
    }
    if error == .brokenPipe {
      // As any other program whose reader goes away, for `uwbctl range | head`.
      signal(SIGPIPE, SIG_DFL)
      // Where commands run, it is blocked.
      var signals = sigset_t()
      sigaddset(&signals, SIGPIPE)
      pthread_sigmask(SIG_UNBLOCK, &signals, nil)
      raise(SIGPIPE)
    }
    throw Failure(.system, "Cannot write to standard output: \(error).").report()
  }

  /// To be called before anything is opened.
  static func prepare() {
    // The runtime takes it for a crash, of which it prints the call stacks for seconds.
    signal(SIGQUIT, SIG_DFL)
    // A descriptor that is opened later must not become standard output: what is printed would go to
    // the chip. Opened the wrong way round, so that reading or writing it is still an error.
    for (number, mode) in [(0, O_WRONLY), (1, O_RDONLY), (2, O_RDONLY)]
    where fcntl(Int32(number), F_GETFD) < 0 {
      _ = open("/dev/null", mode)
    }
  }
}
