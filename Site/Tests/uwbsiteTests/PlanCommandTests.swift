// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Testing
import UWBSite

@testable import uwbsite

@Suite("uwbsite plan")
struct PlanCommandTests {
  func command(_ arguments: String...) throws -> PlanCommand {
    try #require(try UWBSiteCommand.parseAsRoot(["plan"] + arguments) as? PlanCommand)
  }

  @Test("a plan has its scheme, the use of the air and the schedule")
  func text() throws {
    let text = try command("--anchors", "4", "--tags", "3", "--neighbours", "1").text(nil)
    #expect(
      text == """
        scheme: tags (each tag ranges with all anchors in a round)
        block: 200.0 ms, air in use: 24 %
        sessions of other sites in range: 1; with hopping 84 % of the rounds succeed; without, two \
        sessions that meet collide for 27 minutes
        without this schedule, rounds at random times: 59 %
        start     slots  controller   others
        0.0 ms    8      tag 1        anchors 1 to 4
        16.0 ms   8      tag 2        anchors 1 to 4
        32.0 ms   8      tag 3        anchors 1 to 4

        """)
  }

  @Test("long schedules are shortened, and groups of tags are named")
  func long() throws {
    let text = try command("--anchors", "6", "--tags", "16", "--rate", "2").text(nil)
    #expect(text.contains("tag 16"))
    let groups = try command(
      "--anchors", "6", "--tags", "40", "--rate", "1", "--scheme", "anchors"
    ).text(nil)
    #expect(groups.contains("tags 9 to 16") && groups.contains("and 10 more"))
  }

  @Test("a wish that cannot work is wrong data, with the number")
  func refused() throws {
    let failure = #expect(throws: CommandFailure.self) {
      try command("--anchors", "8", "--tags", "14", "--rate", "5", "--scheme", "tags").text(nil)
    }
    #expect(failure?.kind == .data)
    #expect(failure?.description.contains("168 % of the air") == true)
    let none = #expect(throws: CommandFailure.self) {
      try command("--anchors", "2", "--tags", "1").text(nil)
    }
    #expect(none?.description.hasPrefix("no scheme works\ntags: 2 anchors") == true)
  }

  @Test("a site gives its numbers and the drawing")
  func site() throws {
    let anchors = [(0, 0), (8, 0), (8, 6), (0, 6)].enumerated().map { index, corner in
      "{\"id\": \"A\(index)\", \"position_m\": [\(corner.0), \(corner.1), 2.5],"
        + " \"position_sd_m\": [0.02, 0.02, 0.02]}"
    }
    let text =
      "{\"version\": 1, \"gauge\": {\"kind\": \"measured\"}, \"anchors\": "
      + "[\(anchors.joined(separator: ", "))], \"tags\": [{\"id\": \"t\"}]}"
    let site = try Site(json: Array(text.utf8))
    #expect(try command("site.json").text(site).contains("anchors 1 to 4"))
    #expect(try command("site.json", "--map").text(site).hasPrefix("<svg"))
    let empty = try Site(json: Array(#"{"version": 1, "gauge": {"kind": "plan"}}"#.utf8))
    let failure = #expect(throws: CommandFailure.self) { try command("s", "--map").text(empty) }
    #expect(failure?.description == "0 anchors have places; 3 are needed")
  }

  @Test(
    "senseless options are refused",
    arguments: [
      ["--anchors", "4"], ["--map"], ["--anchors", "4", "--tags", "2", "--scheme", "both"],
      ["--anchors", "4", "--tags", "2", "--slot", "0"],
      ["--anchors", "4", "--tags", "2", "--neighbours=-1"],
    ])
  func options(_ arguments: [String]) {
    #expect(throws: (any Error).self) { try UWBSiteCommand.parseAsRoot(["plan"] + arguments) }
  }
}
