// SPDX-License-Identifier: Apache-2.0

import SiteScenarios
import Testing
import UWBSite

@testable import SiteServer

@Suite struct InputFuzzTests {
  @Test(
    "Damaged lines are measurements or sentences with line and field, and places are numbers",
    arguments: InputFuzz.Format.allCases)
  func damaged(_ format: InputFuzz.Format) throws {
    var fuzz = try InputFuzz(format, try SiteScene().site, seed: 42)
    let result = try fuzz.run(10_000)
    #expect(result.wrong == [])
    #expect(result.measurements > 1000)
    #expect(result.bad > 1000)
  }
}
