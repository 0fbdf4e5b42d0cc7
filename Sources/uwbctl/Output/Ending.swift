// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Dispatch
import Glibc
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
    /// When the first signal came.
    var since: ContinuousClock.Instant?
    /// Why standard output takes nothing any more.
    var outputError: Errno?
    var isCaptureIncomplete = false
  }
  private static let state = Mutex(State())

  /// A second signal within this time belongs to the first: timeout(1) signals its child and then the
  /// group of both, and a closed terminal hangs up what Ctrl-C has interrupted just before.
  private static let secondSignalAfter = Duration.seconds(1)

  /// SIGQUIT as well, whose default leaves a session on the chip.
  private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

  /// Runs `body` in a task that the signals which end programs, and the loss of standard output,
  /// cancel. A second signal, at least a second after the first, ends the program at once.
  static func cancelling(_ body: @escaping @Sendable () async throws -> Void) async throws {
    let task = Task { try await body() }
    state.withLock { $0.cancel = { task.cancel() } }
    let queue = DispatchQueue(label: "signals")
    let sources = signals.compactMap { number -> (any DispatchSourceSignal)? in
      // Programs that shall outlive their terminal are started with SIGHUP ignored (nohup).
      if number == SIGHUP, isIgnored(number) { return nil }
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
      source.setEventHandler { received(number) }
      source.resume()
      return source
    }
    defer { for source in sources { source.cancel() } }
    // When the reader of the output goes away, the chip must be stopped first.
    signal(SIGPIPE, SIG_IGN)
    do { try await task.value } catch let error as DriverError {
      // Not a failure of the device.
      guard task.isCancelled, error.linkError?.code == .cancelled else { throw error }
    }
  }

  private static func received(_ number: Int32) {
    let now = ContinuousClock.now
    let (isSecond, cancel) = state.withLock { state in
      let since = state.since ?? now
      state.since = since
      return (now - since >= secondSignalAfter, state.cancel)
    }
    if isSecond { _exit(128 + number) }
    cancel?()
  }

  /// Standard output cannot be written: the command ends, because nobody sees what it does.
  static func outputFailed(_ error: Errno) {
    let cancel = state.withLock { state in
      defer { state.outputError = state.outputError ?? error }
      return state.outputError == nil ? state.cancel : nil
    }
    cancel?()
  }

  /// A capture takes nothing any more: says so once.
  static func captureFailed(_ error: CaptureError) {
    let isFirst = state.withLock { state in
      defer { state.isCaptureIncomplete = true }
      return !state.isCaptureIncomplete
    }
    if isFirst { _ = Failure(error)?.report() }
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
      raise(SIGPIPE)
    }
    throw Failure(.system, "Cannot write to standard output: \(error).").report()
  }

  /// To be called before anything is opened.
  static func prepare() {
    // A descriptor that is opened later must not become standard output: what is printed would go to
    // the chip. Opened the wrong way round, so that reading or writing it is still an error.
    for (number, mode) in [(0, O_WRONLY), (1, O_RDONLY), (2, O_RDONLY)]
    where fcntl(Int32(number), F_GETFD) < 0 {
      _ = open("/dev/null", mode)
    }
    // Help texts go through stdio, which does not say at its end what it has lost.
    atexit {
      guard fflush(nil) != 0 else { return }
      standardError.write("uwbctl: Cannot write to standard output.\n")
      _exit(ExitStatus.system.rawValue)
    }
  }
}

private func isIgnored(_ number: Int32) -> Bool {
  var now = sigaction()
  guard sigaction(number, nil, &now) == 0 else { return false }
  return unsafeBitCast(now.__sigaction_handler.sa_handler, to: Int.self)
    == unsafeBitCast(SIG_IGN, to: Int.self)
}
