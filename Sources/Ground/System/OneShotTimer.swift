// SPDX-License-Identifier: Apache-2.0
internal import Dispatch

/// A call that happens once after a time, unless it is cancelled or released first.
package final class OneShotTimer: Sendable {
  private let cancellation: @Sendable () -> Void
  private static let queue = DispatchQueue(label: "UWB.timers")

  /// The parts of a time that are waited for one after the other.
  private static let parts = 4

  /// Starts a timer on CLOCK_MONOTONIC.
  ///
  /// A stop of the whole process or machine counts as a quarter of the time at most. So a command
  /// that was sent before a stop still has time for its response.
  ///
  /// - Parameter body: Called on the queue of the timers; must not block.
  package convenience init(after time: Duration, _ body: @escaping @Sendable () -> Void) {
    self.init(after: time, on: Self.queue, body)
  }

  /// Starts a timer on a queue of its own, which tests stop.
  convenience init(
    after time: Duration, on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void
  ) {
    let source = DispatchSource.makeTimerSource(queue: queue)
    // Dispatch traps beyond 580 years.
    let part = min(max(time / .seconds(1) / Double(Self.parts), 0.000_1), 1e9)
    source.schedule(deadline: .now() + part, repeating: part)
    // Safe because Dispatch lets any thread use a source.
    nonisolated(unsafe) let running = source
    // Dispatch calls a handler once for all firings that it missed.
    nonisolated(unsafe) var left = Self.parts
    source.setEventHandler {
      unsafe left -= 1
      guard unsafe left == 0 else { return }
      unsafe running.cancel()
      body()
    }
    source.resume()
    self.init(cancellation: { unsafe running.cancel() })
  }

  /// Wraps a call that another clock has scheduled.
  ///
  /// - Parameter cancellation: Called by `cancel`, and once more at the release.
  package init(cancellation: @escaping @Sendable () -> Void) { self.cancellation = cancellation }

  package func cancel() { cancellation() }

  deinit { cancellation() }
}
