// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// Runs what may block on a thread of its own, away from those that run tasks.
func onOwnThread<R: Sendable>(_ body: @escaping @Sendable () -> R) async -> R {
  await withCheckedContinuation { continuation in
    let work = Unmanaged.passRetained(Work { continuation.resume(returning: body()) })
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
}

private final class Work: Sendable {
  let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}
