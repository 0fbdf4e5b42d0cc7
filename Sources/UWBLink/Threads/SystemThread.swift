// SPDX-License-Identifier: Apache-2.0
internal import CUWB
internal import Glibc
internal import Locking
internal import SystemPackage

/// A detached thread of the library.
struct SystemThread: @unchecked Sendable {
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
  static func start(
    _ name: StaticString, priority: Int32? = nil, for endpoint: @autoclosure () -> String,
    _ body: @escaping @Sendable () -> Void
  ) throws(LinkError) -> SystemThread {
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
      throw LinkError(threadFailure: Errno(rawValue: failed), priority, endpoint: endpoint())
    }
    return SystemThread(id: id)
  }

  var isCurrent: Bool { pthread_equal(id, pthread_self()) != 0 }

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

extension LinkError {
  init(threadFailure errno: Errno, _ priority: Int32?, endpoint: String) {
    let isRefused = priority != nil && errno != .resourceTemporarilyUnavailable
    self.init(
      .threadUnavailable, endpoint: endpoint, errno: errno,
      detail: isRefused
        ? "real-time priority \(priority ?? 0) is not allowed: \(errno)" : "\(errno)",
      recoverySuggestion: isRefused
        ? "Use 1 to 99, and allow it with ulimit -r, LimitRTPRIO= of the systemd unit, or "
          + "CAP_SYS_NICE." : nil)
  }
}
