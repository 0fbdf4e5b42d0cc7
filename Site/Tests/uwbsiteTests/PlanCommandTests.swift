// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
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
        chips: DS-TWR deferred, one to many with 4 controlees, 3 sessions at an anchor, 1 at a tag
        gaps of 50.7 ms: clocks of +- 20 ppm use them up in 21.1 minutes
        start     slots  controller   others
        0.0 ms    8      tag 1        anchors 1 to 4
        66.7 ms   8      tag 2        anchors 1 to 4
        133.3 ms  8      tag 3        anchors 1 to 4

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

  @Test("profiles are written into a folder, and chips that cannot follow the plan are refused")
  func profiles() throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "plan-\(UInt32.random(in: 0 ... .max))")
    defer { try? FileManager.default.removeItem(at: folder) }
    let output = folder.appending(path: "rounds")
    _ = try command("--anchors", "3", "--tags", "2", "--profiles", output.path()).text(nil)
    let names = try FileManager.default.contentsOfDirectory(atPath: output.path()).sorted()
    #expect(names.count == 9 && names.contains("anchor-2-1001.json"))
    let caps = folder.appending(path: "caps")
    try Data(#"{"name": "MAX_SESSIONS", "meaning": "1 sessions"}"#.utf8).write(to: caps)
    let failure = #expect(throws: CommandFailure.self) {
      try command("--anchors", "3", "--tags", "2", "--anchor-caps", caps.path()).text(nil)
    }
    #expect(failure?.kind == .data)
    #expect(
      failure?.description
        == "\(caps.path()): 2 sessions at a time are needed; the chip has 1")
    try Data("no".utf8).write(to: caps)
    let wrong = #expect(throws: CommandFailure.self) {
      try command("--anchors", "3", "--tags", "2", "--tag-caps", caps.path()).text(nil)
    }
    #expect(wrong?.description.contains("line 1") == true)
  }

  @Test("a block without gaps is for one clock, and groups may share their time")
  func gaps() throws {
    let full = try command("--anchors", "4", "--tags", "16", "--rate", "5.2").text(nil)
    #expect(full.contains("only for controllers with one clock: 8 rounds leave 0 ms"))
    let shared = try command(
      "--anchors", "4", "--tags", "8", "--scheme", "anchors", "--share-time"
    ).text(nil)
    #expect(shared.contains("anchor 1     anchors 2 to 4"))
  }

  @Test(
    "senseless options are refused",
    arguments: [
      ["--anchors", "4"], ["--map"], ["site.json", "--map", "--profiles", "rounds"],
      ["--anchors", "4", "--tags", "2", "--scheme", "both"],
      ["--anchors", "4", "--tags", "2", "--slot", "0"],
      ["--anchors", "4", "--tags", "2", "--neighbours=-1"],
    ])
  func options(_ arguments: [String]) {
    #expect(throws: (any Error).self) { try UWBSiteCommand.parseAsRoot(["plan"] + arguments) }
  }
}
