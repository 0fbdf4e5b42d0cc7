// SPDX-License-Identifier: Apache-2.0
import CUWBTestSupport
import Glibc

/// A value that may not be copied, at a fixed address, for the thread that owns it. It is not a
/// variable of a class, because Swift checks these for overlapping access at run time. It has
/// memory of its own, so that cells of two threads never share a cache line.
struct Cell<Value: ~Copyable>: @unchecked Sendable {
  // Safe as long as the benchmarks use each cell on one thread at a time.
  let pointer: UnsafeMutablePointer<Value>

  init(_ value: consuming Value) {
    let line = 128
    let size = (MemoryLayout<Value>.size + line - 1) / line * line
    pointer = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: line)
      .bindMemory(to: Value.self, capacity: 1)
    pointer.initialize(to: value)
  }

  /// Destroys the value.
  func destroy() {
    pointer.deinitialize(count: 1)
    pointer.deallocate()
  }
}

/// A thread that runs one closure.
final class BackgroundThread {
  private let thread: pthread_t

  private final class Body {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  init(_ body: @escaping @Sendable () -> Void) {
    var id = pthread_t()
    let failed = pthread_create(
      &id, nil,
      { context in
        Unmanaged<Body>.fromOpaque(context!).takeRetainedValue().body()
        return nil
      }, Unmanaged.passRetained(Body(body)).toOpaque())
    precondition(failed == 0, "no thread could be created (error \(failed))")
    thread = id
  }

  func join() { pthread_join(thread, nil) }
}

/// Runs two closures on two processors at once. Returns the nanoseconds until both have ended.
func runPair(_ left: @escaping () -> Void, _ right: @escaping () -> Void) -> UInt64 {
  final class Body {
    let body: () -> Void
    init(_ body: @escaping () -> Void) { self.body = body }
  }
  let run: @convention(c) (UnsafeMutableRawPointer?) -> Void = { context in
    Unmanaged<Body>.fromOpaque(context!).takeUnretainedValue().body()
  }
  let bodies = (Body(left), Body(right))
  return withExtendedLifetime(bodies) {
    cuwb_test_run_pair(
      run, Unmanaged.passUnretained(bodies.0).toOpaque(),
      run, Unmanaged.passUnretained(bodies.1).toOpaque())
  }
}
