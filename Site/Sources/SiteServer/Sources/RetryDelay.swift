// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Synchronization

/// The end of one attempt to use a source.
struct AttemptEnd: Sendable, Hashable {
  var reason: String
  /// Whether the source was reachable.
  var hasWorked: Bool
}

/// The time in seconds before the next attempt to reach a source. It doubles with each attempt, up
/// to a limit.
struct RetryDelay: Sendable, Hashable {
  static let (shortest, longest) = (0.5, 8.0)

  private var seconds = Self.shortest
  private var reason: String?

  /// Returns the seconds before the next attempt, and whether the reason has changed.
  mutating func next(after end: AttemptEnd) -> (seconds: Double, isNews: Bool) {
    if end.hasWorked { self = RetryDelay() }
    defer { (seconds, reason) = (min(2 * seconds, Self.longest), end.reason) }
    return (seconds, reason != end.reason)
  }
}

extension SourcePort {
  /// Waits for an asynchronous attempt on this thread, which belongs to the source. The attempt is
  /// cancelled when the port is closed.
  func wait(for attempt: @escaping @Sendable () async -> AttemptEnd) -> AttemptEnd {
    let (result, ended) = (EndBox(), DispatchSemaphore(value: 0))
    let task = Task {
      let end = await attempt()
      result.end.withLock { $0 = end }
      ended.signal()
    }
    while ended.wait(timeout: .now() + .milliseconds(100)) == .timedOut {
      if isClosed { task.cancel() }
    }
    return result.end.withLock { $0 } ?? AttemptEnd(reason: "the task has ended", hasWorked: false)
  }

  private final class EndBox: Sendable {
    let end = Mutex<AttemptEnd?>(nil)
  }

  /// Repeats attempts until the port is closed.
  func keep(_ attempt: () -> AttemptEnd) {
    var delay = RetryDelay()
    while !isClosed {
      let end = attempt()
      guard !isClosed else { return }
      let (seconds, isNews) = delay.next(after: end)
      if isNews { send(.interrupted(reason: end.reason, retryAfter: seconds)) }
      pause(seconds)
    }
  }

  private func pause(_ seconds: Double) {
    let (end, semaphore) = (now + seconds, DispatchSemaphore(value: 0))
    while !isClosed, now < end {
      _ = semaphore.wait(timeout: .now() + .milliseconds(Int(1 + 1000 * min(end - now, 0.1))))
    }
  }
}
