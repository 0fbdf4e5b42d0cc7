// SPDX-License-Identifier: Apache-2.0
internal import Dispatch

/// Calls back once after a time, unless it is cancelled or let go of first.
///
/// On a queue of its own rather than in a task that sleeps: a command has to time out although every
/// thread of Swift's tasks is busy or blocked.
package final class OneShotTimer: @unchecked Sendable {
  // Sound: Dispatch lets any thread use a source.
  private let source: any DispatchSourceTimer
  private static let queue = DispatchQueue(label: "UWBDriver.timers")

  /// Calls `body` after a time in any case.
  static func call(after time: Duration, _ body: @escaping @Sendable () -> Void) {
    queue.asyncAfter(deadline: Self.deadline(time), execute: body)
  }

  /// - Parameter body: must not wait for anything.
  package init(after time: Duration, _ body: @escaping @Sendable () -> Void) {
    source = DispatchSource.makeTimerSource(queue: Self.queue)
    source.schedule(deadline: Self.deadline(time))
    source.setEventHandler(handler: body)
    source.resume()
  }

  private static func deadline(_ time: Duration) -> DispatchTime {
    let (seconds, attoseconds) = time.components
    let whole = Int(clamping: seconds).multipliedReportingOverflow(by: 1_000_000_000)
    let rest = Int(attoseconds / 1_000_000_000)
    return whole.overflow
      ? .distantFuture : .now() + .nanoseconds(max(0, whole.partialValue + rest))
  }

  package func cancel() { source.cancel() }

  deinit { source.cancel() }
}
