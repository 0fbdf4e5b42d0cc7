// SPDX-License-Identifier: Apache-2.0
internal import System
package import Testing
internal import UWBLink

/// Runs tests that wait for other programs, or compute for seconds, on threads of their own. On the
/// threads that run tasks, a few of them would block all other tests: answers would reach the
/// driver too late, and these programs would get no answers.
package struct OwnThreads: SuiteTrait, TestTrait, TestScoping {
  private static let threads = BlockingThreads(limit: 64)

  package var isRecursive: Bool { true }

  package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    try await withTaskExecutorPreference(Self.threads) { try await function() }
  }
}

extension Trait where Self == OwnThreads {
  /// See `OwnThreads`.
  package static var ownThreads: Self { Self() }
}
