// SPDX-License-Identifier: Apache-2.0
internal import Dispatch

/// A call that happens once after a time, unless it is cancelled or released first.
package final class OneShotTimer: Sendable {
  private let cancellation: @Sendable () -> Void
  private static let queue = DispatchQueue(label: "UWB.timers")

  /// The number of equal parts of a time, one after another, in which a timer waits.
  private static let parts = 4

  /// Starts a timer on CLOCK_MONOTONIC.
  ///
  /// If the whole process or machine stops meanwhile, this counts as at most a quarter of the time.
  /// A command that was sent before the stop therefore still has time for its response.
  ///
  /// - Parameter body: Called on the queue of the timers; must not block.
  package convenience init(after time: Duration, _ body: @escaping @Sendable () -> Void) {
    self.init(after: time, on: Self.queue, body)
  }

  /// Starts a timer on the given queue, which tests may stop.
  convenience init(
    after time: Duration, on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void
  ) {
    let source = DispatchSource.makeTimerSource(queue: queue)
    // The limit is necessary because Dispatch traps on times above 580 years.
    let part = min(max(time / .seconds(1) / Double(Self.parts), 0.000_1), 1e9)
    source.schedule(deadline: .now() + part, repeating: part)
    // Safe because Dispatch lets any thread use a source.
    nonisolated(unsafe) let running = source
    // Dispatch calls the handler only once for all parts that passed while the process was stopped.
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

  /// Wraps a call that a clock has scheduled.
  ///
  /// - Parameter cancellation: Called by `cancel`, and again when the timer is released.
  package init(cancellation: @escaping @Sendable () -> Void) { self.cancellation = cancellation }

  package func cancel() { cancellation() }

  deinit { cancellation() }
}
