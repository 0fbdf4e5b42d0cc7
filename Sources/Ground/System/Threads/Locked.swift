// SPDX-License-Identifier: Apache-2.0
public import Glibc

/// A value behind a lock.
///
/// It does what `Synchronization.Mutex` does, over a pthread mutex: on Linux ThreadSanitizer does not
/// see through Swift's own futex mutex and would report every value behind one, so the tests under it
/// could not be believed.
@safe @usableFromInline package final class Locked<Value>: @unchecked Sendable {
  // Sound: the value is touched between lock and unlock only. Not a variable of the class, because
  // those are watched for overlapping access at run time, which the lock already rules out.
  @usableFromInline let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  @usableFromInline let value = UnsafeMutablePointer<Value>.allocate(capacity: 1)

  package init(_ value: Value) {
    unsafe self.value.initialize(to: value)
    unsafe mutex.initialize(to: pthread_mutex_t())
    let failed = unsafe pthread_mutex_init(mutex, nil)
    precondition(failed == 0, "no mutex could be made (error \(failed))")
  }

  deinit {
    unsafe pthread_mutex_destroy(mutex)
    unsafe mutex.deallocate()
    unsafe value.deinitialize(count: 1)
    unsafe value.deallocate()
  }

  /// Runs `body` with the value while no one else has it.
  ///
  /// Can be inlined, which takes a class that is usable from there: what `body` returns would
  /// otherwise be handed through as a value of a type that is only known at run time.
  @inlinable
  package func withLock<R, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return unsafe try body(&value.pointee)
  }
}
