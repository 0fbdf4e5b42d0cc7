// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// A value behind a lock.
///
/// It does what `Synchronization.Mutex` does, over a pthread mutex: on Linux ThreadSanitizer does not
/// see through Swift's own futex mutex and would report every value behind one, so the tests under it
/// could not be believed. A module of its own because the driver's side and the simulator need it and
/// share nothing else.
package final class Locked<Value>: @unchecked Sendable {
  // Sound: `value` is touched between lock and unlock only.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private var value: Value

  package init(_ value: Value) {
    self.value = value
    mutex.initialize(to: pthread_mutex_t())
    let failed = pthread_mutex_init(mutex, nil)
    precondition(failed == 0, "no mutex could be made (error \(failed))")
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// Runs `body` with the value while no one else has it.
  package func withLock<R, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&value)
  }
}
