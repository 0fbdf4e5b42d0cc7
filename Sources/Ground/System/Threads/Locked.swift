// SPDX-License-Identifier: Apache-2.0
public import Glibc

/// A value protected by a lock.
///
/// Offers the interface of `Synchronization.Mutex`, implemented with a pthread mutex. On Linux,
/// ThreadSanitizer cannot follow the futex mutex of Swift, and reports false races. This module is
/// separate because the driver and the simulator both need it and share nothing else.
@safe @usableFromInline package final class Locked<Value>: @unchecked Sendable {
  // Sound because the value is accessed between lock and unlock only. Both are pointers: Swift
  // checks stored properties of classes for overlapping access at run time, which the lock already
  // rules out.
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

  /// Runs `body` with exclusive access to the value.
  ///
  /// Inlinable, so that callers specialise the generic result of `body` instead of returning it
  /// indirectly.
  @inlinable
  package func withLock<R, E: Error>(_ body: (inout Value) throws(E) -> R) throws(E) -> R {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return unsafe try body(&value.pointee)
  }

  /// Runs `body` with exclusive access to the value, unless another thread has it.
  ///
  /// - Returns: The result of `body`; nil if it did not run.
  package func withLockIfFree<R>(_ body: (inout Value) -> R) -> R? {
    guard unsafe pthread_mutex_trylock(mutex) == 0 else { return nil }
    defer { unsafe pthread_mutex_unlock(mutex) }
    return unsafe body(&value.pointee)
  }
}
