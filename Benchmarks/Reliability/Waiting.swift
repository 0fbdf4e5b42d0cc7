// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Runs an asynchronous function and waits for it, on a thread that no task needs.
func waiting<T: Sendable>(_ body: @escaping @Sendable () async -> T) -> T {
  let result = Cell<T?>(nil)
  let done = Cell(sem_t())
  sem_init(done.pointer, 0, 0)
  Task.detached {
    result.pointer.pointee = await body()
    sem_post(done.pointer)
  }
  while sem_wait(done.pointer) != 0 {}
  defer {
    result.destroy()
    done.destroy()
  }
  guard let value = result.pointer.pointee else { fatalError("a task left no result") }
  return value
}
