// SPDX-License-Identifier: Apache-2.0
internal import DequeModule

/// A lock that suspends instead of blocking; callers get it in the order of their calls. A number
/// of them may have it at the same time.
package final class AsyncMutex: Sendable {
  private struct State {
    var free: Int
    var waiting: Deque<CheckedContinuation<Void, Never>> = []
  }
  private let state: Locked<State>

  package init(_ count: Int = 1) { state = Locked(State(free: count)) }

  package func lock() async {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        if state.free > 0 {
          state.free -= 1
          return true
        }
        state.waiting.append(continuation)
        return false
      }
      if isFree { continuation.resume() }
    }
  }

  package func unlock() {
    let next = state.withLock { state in
      let next = state.waiting.popFirst()
      if next == nil { state.free += 1 }
      return next
    }
    next?.resume()
  }
}
