// SPDX-License-Identifier: Apache-2.0
internal import Dispatch

/// Calls back once after a time, unless it is cancelled or let go of first; on a queue of its own.
package final class OneShotTimer: @unchecked Sendable {
  // Safe because Dispatch lets any thread use a source.
  private let source: any DispatchSourceTimer
  private static let queue = DispatchQueue(label: "UWB.timers")

  /// Calls `body` after a time, unless what is returned is called before.
  ///
  /// In a task, so that a machine that is too busy for its tasks gives an answer that passes through
  /// tasks as much longer; but at the latest a second after that, should all threads that run tasks
  /// be blocked.
  package static func start(
    _ time: Duration, _ body: @escaping @Sendable () -> Void
  ) -> @Sendable () -> Void {
    let body = Locked(Optional(body))
    let callOnce: @Sendable () -> Void = { body.withLock { $0.take() }?() }
    let timer = OneShotTimer(after: time) {
      Task.detached { callOnce() }
      call(after: .seconds(1), callOnce)
    }
    return {
      timer.cancel()
      body.withLock { $0 = nil }
    }
  }

  /// Calls `body` after a time in any case.
  package static func call(after time: Duration, _ body: @escaping @Sendable () -> Void) {
    queue.asyncAfter(deadline: .now() + time / .seconds(1), execute: body)
  }

  /// - Parameter body: must not wait for anything.
  package init(after time: Duration, _ body: @escaping @Sendable () -> Void) {
    source = DispatchSource.makeTimerSource(queue: Self.queue)
    source.schedule(deadline: .now() + time / .seconds(1))
    source.setEventHandler(handler: body)
    source.resume()
  }

  package func cancel() { source.cancel() }

  deinit { source.cancel() }
}
