// SPDX-License-Identifier: Apache-2.0
internal import DequeModule
internal import Locking

/// Runs `body`, which may block, on a blocking thread, and suspends the calling task meanwhile.
///
/// At most 64 calls run at the same time; further calls wait for one to end. `body` must not wait
/// for another call of this function, so that each call ends by itself and no deadlock occurs.
///
/// - Parameter cancellation: The error thrown at once when the calling task is cancelled. `body`
///   then ends by itself, and its result is discarded. Nil ignores cancellation.
/// - Throws: `LinkError` with code `threadUnavailable` if the system has no thread for it.
package func runBlocking<R: Sendable>(
  on threads: BlockingThreads = .shared, cancellation: LinkError? = nil,
  _ body: @escaping @Sendable () -> R
) async throws(LinkError) -> R {
  // A lock rather than the continuation, because ThreadSanitizer does not see that a resumed task
  // continues after the writes of the resuming thread.
  let call = Locked(BlockingCall<R>())
  @Sendable func end(_ outcome: Result<R, LinkError>) {
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
      threads.run(
        BlockingThreads.Job(body: { end(.success(body())) }, fail: { end(.failure($0)) }))
    }
  } onCancel: {
    if let cancellation { end(.failure(cancellation)) }
  }
  guard let outcome = call.withLock({ $0.outcome.take() }) else {
    preconditionFailure("resumed without an outcome")
  }
  return try outcome.get()
}

/// The state of a call of `runBlocking`.
private struct BlockingCall<R: Sendable> {
  var outcome: Result<R, LinkError>?
  var continuation: CheckedContinuation<Void, Never>?
}

/// A pool of threads for blocking calls. It adds a thread when all are busy, and idle threads exit.
package final class BlockingThreads: Sendable {
  package static let shared = BlockingThreads(limit: 64)

  private let limit: Int
  private static let idleTime = Duration.seconds(5)

  package init(limit: Int) { self.limit = limit }

  struct Job: Sendable {
    let body: @Sendable () -> Void
    /// Runs instead of the job when the system has no thread for it.
    let fail: @Sendable (LinkError) -> Void
  }

  private struct State {
    var jobs: Deque<Job> = []
    var idle: [WakeEvent] = []
    var count = 0
  }
  private let state = Locked(State())

  func run(_ job: Job) {
    let (idle, needsThread) = state.withLock { state -> (WakeEvent?, Bool) in
      state.jobs.append(job)
      if let idle = state.idle.popLast() { return (idle, false) }
      guard state.count < limit else { return (nil, false) }
      state.count += 1
      return (nil, true)
    }
    idle?.wake()
    guard needsThread else { return }
    do throws(LinkError) {
      try SystemThread.start("uwb-blocking", for: "a blocking call") { self.work() }
    } catch {
      // Another thread, if any, runs the job.
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
        // After a time-out or an early wake, the event is still in the list.
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

/// Allows tasks that prefer these threads to block them.
extension BlockingThreads: TaskExecutor {
  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let body = { @Sendable in unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    run(Job(body: body, fail: { _ in body() }))
  }
}
