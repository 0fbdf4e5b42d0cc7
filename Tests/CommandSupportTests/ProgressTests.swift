// SPDX-License-Identifier: Apache-2.0

import CommandSupport
import Dispatch
import Formats
import Testing

/// Without a terminal, no progress line appears. The tests of `uwblab` have a terminal with such a
/// line.
@Suite struct ProgressTests {
  @Test func theResultIsReturned() {
    #expect(withProgress("Computing") { 6 * 7 } == 42)
  }

  @Test func errorsKeepTheirType() {
    let error = #expect(throws: FormatError.self) {
      try withProgress("Reading") { () throws(FormatError) -> Int in
        throw FormatError.badFile("a.json", "it is empty")
      }
    }
    #expect(error?.code == .badFile)
  }

  @Test func computationsReturnTheirResultAndTheirErrors() async throws {
    #expect(try await computing("Computing") { 6 * 7 } == 42)
    await #expect(throws: FormatError.self) {
      try await computing(nil) { throw FormatError.badFile("a.json", "it is empty") }
    }
  }

  @Test(.timeLimit(.minutes(5))) func aCancelledComputationIsAbandoned() async {
    let (begun, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let task = Task {
      try await computing("Computing") {
        begun.signal()
        end.wait()
      }
    }
    DispatchQueue.global().async {
      begun.wait()
      task.cancel()
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    end.signal()
  }
}
