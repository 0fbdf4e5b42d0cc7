// SPDX-License-Identifier: Apache-2.0

import SiteScenarios
import Testing
import UWBSite

@testable import SiteServer

@Suite(.timeLimit(.minutes(5))) struct InputFuzzTests {
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

  @Test("Damaged calls of the service have a result, or an error with its reason")
  func calls() async throws {
    try await onThread {
      var fuzz = try ServiceFuzz(try SiteScene().site, seed: 7)
      let result = try fuzz.run(500)
      #expect(result.wrong == [])
      #expect(result.results > 50 && result.errors > 200)
    }
  }

  @Test("Damaged requests and frames are answered, or end their connection only")
  func requests() async throws {
    try await onThread {
      var fuzz = try WebFuzz(try SiteScene().site, seed: 7)
      let result = try fuzz.run(500)
      #expect(result.wrong == [])
      #expect(result.accepted > 50 && result.refused > 50 && result.closed > 10)
    }
  }
}
