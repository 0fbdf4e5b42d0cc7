// SPDX-License-Identifier: Apache-2.0
internal import CUWB
internal import Glibc
package import SystemPackage

/// Why a thread could not be started.
package struct ThreadFailure: Error, Hashable {
  package var errno: Errno
  /// The real-time priority that was asked for.
  package var priority: Int32?

  package init(_ errno: Errno, priority: Int32? = nil) {
    (self.errno, self.priority) = (errno, priority)
  }
}

/// A detached thread of the library.
package struct SystemThread: @unchecked Sendable {
  // Safe because the ID is a number that is only compared.
  private let id: pthread_t

  /// Starts a thread that receives no signals.
  ///
  /// - Parameters:
  ///   - name: The name, at most 15 bytes.
  ///   - priority: Real-time priority (SCHED_FIFO), 1...99; nil for the scheduling of the caller.
  ///   - endpoint: The device that the thread serves, for errors.
  /// - Throws: `LinkError` with code `threadUnavailable`.
  @discardableResult
  package static func start(
    _ name: StaticString, priority: Int32? = nil, _ body: @escaping @Sendable () -> Void
  ) throws(ThreadFailure) -> SystemThread {
    var id = pthread_t()
    let start = unsafe Unmanaged.passRetained(Start(name, body))
    let failed = unsafe withAttributes(priority) { attributes in
      withSignalsBlocked {
        unsafe pthread_create(
          &id, attributes,
          { context in
            let start = unsafe Unmanaged<Start>.fromOpaque(context!).takeRetainedValue()
            unsafe cuwb_name_thread(
              UnsafeRawPointer(start.name.utf8Start).assumingMemoryBound(to: CChar.self))
            start.body()
            return nil
          }, start.toOpaque())
      }
    }
    guard failed == 0 else {
      unsafe start.release()
      throw ThreadFailure(Errno(rawValue: failed), priority: priority)
    }
    return SystemThread(id: id)
  }

  package var isCurrent: Bool { pthread_equal(id, pthread_self()) != 0 }

  private final class Start: Sendable {
    let name: StaticString
    let body: @Sendable () -> Void

    init(_ name: StaticString, _ body: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
    }
  }

  private static func withAttributes(
    _ priority: Int32?, _ body: (UnsafePointer<pthread_attr_t>) -> Int32
  ) -> Int32 {
    var attributes = pthread_attr_t()
    var failed = unsafe pthread_attr_init(&attributes)
    guard failed == 0 else { return failed }
    defer { unsafe pthread_attr_destroy(&attributes) }
    unsafe pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    if let priority {
      var parameters = sched_param()
      parameters.sched_priority = priority
      unsafe pthread_attr_setinheritsched(&attributes, Int32(PTHREAD_EXPLICIT_SCHED))
      unsafe pthread_attr_setschedpolicy(&attributes, SCHED_FIFO)
      failed = unsafe pthread_attr_setschedparam(&attributes, &parameters)
      guard failed == 0 else { return failed }
    }
    return unsafe body(&attributes)
  }
}
