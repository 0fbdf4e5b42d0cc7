// SPDX-License-Identifier: Apache-2.0

import CommandSupport
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
}
