// SPDX-License-Identifier: Apache-2.0
internal import Dispatch

/// A call that happens once after a time, unless it is cancelled or released first.
package final class OneShotTimer: Sendable {
  private let cancellation: @Sendable () -> Void
  private static let queue = DispatchQueue(label: "UWB.timers")

  /// Starts a timer on CLOCK_MONOTONIC.
  ///
  /// - Parameter body: Called on the queue of the timers; must not block.
  package convenience init(after time: Duration, _ body: @escaping @Sendable () -> Void) {
    let source = DispatchSource.makeTimerSource(queue: Self.queue)
    source.schedule(deadline: .now() + time / .seconds(1))
    source.setEventHandler(handler: body)
    source.resume()
    // Safe because Dispatch lets any thread use a source.
    nonisolated(unsafe) let running = source
    self.init(cancellation: { unsafe running.cancel() })
  }

  /// Wraps a call that another clock has scheduled.
  ///
  /// - Parameter cancellation: Called by `cancel`, and once more at the release.
  package init(cancellation: @escaping @Sendable () -> Void) { self.cancellation = cancellation }

  package func cancel() { cancellation() }

  deinit { cancellation() }
}
