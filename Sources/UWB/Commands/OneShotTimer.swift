// SPDX-License-Identifier: Apache-2.0
internal import Dispatch

/// Calls back once after a time, unless it is cancelled or let go of first; on a queue of its own.
package final class OneShotTimer: @unchecked Sendable {
  // Sound: Dispatch lets any thread use a source.
  private let source: any DispatchSourceTimer
  private static let queue = DispatchQueue(label: "UWBDriver.timers")

  /// Calls `body` after a time, unless what is returned is called before.
  ///
  /// In a task that sleeps, like whatever answers: a machine that is too busy for its tasks gives
  /// chips as much longer. A task that has brought an executor of its own does so because the
  /// threads of all others may be blocked, waiting for it: its timers do not depend on them.
  static func start(
    _ time: Duration, _ body: @escaping @Sendable () -> Void
  ) -> @Sendable () -> Void {
    guard unsafe withUnsafeCurrentTask(body: { unsafe $0?.unownedTaskExecutor != nil }) else {
      let task = Task {
        try? await Task.sleep(for: time)
        if !Task.isCancelled { body() }
      }
      return { task.cancel() }
    }
    let timer = OneShotTimer(after: time, body)
    return { timer.cancel() }
  }

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
    let sum = whole.partialValue.addingReportingOverflow(Int(attoseconds / 1_000_000_000))
    return whole.overflow || sum.overflow
      ? (time < .zero ? .now() : .distantFuture) : .now() + .nanoseconds(max(0, sum.partialValue))
  }

  package func cancel() { source.cancel() }

  deinit { source.cancel() }
}
