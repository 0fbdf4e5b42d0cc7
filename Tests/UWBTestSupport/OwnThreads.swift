// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import System
package import Testing
internal import UWBLink

/// Runs tests that wait for other programs, or compute for long, on threads of their own. On the
/// threads that run tasks, a few of them would block all other tests: answers would reach the
/// driver too late, and these programs would get no answers.
package struct OwnThreads: SuiteTrait, TestTrait, TestScoping {
  /// Threads for tests that mostly wait, which are therefore many.
  fileprivate static let waiting = BlockingThreads(limit: 64)
  /// One thread a processor for tests that compute: more threads would only delay other tests.
  fileprivate static let computing = BlockingThreads(limit: sysconf(Int32(_SC_NPROCESSORS_ONLN)))

  fileprivate let threads: BlockingThreads
  package var isRecursive: Bool { true }

  package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    try await withTaskExecutorPreference(threads) { try await function() }
  }
}

extension Trait where Self == OwnThreads {
  /// Gives tests that wait for other programs threads of their own.
  package static var ownThreads: Self { Self(threads: Self.waiting) }
  /// Gives tests that compute threads of their own. They must not wait for each other.
  package static var computes: Self { Self(threads: Self.computing) }
}
