// SPDX-License-Identifier: Apache-2.0
import Dispatch

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

  /// Calls `body` on the calling thread, when the queue has done what it was given before. Waking a thread
  /// of the queue's own would take longer than most of what is done here.
  nonisolated static func sync(_ body: @ServiceActor () -> Void) {
    ServiceQueue.shared.queue.sync { assumeIsolated(body) }
  }
}

/// The queue of `ServiceActor`, for its jobs and for the handlers of descriptors.
final class ServiceQueue: SerialExecutor {
  static let shared = ServiceQueue()

  let queue = DispatchQueue(label: "uwbd")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }

  func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}
