// SPDX-License-Identifier: Apache-2.0

/// Sends each element to all subscribers.
package final class Broadcast<Element: Sendable>: Sendable {
  private struct State {
    var subscribers: [Int: AsyncStream<Element>.Continuation] = [:]
    var next = 0
    var finished = false
  }

  private let state = Locked(State())

  package init() {}

  package var subscriberCount: Int { state.withLock { $0.subscribers.count } }

  /// - Parameter policy: bounded, so that a slow subscriber cannot use unlimited memory.
  package func subscribe(
    _ policy: AsyncStream<Element>.Continuation.BufferingPolicy
  ) -> AsyncStream<Element> {
    let (stream, continuation) = AsyncStream<Element>.makeStream(bufferingPolicy: policy)
    let id = state.withLock { state -> Int? in
      guard !state.finished else { return nil }
      state.next += 1
      state.subscribers[state.next] = continuation
      return state.next
    }
    guard let id else {
      continuation.finish()
      return stream
    }
    continuation.onTermination = { [weak self] _ in
      _ = self?.state.withLock { $0.subscribers.removeValue(forKey: id) }
    }
    return stream
  }

  /// - Returns: whether an element was dropped because a subscriber was too slow.
  @discardableResult
  package func send(_ element: Element) -> Bool {
    var isDropped = false
    // Outside the lock, which the termination handler of a subscriber takes.
    for subscriber in state.withLock({ Array($0.subscribers.values) }) {
      if case .dropped = subscriber.yield(element) { isDropped = true }
    }
    return isDropped
  }

  package func finish() {
    let subscribers = state.withLock { state in
      state.finished = true
      defer { state.subscribers = [:] }
      return Array(state.subscribers.values)
    }
    for subscriber in subscribers { subscriber.finish() }
  }
}
