// SPDX-License-Identifier: Apache-2.0
import Testing
import UWBLink

/// Runs tests that wait for other programs on threads of their own. On the threads that run tasks, as
/// many of them as there are processors would keep all other tests from running, and what those
/// programs talk to.
struct OwnThreads: SuiteTrait, TestTrait, TestScoping {
  private static let threads = BlockingThreads(limit: 64)

  var isRecursive: Bool { true }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    try await withTaskExecutorPreference(Self.threads) { try await function() }
  }
}

extension Trait where Self == OwnThreads {
  /// See `OwnThreads`.
  static var ownThreads: Self { Self() }
}
