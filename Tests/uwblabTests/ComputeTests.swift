// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Foundation
import Testing
import UWBTestSupport

@testable import uwblab

/// `uwblab compute`: options and statuses. UWBLabTests has the tests of the results.
@Suite(.ownThreads) struct ComputeTests {
  /// Runs a command over a table and returns its output.
  private func run(
    _ arguments: [String], _ input: String, in folder: TemporaryFolder
  ) throws -> String {
    let file = try folder.write(input, to: "in.csv")
    var command = try Compute.parseAsRoot(
      arguments + [file, "--output", folder.path("out.csv")])
    try command.run()
    return try folder.read("out.csv")
  }

  /// Each kind of bad input has its status.
  @Test(arguments: [
    (["ds-twr"], "t1,t2,t3,t4,t5,t6"), (["ss-twr"], "t1,t2,t3,t4"), (["filter"], "time_s,range_m"),
    (["find"], "time_s,x,y,z,qw,qx,qy,qz,range_m"),
    (["locate", "--anchors", "anchors.json"], "time_s,anchor,range_m"),
    (["angle", "--geometry", "array.json"], "time_s,pdoa_rad"),
  ])
  func badTables(_ arguments: [String], _ header: String) throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    _ = try folder.write(
      "{a: [0, 0, 0], b: [1, 0, 0], c: [0, 2, 1], /* JSON5 */}", to: "anchors.json")
    _ = try folder.write(
      #"{"pairs": [{"column": "pdoa_rad", "spacing_wavelengths": 0.5}]}"#, to: "array.json")
    let options = arguments.map { $0.hasSuffix(".json") ? folder.path($0) : $0 }
    let columns = header.split(separator: ",")
    let nans = columns.map { _ in "nan" }.joined(separator: ",")
    let bad = [
      "", "\n\n", "something,else\n1,2\n", columns.dropLast().joined(separator: ",") + "\n",
      header + "\n" + nans + "\n", header + "\n\"" + nans + "\n", header + "\n" + "x\n",
      header + "\n1,\0\n",
    ]
    let parsed = try Compute.parseAsRoot(
      options + [folder.path("in.csv"), "--output", folder.path("out.csv")])
    // The output of a table with only a header is a header, and does not count as a result.
    for text in bad + [header + "\n"] {
      _ = try folder.write(text, to: "in.csv")
      #expect(throws: ExitCode(ExitStatus.data.rawValue), "\(text.debugDescription)") {
        var command = parsed
        try command.run()
      }
    }
    let names = try folder.read("out.csv").split(separator: "\n").map { $0.split(separator: ",") }
    #expect(names.count == 1 && (names.first?.count ?? 0) > columns.count)
    #expect(names.first?.last == "status")
    #expect(throws: ExitCode(ExitStatus.noInput.rawValue)) {
      var command = try Compute.parseAsRoot(options + [folder.path("missing.csv")])
      try command.run()
    }
    #expect(throws: ExitCode(ExitStatus.cannotCreate.rawValue)) {
      var command = try Compute.parseAsRoot(
        options + [try folder.write(header + "\n", to: "t.csv"), "--output", "/nowhere/x.csv"])
      try command.run()
    }
  }

  @Test func optionsReachTheComputation() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let (file, plot) = (folder.path("calibration.json"), folder.path("plot.svg"))
    let table = """
      time_s,t1,t2,t3,t4,cfo_ppm,truth_m
      0,0,5000002132,5063899732,63902503,10,9
      1,0,5000002132,5063899732,63902503,10,9

      """
    let options = ["ss-twr", "--counter-bits", "32"]
    _ = try run(options + ["--learn", file, "--truth", "truth_m"], table, in: folder)
    let text = try run(
      options + ["--calibration", file, "--plot", plot, "--stamp-noise", "5000"], table, in: folder)
    let last = text.split(separator: "\n").last?.split(separator: ",") ?? []
    #expect(last.count == 11 && abs((Double(last[7]) ?? 0) - 9) < 0.01 && last[10] == "ok")
    #expect((Double(last[8]) ?? 0) > 0.5)
    // Cell 9 is the deviation of the bias: with the calibration from one position, and then without
    // a calibration, as requested.
    #expect(0.08...0.085 ~= Double(last[9]) ?? 0)
    let raw = try run(options + ["--bias-sigma", "0.15"], table, in: folder)
    #expect(raw.split(separator: "\n").last?.contains(",0.1500,ok") == true)
    #expect(throws: (any Error).self) {
      try Compute.parseAsRoot(options + ["--bias-sigma", "-1", "in.csv"])
    }
    // The same file corrects columns of distances.
    let filtered = try run(
      ["filter", "--calibration", file], "time_s,range_m\n0,10\n1,10\n2,10\n", in: folder)
    let cells = filtered.split(separator: "\n").last?.split(separator: ",") ?? []
    #expect(abs((Double(cells[2]) ?? 0) - 9) < 0.01 && (Double(cells[3]) ?? 0) > 0.09)
    #expect(try folder.read("plot.svg").contains("Single-sided two-way ranging"))
    #expect(throws: (any Error).self) {
      try Compute.parseAsRoot(options + ["--learn", file, "in.csv"])
    }
    #expect(throws: ExitCode(ExitStatus.cannotCreate.rawValue)) {
      try run(options + ["--plot", "/nowhere/plot.svg"], table, in: folder)
    }
    for name in ["r.png", "plot.svg.pdf"] {
      let error = #expect(throws: (any Error).self) {
        try Compute.parseAsRoot(options + ["--plot", name, "in.csv"])
      }
      #expect(error.map { Compute.message(for: $0) }?.contains("--plot draws SVG") == true)
    }
  }
}
