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
  /// The calls that wait for the event, by numbers; nil after the event.
  private struct Waiting {
    var calls: [Int: @Sendable () -> Void]? = [:]
    var number = 0
  }
  private let waiting = Locked(Waiting())

  package init() {}

  /// Whether the event has occurred. Callable from any thread.
  package var isOpen: Bool { waiting.withLock { $0.calls == nil } }

  /// Marks the event as occurred, and resumes all waiters. Callable from any thread.
  package func open() {
    let calls = waiting.withLock { $0.calls.take() }
    for (_, wake) in (calls ?? [:]).sorted(by: { $0.key < $1.key }) { wake() }
  }

  /// Waits for the event, even in a cancelled task.
  package func wait() async {
    await withCheckedContinuation { continuation in whenOpen { continuation.resume() } }
  }

  /// Waits for the event up to a time limit; returns whether it has occurred.
  package func wait(milliseconds: Int32) async -> Bool {
    var timer: OneShotTimer?
    defer { timer?.cancel() }
    return await withCheckedContinuation { continuation in
      guard let number = whenOpen({ continuation.resume(returning: true) }) else { return }
      timer = OneShotTimer(after: .milliseconds(milliseconds)) { [self] in
        // The earlier of event and time-out removes the call.
        let call = waiting.withLock { $0.calls?.removeValue(forKey: number) }
        if call != nil { continuation.resume(returning: false) }
      }
    }
  }

  /// Blocks the calling thread until the event.
  package func waitBlocking() {
    let event = WakeEvent()
    whenOpen { event.wake() }
    event.sleep()
  }

  /// Calls a function at the event, or at once after it.
  ///
  /// - Returns: The number of the waiting call; nil if the event has occurred.
  @discardableResult
  private func whenOpen(_ wake: @escaping @Sendable () -> Void) -> Int? {
    let number: Int? = waiting.withLock { waiting in
      guard waiting.calls != nil else { return nil }
      waiting.number += 1
      waiting.calls?[waiting.number] = wake
      return waiting.number
    }
    if number == nil { wake() }
    return number
  }
}
