// SPDX-License-Identifier: Apache-2.0
import Dispatch
import System

/// The actor that serves all clients, on one queue. Its functions must not block.
@globalActor actor ServiceActor {
  static let shared = ServiceActor()

  nonisolated var unownedExecutor: UnownedSerialExecutor {
    ServiceQueue.shared.asUnownedSerialExecutor()
  }

  /// Calls `body` synchronously from a handler that runs on the queue.
  nonisolated static func assumeIsolated(_ body: @ServiceActor () -> Void) {
    shared.preconditionIsolated()
    // Erases the isolation as `MainActor.assumeIsolated` does; it does not change the calling
    // convention.
    withoutActuallyEscaping(body) { unsafeBitCast($0, to: (() -> Void).self)() }
  }

  /// Calls `body` after all earlier jobs of the queue.
  ///
  /// An idle queue runs `body` at once on the calling thread, because to wake another thread takes
  /// longer than most jobs. The caller also waits when more than 1,024 jobs are pending, which
  /// bounds the queue.
  nonisolated static func atOnceOrLater(_ body: @escaping @Sendable @ServiceActor () -> Void) {
    let service = ServiceQueue.shared
    if 1...1_024 ~= service.load {
      service.later(body)
    } else {
      service.queue.sync { service.handle(body) }
    }
  }
}

/// The queue of `ServiceActor`. It runs the actor's jobs and the handlers of descriptors.
final class ServiceQueue: SerialExecutor {
  static let shared = ServiceQueue()

  let queue = DispatchQueue(label: "uwbd")
  /// The number of jobs and handlers that run or wait.
  private let pending = Locked(0)

  var load: Int { pending.withLock { $0 } }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    pending.withLock { $0 += 1 }
    queue.async { [self] in
      job.runSynchronously(on: asUnownedSerialExecutor())
      pending.withLock { $0 -= 1 }
    }
  }

  /// Calls `body` on the queue after all earlier jobs.
  func later(_ body: @escaping @Sendable @ServiceActor () -> Void) {
    pending.withLock { $0 += 1 }
    queue.async { [self] in
      ServiceActor.assumeIsolated(body)
      pending.withLock { $0 -= 1 }
    }
  }

  /// Calls `body` in a handler of a descriptor or timer that runs on the queue.
  func handle(_ body: @ServiceActor () -> Void) {
    pending.withLock { $0 += 1 }
    ServiceActor.assumeIsolated(body)
    pending.withLock { $0 -= 1 }
  }

  func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}
