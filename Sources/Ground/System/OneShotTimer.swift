// SPDX-License-Identifier: Apache-2.0
internal import Dispatch

/// A timer that calls back once after a time, unless it is cancelled or released first; on its own
/// queue.
package final class OneShotTimer: @unchecked Sendable {
  // Safe because Dispatch lets any thread use a source.
  private let source: any DispatchSourceTimer
  private static let queue = DispatchQueue(label: "UWB.timers")

  /// Calls `body` after a time, unless the returned closure is called before.
  ///
  /// The time-out itself runs in a task, so that a busy executor delays it as much as the answer it
  /// waits for. The additional delay is at most one second, in case all threads that run tasks are
  /// blocked.
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

  /// Calls `body` after a time, without a way to cancel it.
  package static func call(after time: Duration, _ body: @escaping @Sendable () -> Void) {
    queue.asyncAfter(deadline: .now() + time / .seconds(1), execute: body)
  }

  /// - Parameter body: called on the queue; must not block.
  package init(after time: Duration, _ body: @escaping @Sendable () -> Void) {
    source = DispatchSource.makeTimerSource(queue: Self.queue)
    source.schedule(deadline: .now() + time / .seconds(1))
    source.setEventHandler(handler: body)
    source.resume()
  }

  package func cancel() { source.cancel() }

  deinit { source.cancel() }
}
