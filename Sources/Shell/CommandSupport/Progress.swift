// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization
import System

/// A line on standard error that is redrawn in place, and disappears at the end.
///
/// The cursor stays at the end of the line, so that other messages follow it and do not overwrite
/// it. Without a terminal there is no line.
package final class ProgressLine: Sendable {
  private enum State { case hidden, shown, finished }
  private let state = Mutex(State.hidden)

  package init() {}

  package func show(_ text: String) {
    state.withLock { state in
      guard state != .finished, standardError.canRedraw, standardError.isInForeground else {
        return
      }
      state = .shown
      let room = max(1, standardError.size.columns - 1)
      standardError.write("\r\(text.cut(to: room))\u{1B}[K")
    }
  }

  package func finish() {
    state.withLock { state in
      if state == .shown, standardError.isInForeground { standardError.write("\r\u{1B}[K") }
      state = .finished
    }
  }
}

/// Runs `body`. If it takes longer than a second and standard error is a terminal, a line there
/// shows the seconds.
///
/// - Parameter work: The beginning of the line, such as `Computing 9 rows`.
package func withProgress<Result, Failure: Error>(
  _ work: String, _ body: () throws(Failure) -> Result
) throws(Failure) -> Result {
  let seconds = SecondsLine(work)
  defer { seconds.finish() }
  return try body()
}

/// Runs `body` on a thread of its own, with a line as of `withProgress`. If the task is cancelled,
/// `body` is abandoned: it must have no effect but its result.
///
/// - Parameter work: The beginning of the line; nil: no line.
/// - Throws: `CancellationError`, and the errors of `body`.
package func computing<Result: Sendable>(
  _ work: String?, _ body: @escaping @Sendable () throws -> Result
) async throws -> Result {
  let seconds = work.map(SecondsLine.init)
  defer { seconds?.finish() }
  let outcome: Swift.Result<Result, any Error>
  do throws(BlockingThreads.CallFailure) {
    outcome = try await Ending.threads.call(isCancellable: true) { Swift.Result(catching: body) }
  } catch {
    guard case .thread = error else { throw CancellationError() }
    outcome = Swift.Result(catching: body)
  }
  return try outcome.get()
}

/// A line with the seconds of a work that takes longer than a second.
private struct SecondsLine {
  private let line = ProgressLine()
  private var timer: (any DispatchSourceTimer)?

  init(_ work: String) {
    guard standardError.canRedraw else { return }
    let (line, start) = (line, ContinuousClock.now)
    let timer = DispatchSource.makeTimerSource()
    timer.setEventHandler {
      line.show("\(work): \((ContinuousClock.now - start).components.seconds) s")
    }
    timer.schedule(deadline: .now() + 1, repeating: 1)
    timer.resume()
    self.timer = timer
  }

  func finish() {
    timer?.cancel()
    line.finish()
  }
}
