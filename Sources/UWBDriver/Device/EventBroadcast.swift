// SPDX-License-Identifier: Apache-2.0
internal import Locking

/// Sends each event to every taker.
final class EventBroadcast: Sendable {
  private struct State {
    var takers: [Int: AsyncStream<DeviceEvent>.Continuation] = [:]
    var next = 0
    var finished = false
  }

  private let state = Locked(State())

  func subscribe() -> AsyncStream<DeviceEvent> {
    // Bounded: a taker that does not take must not make the memory grow.
    let (stream, continuation) = AsyncStream<DeviceEvent>.makeStream(
      bufferingPolicy: .bufferingNewest(256))
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

  func send(_ event: DeviceEvent) {
    // Yielded outside the lock: a taker's termination comes back for it.
    for taker in state.withLock({ Array($0.takers.values) }) { taker.yield(event) }
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
