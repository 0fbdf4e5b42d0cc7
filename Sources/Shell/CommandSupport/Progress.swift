// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

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
  guard standardError.canRedraw else { return try body() }
  let (line, start) = (ProgressLine(), ContinuousClock.now)
  let timer = DispatchSource.makeTimerSource()
  timer.setEventHandler {
    line.show("\(work): \((ContinuousClock.now - start).components.seconds) s")
  }
  timer.schedule(deadline: .now() + 1, repeating: 1)
  timer.resume()
  defer {
    timer.cancel()
    line.finish()
  }
  return try body()
}
