// SPDX-License-Identifier: Apache-2.0
internal import Atomics
internal import CUWB

/// Lets one thread sleep until another one wakes it. A wake that comes first is kept.
@safe final class WakeEvent: @unchecked Sendable {
  // Safe because the word is used atomically only, and lives as long as this object.
  private let memory = UnsafeMutablePointer<UInt32>.allocate(capacity: 1)
  private let word: UnsafeAtomic<UInt32>

  init() {
    unsafe memory.initialize(to: 0)
    // Zero bytes are the valid initial representation of an atomic number.
    word = unsafe UnsafeAtomic(
      at: UnsafeMutableRawPointer(memory)
        .bindMemory(to: UnsafeAtomic<UInt32>.Storage.self, capacity: 1))
  }

  deinit { unsafe UnsafeMutableRawPointer(memory).deallocate() }

  /// Returns false when the time has passed without a wake.
  ///
  /// - Parameter timeout: How long to sleep; nil sleeps without a limit.
  @discardableResult
  func sleep(timeout: Duration? = nil) -> Bool {
    let deadline = timeout.map { Deadline(after: $0) }
    while word.exchange(0, ordering: .acquiringAndReleasing) == 0 {
      let left = deadline?.milliseconds ?? -1
      guard left != 0 else { return false }
      unsafe cuwb_futex_wait(memory, 0, left)
    }
    return true
  }

  func wake() {
    word.store(1, ordering: .releasing)
    unsafe cuwb_futex_wake(memory)
  }
}
