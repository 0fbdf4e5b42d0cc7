// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Foundation
import SiteServer
import Testing
import UWBSite

@testable import uwbsite

@Suite struct HistoryCommandTests {
  @Test(
    "Wrong options are named, with the form that belongs there",
    arguments: [
      (["--from", "yesterday"], "--from yesterday: a time such as 2026-11-27T10:30"),
      (["--to", "2026-13-01"], "--to 2026-13-01: a time such as"),
      (["--show", "places", "--area", "1,2,3"], "--area 1,2,3: X1,Y1,X2,Y2 in metres"),
      (["--show", "places", "--area", "1,2,3,nan"], "--area 1,2,3,nan: X1,Y1,X2,Y2 in metres"),
      (["--show", "events", "--area", "1,2,3,4"], "--area needs --show places"),
      (["--show", "measurements", "--area", "1,2,3,4"], "--area needs --show places"),
      (["--tag", "T"], "--tag and --area need --show places or --show events"),
      (["--thin", "--from", "2026-11-27"], "--thin changes all days; it takes no filter"),
    ])
  func options(arguments: [String], message: String) throws {
    let error = #expect(throws: (any Error).self) {
      _ = try HistoryCommand.parse(["/nowhere"] + arguments)
    }
    let text = HistoryCommand.message(for: try #require(error))
    #expect(text.hasPrefix(message))
  }

  @Test("The corners of an area may come in any order")
  func area() throws {
    let command = try HistoryCommand.parse(["/nowhere", "--show", "places", "--area", "9,2,-1,7"])
    let query = try command.query()
    let area = try #require(query.area)
    #expect(area.least == [-1, 2] && area.greatest == [9, 7])
  }

  @Test("A replay without places names the command that lists the days")
  func replay() throws {
    let program = ProgramTests()
    let none = NSTemporaryDirectory() + UUID().uuidString
    try program.with(#"{"version": 1, "gauge": {"kind": "measured"}}"#) { site in
      let missing = try program.run("replay", site, none)
      #expect(missing.status == 66 && missing.errors.contains(none))
      let wrong = try program.run("replay", site, none, "--from", "yesterday")
      #expect(wrong.status == 64 && wrong.errors.contains("--from yesterday: a time such as"))
    }
  }

  @Test("A run is recorded, and its history printed in each format")
  func record() throws {
    let program = ProgramTests()
    let folder = NSTemporaryDirectory() + UUID().uuidString
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let site = try program.run("demo", "--site")
    let lines = try program.run("demo", "--jsonl", "--speed", "10000", "--duration", "5")
    try program.with(site.output) { site in
      try program.with(lines.output) { lines in
        let run = try program.run("run", site, lines, "--history", folder, "--raw")
        #expect(run.status == 0)
        let again = try program.run("run", site, "history:" + folder)
        #expect(again.status == 0 && again.output == run.output)
      }
    }
    for (content, text) in [
      ("days", "places"), ("places", "T20"), ("events", "entered"), ("measurements", "T20"),
    ] {
      for format in ["text", "csv", "json"] {
        let found = try program.run("history", folder, "--show", content, "--format", format)
        #expect(found.status == 0 && found.errors.isEmpty)
        #expect(found.output.contains(text), "\(content) as \(format)")
      }
    }
    try program.with(site.output) { site in
      let none = try program.run("replay", site, folder, "--from", "2200-01-01")
      #expect(none.status == 66)
      #expect(none.errors.contains("no places at these times; uwbsite history \(folder) lists"))
      try replay(site, folder)
    }
    let one = try program.run("history", folder, "--show", "places", "--tag", "T20")
    #expect(one.output.contains("T20") && !one.output.contains("T19"))
    let thinned = try program.run("history", folder, "--thin")
    #expect(thinned.status == 0)
    let missing = try program.run("history", folder + "/none")
    #expect(missing.status == 66)
  }

  /// Replays a history until the address of its page is printed.
  private func replay(_ site: String, _ folder: String) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
      .deletingLastPathComponent().appendingPathComponent("uwbsite")
    process.arguments = ["replay", site, folder]
    let errors = Pipe()
    process.standardError = errors
    try process.run()
    // Returns as soon as there are bytes, or at the end of the program.
    let note = String(decoding: errors.fileHandleForReading.availableData, as: UTF8.self)
    process.interrupt()
    process.waitUntilExit()
    #expect(note.hasPrefix("uwbsite: the page is at http://127.0.0.1:"))
    #expect(process.terminationStatus == 0 && process.terminationReason == .exit)
  }
}
