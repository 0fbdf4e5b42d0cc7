// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing

/// Runs tests that wait for other programs on two threads of their own. On the threads that run tasks,
/// as many of them as there are processors would keep all other tests from running.
struct OwnThreads: SuiteTrait, TestTrait, TestScoping {
  private final class Executor: TaskExecutor {
    private let queue = OperationQueue()

    init() { queue.maxConcurrentOperationCount = 2 }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.addOperation { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
  }

  private static let executor = Executor()

  var isRecursive: Bool { true }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    try await withTaskExecutorPreference(Self.executor) { try await function() }
  }
}

extension Trait where Self == OwnThreads {
  /// See `OwnThreads`.
  static var ownThreads: Self { Self() }
}
