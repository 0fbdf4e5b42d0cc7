// SPDX-License-Identifier: Apache-2.0
internal import Atomics
internal import CUWB

/// Lets one thread sleep until another one wakes it. A wake that comes first is not lost.
final class Nap: @unchecked Sendable {
  // Sound: the word is used atomically only, and lives as long as this.
  private let memory = UnsafeMutablePointer<UInt32>.allocate(capacity: 1)
  private let word: UnsafeAtomic<UInt32>

  init() {
    memory.initialize(to: 0)
    // Zero bytes are the valid initial representation of an atomic number.
    word = UnsafeAtomic(
      at: UnsafeMutableRawPointer(memory)
        .bindMemory(to: UnsafeAtomic<UInt32>.Storage.self, capacity: 1))
  }

  deinit { UnsafeMutableRawPointer(memory).deallocate() }

  func sleep() {
    while word.exchange(0, ordering: .acquiringAndReleasing) == 0 {
      cuwb_futex_wait(memory, 0, -1)
    }
  }

  func wake() {
    word.store(1, ordering: .releasing)
    cuwb_futex_wake(memory)
  }
}
