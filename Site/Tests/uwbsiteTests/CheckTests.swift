// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Testing
import UWBSite

@testable import uwbsite

@Suite("uwbsite check and plot")
struct CheckTests {
  @Test("a summary counts the parts, and names anchors without a place")
  func summary() throws {
    let text = """
      {"version": 1, "gauge": {"kind": "measured"}, "anchors": [{"id": "A1"}, {"id": "A2",
      "position_m": [0, 0, 2], "position_sd_m": [0.1, 0.1, 0.1]}], "tags": [{"id": "t"}]}
      """
    let site = try Site(json: Array(text.utf8))
    #expect(
      Check.summary(site) == """
        2 anchors, 1 tag, 0 zones, 0 doors, 0 floors
        gauge: measured
        without a place: A1

        """)
  }

  @Test("a missing file and a folder are no input")
  func failures() {
    let missing = #expect(throws: CommandFailure.self) { try SiteFiles.read("/nowhere/site.json") }
    #expect(missing?.kind == .noInput)
    #expect(missing?.description == "/nowhere/site.json: there is no such file")
    let folder = #expect(throws: CommandFailure.self) { try SiteFiles.read("/") }
    #expect(folder?.kind == .noInput)
  }

  @Test("the statuses are those of uwbctl")
  func statuses() {
    let all: [CommandFailure.Kind] = [.usage, .data, .noInput, .cannotCreate, .inputOutput]
    #expect(all.map(\.rawValue) == [64, 65, 66, 73, 74])
  }

  @Test("the arguments of both commands are one file")
  func arguments() throws {
    let check = try UWBSiteCommand.parseAsRoot(["check", "a.json"]) as? Check
    #expect(check?.file == "a.json")
    let plot = try UWBSiteCommand.parseAsRoot(["plot", "b.json"]) as? Plot
    #expect(plot?.file == "b.json")
    #expect(throws: (any Error).self) { try UWBSiteCommand.parseAsRoot(["plot"]) }
    #expect(throws: (any Error).self) { try UWBSiteCommand.parseAsRoot(["draw", "b.json"]) }
  }
}
