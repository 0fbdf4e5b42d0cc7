// SPDX-License-Identifier: Apache-2.0
internal import Locking

/// Something that happens once, and that tasks wait for.
package final class Latch: Sendable {
  private struct State {
    var isOpen = false
    var waiting: [@Sendable () -> Void] = []
  }
  private let state = Locked(State())

  /// Whether it has happened. Any thread.
  var isOpen: Bool { state.withLock { $0.isOpen } }

  /// It has happened. Any thread.
  func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for wake in waiting { wake() }
  }

  /// Waits until it has happened, also in a cancelled task.
  package func wait() async {
    await withCheckedContinuation { continuation in whenOpen { continuation.resume() } }
  }

  /// Waits until it has happened, but no longer than for a time; returns whether it has.
  func wait(milliseconds: Int32) async -> Bool {
    await withCheckedContinuation { continuation in
      // Resumed by whichever comes first.
      let waiting = Locked<CheckedContinuation<Bool, Never>?>(continuation)
      let timer = Task.detached {
        try? await Task.sleep(for: .milliseconds(milliseconds))
        waiting.withLock { $0.take() }?.resume(returning: false)
      }
      whenOpen {
        waiting.withLock { $0.take() }?.resume(returning: true)
        timer.cancel()
      }
    }
  }

  /// Blocks the calling thread until it has happened.
  package func waitBlocking() {
    let event = WakeEvent()
    whenOpen { event.wake() }
    event.sleep()
  }

  private func whenOpen(_ wake: @escaping @Sendable () -> Void) {
    let isOpen = state.withLock { state in
      if !state.isOpen { state.waiting.append(wake) }
      return state.isOpen
    }
    if isOpen { wake() }
  }
}
