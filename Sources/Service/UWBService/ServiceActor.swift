// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import System

/// The actor that serves all clients, on one queue. Its functions must not block.
@globalActor package actor ServiceActor {
  package static let shared = ServiceActor()

  nonisolated package var unownedExecutor: UnownedSerialExecutor {
    ServiceQueue.shared.asUnownedSerialExecutor()
  }

  /// Calls `body` synchronously from a job or handler of the queue.
  nonisolated static func assumeIsolated(_ body: @ServiceActor () -> Void) {
    shared.preconditionIsolated()
    withoutActuallyEscaping(body) { callOnThisExecutor($0) }
  }

  /// Calls `body` after all earlier jobs of the queue. Never waits for them.
  ///
  /// An idle queue runs `body` at once on the calling thread, because to wake another thread takes
  /// longer than most jobs.
  nonisolated static func atOnceOrLater(_ body: @escaping @Sendable @ServiceActor () -> Void) {
    if !ServiceQueue.shared.runIfIdle(body) { ServiceQueue.shared.later(body) }
  }

  /// Whether the number of pending jobs is so high that threads of chips must not add more.
  nonisolated static var isFull: Bool { ServiceQueue.shared.load > 1_024 }

  /// Returns when all earlier jobs have run.
  @ServiceActor static func turn() async {}
}

/// The queue of `ServiceActor`. It runs the actor's jobs and the handlers of descriptors.
final class ServiceQueue: SerialExecutor {
  static let shared = ServiceQueue()

  let queue = DispatchQueue(label: "uwbd")

  private struct State {
    /// The number of jobs and handlers that run or wait.
    var pending = 0
    /// The thread that runs one of them.
    var thread: pthread_t?
  }
  private let state = Locked(State())
  /// Held while a job runs: on the queue, or on a thread that has found the queue idle.
  private let gate = Locked(())

  var load: Int { state.withLock { $0.pending } }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    state.withLock { $0.pending += 1 }
    queue.async { [self] in
      gate.withLock { _ in run { job.runSynchronously(on: asUnownedSerialExecutor()) } }
    }
  }

  /// Calls `body` on the queue after all earlier jobs.
  func later(_ body: @escaping @Sendable @ServiceActor () -> Void) {
    state.withLock { $0.pending += 1 }
    queue.async { [self] in
      gate.withLock { _ in run { ServiceActor.assumeIsolated(body) } }
    }
  }

  /// Calls `body` on the queue after a time.
  func later(after time: Duration, _ body: @escaping @Sendable @ServiceActor () -> Void) {
    let milliseconds = DispatchTimeInterval.milliseconds(Int(time / .milliseconds(1)))
    queue.asyncAfter(deadline: .now() + milliseconds) { [self] in handle(body) }
  }

  /// Calls `body` in a handler of a descriptor or timer that runs on the queue.
  func handle(_ body: @ServiceActor () -> Void) {
    state.withLock { $0.pending += 1 }
    gate.withLock { _ in run { ServiceActor.assumeIsolated(body) } }
  }

  /// Calls `body` on the calling thread if no job runs or waits.
  ///
  /// - Returns: Whether it was called.
  fileprivate func runIfIdle(_ body: @ServiceActor () -> Void) -> Bool {
    gate.withLockIfFree { _ in
      let isIdle = state.withLock { state in
        guard state.pending == 0 else { return false }
        state.pending = 1
        return true
      }
      if isIdle { run { ServiceActor.assumeIsolated(body) } }
      return isIdle
    } ?? false
  }

  /// Runs a job while the gate is held.
  private func run(_ job: () -> Void) {
    state.withLock { $0.thread = pthread_self() }
    job()
    state.withLock { state in
      state.thread = nil
      state.pending -= 1
    }
  }

  func checkIsolated() {
    precondition(
      state.withLock { $0.thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false },
      "not on the queue of the service")
  }
}
