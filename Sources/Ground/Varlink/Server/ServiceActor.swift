// SPDX-License-Identifier: Apache-2.0
internal import Dispatch
internal import Glibc
internal import System

/// The actor of the program's varlink servers, on one queue. Its functions must not block.
@globalActor package actor ServiceActor {
  package static let shared = ServiceActor()

  nonisolated package var unownedExecutor: UnownedSerialExecutor {
    unsafe ServiceQueue.shared.asUnownedSerialExecutor()
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
  nonisolated package static func atOnceOrLater(
    _ body: @escaping @Sendable @ServiceActor () -> Void
  ) {
    if !ServiceQueue.shared.runIfIdle(body) { ServiceQueue.shared.later(body) }
  }

  /// Whether the number of pending jobs is so high that threads of chips must not add more.
  nonisolated package static var isFull: Bool { ServiceQueue.shared.load > 1_024 }

  /// Returns when all earlier jobs have run.
  @ServiceActor package static func turn() async {}
}

/// The queue of `ServiceActor`. It runs the actor's jobs and the handlers of descriptors.
package final class ServiceQueue: SerialExecutor {
  package static let shared = ServiceQueue()

  let queue = DispatchQueue(label: "varlink")

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

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    state.withLock { $0.pending += 1 }
    queue.async { [self] in
      gate.withLock { _ in run { unsafe job.runSynchronously(on: asUnownedSerialExecutor()) } }
    }
  }

  /// Calls `body` on the queue after all earlier jobs.
  package func later(_ body: @escaping @Sendable @ServiceActor () -> Void) {
    state.withLock { $0.pending += 1 }
    queue.async { [self] in
      gate.withLock { _ in run { ServiceActor.assumeIsolated(body) } }
    }
  }

  /// Calls `body` on the queue after a time.
  package func later(after time: Duration, _ body: @escaping @Sendable @ServiceActor () -> Void) {
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

  package func checkIsolated() {
    precondition(
      state.withLock { $0.thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false },
      "not on the queue of the servers")
  }
}
