// SPDX-License-Identifier: Apache-2.0
internal import Atomics
internal import CUWB

/// Lets one thread sleep until another one wakes it. An early wake is kept.
@safe package final class WakeEvent: @unchecked Sendable {
  // Safe because the word is accessed atomically only, and lives as long as this object.
  private let memory = UnsafeMutablePointer<UInt32>.allocate(capacity: 1)
  private let word: UnsafeAtomic<UInt32>

  package init() {
    unsafe memory.initialize(to: 0)
    // Zero bytes are a valid initial representation of an atomic number.
    word = unsafe UnsafeAtomic(
      at: UnsafeMutableRawPointer(memory)
        .bindMemory(to: UnsafeAtomic<UInt32>.Storage.self, capacity: 1))
  }

  deinit { unsafe UnsafeMutableRawPointer(memory).deallocate() }

  /// Sleeps until a wake; returns false if the time has passed first.
  ///
  /// - Parameter timeout: The longest sleep; nil for no limit.
  @discardableResult
  package func sleep(timeout: Duration? = nil) -> Bool {
    let deadline = timeout.map { Deadline(after: $0) }
    while word.exchange(0, ordering: .acquiringAndReleasing) == 0 {
      let left = deadline?.milliseconds ?? -1
      guard left != 0 else { return false }
      unsafe cuwb_futex_wait(memory, 0, left)
    }
    return true
  }

  package func wake() {
    word.store(1, ordering: .releasing)
    unsafe cuwb_futex_wake(memory)
  }
}

/// A one-time event that tasks and threads can wait for.
package final class Latch: Sendable {
  private struct State {
    var isOpen = false
    var waiting: [@Sendable () -> Void] = []
  }
  private let state = Locked(State())

  package init() {}

  /// Whether the event has occurred. Callable from any thread.
  package var isOpen: Bool { state.withLock { $0.isOpen } }

  /// Marks the event as occurred, and resumes all waiters. Callable from any thread.
  package func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for wake in waiting { wake() }
  }

  /// Waits for the event, even in a cancelled task.
  package func wait() async {
    await withCheckedContinuation { continuation in whenOpen { continuation.resume() } }
  }

  /// Waits for the event up to a time limit; returns whether it has occurred.
  package func wait(milliseconds: Int32) async -> Bool {
    // Otherwise a time-out of zero could come first.
    if isOpen { return true }
    return await withCheckedContinuation { continuation in
      // The earlier of event and time-out resumes the task.
      let waiting = Locked<CheckedContinuation<Bool, Never>?>(continuation)
      let timer = OneShotTimer(after: .milliseconds(milliseconds)) {
        waiting.withLock { $0.take() }?.resume(returning: false)
      }
      whenOpen {
        waiting.withLock { $0.take() }?.resume(returning: true)
        timer.cancel()
      }
    }
  }

  /// Blocks the calling thread until the event.
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
