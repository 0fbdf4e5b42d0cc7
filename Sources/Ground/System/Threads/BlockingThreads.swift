// SPDX-License-Identifier: Apache-2.0
internal import DequeModule

/// A pool of threads for blocking calls. It adds a thread when all are busy, and idle threads exit.
package final class BlockingThreads: Sendable {
  package static let shared = BlockingThreads(limit: 64)

  private let limit: Int
  private static let idleTime = Duration.seconds(5)

  package init(limit: Int) { self.limit = limit }

  /// Why a call has no result.
  package enum CallFailure: Error, Hashable {
    /// The system has no thread for it.
    case thread(ThreadFailure)
    /// The calling task was cancelled.
    case cancelled
  }

  /// Runs `body`, which may block, on one of these threads and suspends the calling task meanwhile.
  ///
  /// At most `limit` calls run at the same time; further calls wait for one to end. A call must not
  /// wait for another call, so that each ends by itself.
  ///
  /// - Parameter isCancellable: Whether cancellation of the calling task ends the wait at once. The
  ///   result of `body` is dropped then.
  /// - Throws: `CallFailure`.
  package func call<R: Sendable>(
    isCancellable: Bool = false, _ body: @escaping @Sendable () -> R
  ) async throws(CallFailure) -> R {
    // Through a lock rather than the continuation: ThreadSanitizer does not see that a resumed task
    // runs after the resuming thread's accesses.
    let call = Locked(Call<R>())
    @Sendable func end(_ outcome: Result<R, CallFailure>) {
      let continuation = call.withLock { call -> CheckedContinuation<Void, Never>? in
        guard call.outcome == nil else { return nil }
        call.outcome = outcome
        return call.continuation.take()
      }
      continuation?.resume()
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isCancelled = call.withLock { call in
          guard call.outcome == nil else { return true }
          call.continuation = continuation
          return false
        }
        guard !isCancelled else { return continuation.resume() }
        run(Job(body: { end(.success(body())) }, fail: { end(.failure(.thread($0))) }))
      }
    } onCancel: {
      if isCancellable { end(.failure(.cancelled)) }
    }
    guard let outcome = call.withLock({ $0.outcome.take() }) else {
      preconditionFailure("resumed without an outcome")
    }
    return try outcome.get()
  }

  /// A call until it ends.
  private struct Call<R: Sendable> {
    var outcome: Result<R, CallFailure>?
    var continuation: CheckedContinuation<Void, Never>?
  }

  package struct Job: Sendable {
    let body: @Sendable () -> Void
    /// Runs instead of the job when the system has no thread for it.
    let fail: @Sendable (ThreadFailure) -> Void

    package init(
      body: @escaping @Sendable () -> Void, fail: @escaping @Sendable (ThreadFailure) -> Void
    ) {
      (self.body, self.fail) = (body, fail)
    }
  }

  private struct State {
    var jobs: Deque<Job> = []
    var idle: [WakeEvent] = []
    var count = 0
  }
  private let state = Locked(State())

  package func run(_ job: Job) {
    let (idle, needsThread) = state.withLock { state -> (WakeEvent?, Bool) in
      state.jobs.append(job)
      if let idle = state.idle.popLast() { return (idle, false) }
      guard state.count < limit else { return (nil, false) }
      state.count += 1
      return (nil, true)
    }
    idle?.wake()
    guard needsThread else { return }
    do throws(ThreadFailure) {
      try SystemThread.start("uwb-blocking") { self.work() }
    } catch {
      // Another thread runs it if there is one.
      let lost = state.withLock { state -> Deque<Job> in
        state.count -= 1
        guard state.count == 0 else { return [] }
        defer { state.jobs = [] }
        return state.jobs
      }
      for job in lost { job.fail(error) }
    }
  }

  private func work() {
    let event = WakeEvent()
    while true {
      let job = state.withLock { state in
        // Still there if it was not this one's turn to be woken.
        state.idle.removeAll { $0 === event }
        let job = state.jobs.popFirst()
        if job == nil { state.idle.append(event) }
        return job
      }
      if let job {
        job.body()
      } else if !event.sleep(timeout: Self.idleTime) {
        let ends = state.withLock { state in
          guard let index = state.idle.firstIndex(where: { $0 === event }) else { return false }
          state.idle.remove(at: index)
          state.count -= 1
          return true
        }
        if ends { return }
      }
    }
  }
}

/// Tasks that prefer these threads may block them.
extension BlockingThreads: TaskExecutor {
  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let body = { @Sendable in unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    run(Job(body: body, fail: { _ in body() }))
  }
}
