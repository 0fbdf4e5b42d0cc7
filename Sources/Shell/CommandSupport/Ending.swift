// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Dispatch
@unsafe @preconcurrency import Glibc
package import System
import Synchronization
package import SystemPackage
package import UWB

/// Ends a command early by cancelling its task, which closes its resources in order.
///
/// Signals and the loss of standard output end commands this way.
package enum Ending {
  private struct State {
    var cancel: (@Sendable () -> Void)?
    var first = FirstSignal()
    /// The error of standard output.
    var outputError: Errno?
    var isCaptureIncomplete = false
    var endsWithCapture = false
    var screenChanged: (@Sendable () -> Void)?
    var exits: (@Sendable () -> Void)?
  }
  private static let state = Mutex(State())

  /// The signals after which the screen must be drawn again.
  private static let screenSignals = [SIGWINCH, SIGCONT, SIGTSTP]

  /// The threads that run commands, and that may block on pipes.
  package static let threads = BlockingThreads(limit: 64)

  /// Runs `body` in a task. Ending signals and the loss of standard output cancel the task. A
  /// second signal, at least a second after the first, ends the program at once.
  ///
  /// - Throws: `CancellationError` if `body` ended early, and the other errors of `body`.
  package static func cancelling(_ body: @escaping @Sendable () async throws -> Void) async throws {
    state.withLock { $0 = State() }
    let source = Signals.receive(Signals.ending + screenSignals) { received($0) }
    defer { source.cancel() }
    // Without a reader of the output, SIGPIPE would end the program before the chip is stopped.
    signal(SIGPIPE, SIG_IGN)
    let task = Task(executorPreference: threads) { try await body() }
    let isLate = state.withLock { state in
      state.cancel = { task.cancel() }
      return state.first.hasCome || state.outputError != nil
    }
    if isLate { task.cancel() }
    do { try await task.value } catch {
      // Errors that follow from the cancellation are not failures of the device or of a pipe.
      // Without output, a command ends before its peers were measured.
      let isEnd =
        (error as? DriverError)?.linkError?.code == .cancelled || ExitStatus(of: error) == .noInput
        || isOutputLost && !isTerminalClosed && (error as? Failure)?.status == .noPeer
      throw task.isCancelled && isEnd ? CancellationError() : error
    }
  }

  /// Reports whether an error is only the cancellation of its task.
  package static func isCancellation(_ error: any Error) -> Bool {
    error is CancellationError || (error as? DriverError)?.linkError?.code == .cancelled
  }

  private static func received(_ number: Int32) {
    if number == SIGTSTP {
      Keys.giveWay { Signals.stop() }
      return
    }
    if screenSignals.contains(number) {
      state.withLock { $0.screenChanged }?()
      return
    }
    let (isSecond, cancel, exits) = state.withLock { state in
      (state.first.isSecond(), state.cancel, state.exits)
    }
    if isSecond {
      exits?()
      Keys.giveWay()
      _exit(128 + number)
    }
    cancel?()
  }

  /// Ends the command as Ctrl-C does.
  static func endByKey() { state.withLock { $0.cancel }?() }

  /// Calls `body` after the window changes its size, and after Ctrl-Z and `fg`; nil removes the
  /// call.
  package static func onScreenChange(_ body: (@Sendable () -> Void)?) {
    state.withLock { $0.screenChanged = body }
  }

  /// Calls `body` before a second signal ends the program at once; it must not block. Nil removes
  /// the call.
  package static func onExit(_ body: (@Sendable () -> Void)?) {
    state.withLock { $0.exits = body }
  }

  /// Ends the command after standard output has failed, because its results are lost.
  package static func outputFailed(_ error: Errno) {
    let cancel = state.withLock { state in
      defer { state.outputError = state.outputError ?? error }
      return state.outputError == nil ? state.cancel : nil
    }
    cancel?()
  }

  package static var isOutputLost: Bool { state.withLock { $0.outputError != nil } }

  /// Whether the terminal was closed. A failed write and SIGHUP both report that, in any order, and
  /// lead to the same status.
  private static var isTerminalClosed: Bool {
    guard state.withLock({ $0.outputError }) == .ioError else { return false }
    return isatty(STDOUT_FILENO) == 0 && errno == EIO
  }

  /// Makes a failed capture end the command, for commands that only capture.
  package static func endWithCapture() { state.withLock { $0.endsWithCapture = true } }

  /// Reports a failed capture once.
  package static func captureFailed(_ error: CaptureError) {
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

  /// Throws if output or captured packets could not be written.
  package static func checkOutput() throws {
    let (error, isCaptureIncomplete) = state.withLock { ($0.outputError, $0.isCaptureIncomplete) }
    guard let error else {
      if isCaptureIncomplete { throw ExitCode(ExitStatus.system.rawValue) }
      return
    }
    if error == .brokenPipe {
      // A lost reader ends other programs by SIGPIPE, such as in `uwbctl range | head`.
      signal(SIGPIPE, SIG_DFL)
      // The threads of commands block SIGPIPE.
      var signals = sigset_t()
      unsafe sigaddset(&signals, SIGPIPE)
      unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
      raise(SIGPIPE)
    }
    if isTerminalClosed { return }
    throw Failure(.system, "Cannot write to standard output: \(error).").report()
  }

  /// Prepares signals. Must run before a file is opened.
  package static func prepare() {
    // Swift's runtime treats SIGQUIT as a crash, and prints call stacks for seconds.
    signal(SIGQUIT, SIG_DFL)
  }
}
