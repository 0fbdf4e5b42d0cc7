// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import FoundationEssentials
import Testing
import UWBSite

@testable import uwbsite

@Suite("uwbsite survey")
struct SurveyCommandTests {
  /// A folder of its own with files, which is removed afterwards.
  func withFiles(
    _ files: [String: String], _ body: (_ folder: String) throws -> Void
  ) throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    for (name, text) in files {
      try Data(text.utf8).write(to: folder.appendingPathComponent(name))
    }
    try body(folder.path)
  }

  /// Exact ranges between five anchors, as from a tape measure.
  static let table: String = {
    let places: [SIMD2<Double>] = [[0, 0], [10, 0], [10, 8], [0, 8], [4, 5]]
    var text = "from,to,distance_m,sd_m\n"
    for i in places.indices {
      for j in places.indices where j > i {
        let difference = places[i] - places[j]
        text += "A\(i),A\(j),\((difference * difference).sum().squareRoot()),0.03\n"
      }
    }
    return text
  }()

  func run(_ arguments: [String]) throws {
    let command = try #require(
      try UWBSiteCommand.parseAsRoot(["survey"] + arguments) as? SurveyCommand)
    try command.run()
  }

  @Test("a survey writes a site file with places, deviations and the frame")
  func writes() throws {
    try withFiles(["ranges.csv": Self.table]) { folder in
      try run([
        folder + "/ranges.csv", "--height", "2.5", "--at", "A0=1,1", "--toward", "A1=90",
        "--right", "A3", "-o", folder + "/site.json",
      ])
      let site = try SiteFiles.read(folder + "/site.json")
      #expect(site.gauge.kind == .direction)
      #expect(site.gauge.anchors == ["A0", "A1"])
      let far = try #require(site.anchors[3].place)
      #expect(abs(far.position.x - 9) < 0.1 && abs(far.position.y - 1) < 0.1)
      #expect(far.position.z == 2.5)
      #expect((0.001...0.2).contains(far.deviation.x))
      // The places of a site file are rough places of the next survey.
      try run([folder + "/ranges.csv", "--site", folder + "/site.json", "-o", folder + "/b.json"])
      #expect(try SiteFiles.read(folder + "/b.json").gauge.kind == .plan)
    }
  }

  @Test("options that contradict end with the status of usage, and tables with the one of data")
  func refuses() throws {
    let usage: [[String]] = [
      ["--at", "A0=1"], ["--at", "A9=1,1"], ["--left", "A1"], ["--height", "x"],
      ["--height", "B=2"], ["--at", "A0=1,1"], ["--walk"],
      ["--at", "A0=0,0", "--at", "A1=1,0", "--left", "A2", "--right", "A3"],
    ]
    try withFiles(["ranges.csv": Self.table, "bad.csv": "from,to,distance_m\nA,B,x\n"]) { folder in
      for options in usage {
        #expect(throws: ExitCode(64)) { try run([folder + "/ranges.csv"] + options) }
      }
      #expect(throws: ExitCode(65)) { try run([folder + "/bad.csv"]) }
      #expect(throws: ExitCode(66)) { try run([folder + "/none.csv"]) }
      #expect(throws: ExitCode(73)) {
        try run([folder + "/ranges.csv", "-o", "/nowhere/site.json"])
      }
    }
  }
}
