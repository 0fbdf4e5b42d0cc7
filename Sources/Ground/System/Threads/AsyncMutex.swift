// SPDX-License-Identifier: Apache-2.0
internal import DequeModule

/// A lock that suspends instead of blocking; callers get it in the order of their calls.
package final class AsyncMutex: Sendable {
  private struct State {
    var isTaken = false
    var waiting: Deque<CheckedContinuation<Void, Never>> = []
  }
  private let state = Locked(State())

  package init() {}

  package func lock() async {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        if !state.isTaken {
          state.isTaken = true
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
      if next == nil { state.isTaken = false }
      return next
    }
    next?.resume()
  }
}
