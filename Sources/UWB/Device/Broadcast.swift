// SPDX-License-Identifier: Apache-2.0
internal import Locking

/// Sends each element to every taker.
final class Broadcast<Element: Sendable>: Sendable {
  private struct State {
    var takers: [Int: AsyncStream<Element>.Continuation] = [:]
    var next = 0
    var finished = false
  }

  private let state = Locked(State())

  /// - Parameter policy: bounded, because a taker that does not take must not make the memory grow.
  func subscribe(
    _ policy: AsyncStream<Element>.Continuation.BufferingPolicy
  ) -> AsyncStream<Element> {
    let (stream, continuation) = AsyncStream<Element>.makeStream(bufferingPolicy: policy)
    let id = state.withLock { state -> Int? in
      guard !state.finished else { return nil }
      state.next += 1
      state.takers[state.next] = continuation
      return state.next
    }
    guard let id else {
      continuation.finish()
      return stream
    }
    continuation.onTermination = { [weak self] _ in
      _ = self?.state.withLock { $0.takers.removeValue(forKey: id) }
    }
    return stream
  }

  /// - Returns: whether a taker was too slow: an element was dropped.
  @discardableResult
  func send(_ element: Element) -> Bool {
    var isDropped = false
    // Yielded outside the lock: a taker's termination comes back for it.
    for taker in state.withLock({ Array($0.takers.values) }) {
      if case .dropped = taker.yield(element) { isDropped = true }
    }
    return isDropped
  }

  func finish() {
    let takers = state.withLock { state in
      state.finished = true
      defer { state.takers = [:] }
      return Array(state.takers.values)
    }
    for taker in takers { taker.finish() }
  }
}
