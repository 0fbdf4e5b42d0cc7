// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import Locking

/// Runs what may block on a thread of its own, away from those that run tasks.
package func onOwnThread<R: Sendable>(_ body: @escaping @Sendable () -> R) async -> R {
  // Through a lock rather than the continuation: ThreadSanitizer does not see that a task goes on
  // behind what a thread of nobody's has done.
  let outcome = Locked<R?>(nil)
  await withCheckedContinuation { continuation in
    let work = Unmanaged.passRetained(
      Work {
        let value = body()
        outcome.withLock { $0 = value }
        continuation.resume()
      })
    var id = pthread_t()
    let failed = pthread_create(
      &id, nil,
      { context in
        Unmanaged<Work>.fromOpaque(context!).takeRetainedValue().body()
        return nil
      }, work.toOpaque())
    precondition(failed == 0, "no thread could be created (error \(failed))")
    pthread_detach(id)
  }
  guard let value = outcome.withLock({ $0.take() }) else {
    preconditionFailure("the thread has put it there")
  }
  return value
}

private final class Work: Sendable {
  let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}
