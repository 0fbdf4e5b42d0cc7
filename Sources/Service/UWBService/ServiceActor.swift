// SPDX-License-Identifier: Apache-2.0
import Dispatch
import System

/// Everything that serves clients runs here, on one queue. Nothing that runs here may block.
@globalActor actor ServiceActor {
  static let shared = ServiceActor()

  nonisolated var unownedExecutor: UnownedSerialExecutor {
    ServiceQueue.shared.asUnownedSerialExecutor()
  }

  /// Calls `body` at once, in a handler that the queue runs.
  nonisolated static func assumeIsolated(_ body: @ServiceActor () -> Void) {
    shared.preconditionIsolated()
    // As `MainActor.assumeIsolated` does it: the isolation is no part of how a function is called.
    withoutActuallyEscaping(body) { unsafeBitCast($0, to: (() -> Void).self)() }
  }

  /// Calls `body` after what the queue was given before: at once on the calling thread if the queue has
  /// nothing to do, because waking a thread of its own takes longer than most of what is done here. The
  /// caller then waits for what has begun meanwhile. It also waits if the queue has much to do, so that there
  /// is an end to what waits.
  nonisolated static func atOnceOrLater(_ body: @escaping @Sendable @ServiceActor () -> Void) {
    let service = ServiceQueue.shared
    if 1...1_024 ~= service.load {
      service.later(body)
    } else {
      service.queue.sync { service.handle(body) }
    }
  }
}

/// The queue of `ServiceActor`, for its jobs and for the handlers of descriptors.
final class ServiceQueue: SerialExecutor {
  static let shared = ServiceQueue()

  let queue = DispatchQueue(label: "uwbd")
  /// Jobs and handlers that run or wait.
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

  /// Calls `body` after what waits.
  func later(_ body: @escaping @Sendable @ServiceActor () -> Void) {
    pending.withLock { $0 += 1 }
    queue.async { [self] in
      ServiceActor.assumeIsolated(body)
      pending.withLock { $0 -= 1 }
    }
  }

  /// Calls `body` in the queue, in a handler of a descriptor or timer.
  func handle(_ body: @ServiceActor () -> Void) {
    pending.withLock { $0 += 1 }
    ServiceActor.assumeIsolated(body)
    pending.withLock { $0 -= 1 }
  }

  func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}
