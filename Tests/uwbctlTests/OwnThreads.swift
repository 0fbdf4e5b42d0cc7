// SPDX-License-Identifier: Apache-2.0
import Testing
import UWBLink

/// Runs tests that wait for other programs on four threads of their own. On the threads that run tasks,
/// as many of them as there are processors would keep all other tests from running. Only for tests
/// whose own tasks the programs do not wait for.
struct OwnThreads: SuiteTrait, TestTrait, TestScoping {
  private final class Executor: TaskExecutor {
    private let threads = BlockingThreads(limit: 4)

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      Task.detached {
        try await runBlocking(on: self.threads) {
          job.runSynchronously(on: self.asUnownedTaskExecutor())
        }
      }
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
