// SPDX-License-Identifier: Apache-2.0
internal import Locking

/// Sends the data of a session to every taker.
final class DataTakers: Sendable {
  private struct State {
    var takers: [Int: AsyncStream<ReceivedData>.Continuation] = [:]
    var next = 0
    var isFinished = false
  }
  private let state = Locked(State())

  func stream(_ capacity: Int) -> AsyncStream<ReceivedData> {
    let (stream, continuation) = AsyncStream<ReceivedData>.makeStream(
      bufferingPolicy: .bufferingOldest(capacity))
    let id = state.withLock { state -> Int? in
      guard !state.isFinished else { return nil }
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

  /// Whether a taker was too slow for it.
  func send(_ data: ReceivedData) -> Bool {
    var isDropped = false
    // Outside the lock: a taker's termination comes back for it.
    for taker in state.withLock({ Array($0.takers.values) }) {
      if case .dropped = taker.yield(data) { isDropped = true }
    }
    return isDropped
  }

  func finish() {
    let takers = state.withLock { state in
      state.isFinished = true
      defer { state.takers = [:] }
      return Array(state.takers.values)
    }
    for taker in takers { taker.finish() }
  }
}
