// SPDX-License-Identifier: Apache-2.0

internal import Dispatch

/// The seconds before the next attempt to reach a source: doubled each time, with a bound.
struct RetryDelay: Sendable, Hashable {
  static let (shortest, longest) = (0.5, 8.0)

  private var seconds = Self.shortest

  mutating func next() -> Double {
    defer { seconds = min(2 * seconds, Self.longest) }
    return seconds
  }
}

extension SourcePort {
  /// Reports that the source is away, and waits before the next attempt.
  func pause(_ reason: String, _ seconds: Double) {
    send(.interrupted(reason: reason, retryAfter: seconds))
    let (end, semaphore) = (now + seconds, DispatchSemaphore(value: 0))
    while !isClosed, now < end {
      _ = semaphore.wait(timeout: .now() + .milliseconds(Int(1 + 1000 * min(end - now, 0.1))))
    }
  }
}
