// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import System
package import Testing
internal import UWBLink

/// Runs tests that wait for other programs, or compute for long, on threads of their own. On the
/// threads that run tasks, a few of them would block all other tests: answers would reach the
/// driver too late, and these programs would get no answers.
package struct OwnThreads: SuiteTrait, TestTrait, TestScoping {
  /// A few tests that wait for programs run at the same time, so that each program gets a share of
  /// the processors that is enough for its time limits.
  fileprivate static let waiting = Self(
    threads: BlockingThreads(limit: 64), turns: AsyncMutex(4 * processors))
  /// One thread a processor for tests that compute: more threads would only delay other tests.
  fileprivate static let computing = Self(
    threads: BlockingThreads(limit: processors), turns: nil)
  private static let processors = sysconf(Int32(_SC_NPROCESSORS_ONLN))

  private let threads: BlockingThreads
  private let turns: AsyncMutex?
  package var isRecursive: Bool { true }

  package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    await turns?.lock()
    let result: Result<Void, any Error>
    do {
      result = .success(
        try await withTaskExecutorPreference(threads) { try await function() })
    } catch {
      result = .failure(error)
    }
    turns?.unlock()
    try result.get()
  }
}

extension Trait where Self == OwnThreads {
  /// Gives tests that wait for other programs threads of their own.
  package static var ownThreads: Self { .waiting }
  /// Gives tests that compute threads of their own. They must not wait for each other.
  package static var computes: Self { .computing }
}
