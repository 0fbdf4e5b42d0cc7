// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Foundation
import ProgramTestSupport
import Testing
import UWBTestSupport

@testable import uwblab

/// Help, mistakes and messages for users who type a command of `uwblab`.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct HelpTests {
  private static let commands = DescribedCommand.all(of: Uwblab.self)

  private func run(
    _ arguments: [String], input: Data = Data(), in folder: String? = nil
  ) throws -> ChildProcess.Outcome {
    try ChildProcess.run(arguments, input: input, in: folder, program: ChildProcess.uwblab)
  }

  @Test func noLineOfHelpIsWiderThanTheTerminal() throws {
    for (path, _) in Self.commands {
      var command = try Uwblab.parseAsRoot(path.dropFirst() + ["--help"])
      let request = try #require(throws: (any Error).self) { try command.run() }
      // In a narrow terminal, a word that is too long is the first to exceed the line.
      for columns in path.count == 1 ? [72, 80, 100] : [72] {
        let help = Program.text(for: request, of: Uwblab.self, columns: columns, isHelp: true)
        #expect(help.contains("OPTIONS:") || help.contains("SUBCOMMANDS:"), "\(path)")
        for line in help.split(separator: "\n") where line.count > columns {
          Issue.record("\(path.joined(separator: " ")), \(line.count) columns: \(line)")
        }
      }
    }
  }

  @Test func allCommandsAndOptionsHaveHelp() {
    #expect(Self.commands.count > 10)
    for (path, command) in Self.commands {
      #expect(command.withoutHelp.isEmpty, "\(path.joined(separator: " "))")
    }
  }

  @Test(arguments: [CompletionShell.bash, .zsh, .fish])
  func completionKnowsEveryCommand(_ shell: CompletionShell) throws {
    let script = Uwblab.completionScript(for: shell)
    for (path, _) in Self.commands { #expect(script.contains(path.last ?? ""), "\(path)") }
  }

  @Test func theVersionNamesTheLicence() throws {
    for arguments in [["--version"], ["compute", "filter", "--version"]] {
      let outcome = try run(arguments)
      #expect(outcome.status == 0)
      #expect(outcome.output.hasPrefix("uwblab \(Program.version)"))
      #expect(outcome.output.contains("Apache-2.0"))
    }
  }

  @Test func measurementsCanBeLimited() throws {
    let calibrated = try run(["calibrate", "delay", "-n", "10", "--yes", "--pair", "A,B=2"])
    #expect(calibrated.complaints.contains("every distance"), "\(calibrated.complaints)")
  }

  @Test func filesMayBeStandardInputAndOutput() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let table = Data("time_s,range_m\n0,3.02\n0.2,3.05\n0.4,3.1\n".utf8)
    let plot = try run(
      ["compute", "filter", "-", "--output", "table.csv", "--plot", "-"], input: table,
      in: folder.path(""))
    #expect(plot.output.hasPrefix("<?xml") && plot.status == 0)
    #expect(try run(["compute", "filter", "--plot", "-"], input: table).status == 64)
    let delays = try run(
      [
        "calibrate", "delay", "-n", "10", "--yes", "--pair", "A,B=2", "--pair", "A,C=2", "--pair",
        "B,C=2", "--output", "-",
      ], in: folder.path(""))
    #expect(delays.status == 0 && delays.output.hasPrefix("{"))
    #expect(delays.complaints.contains("too long"), "the report goes to standard error")
    #expect(!FileManager.default.fileExists(atPath: folder.path("-")))
  }

  @Test(arguments: [
    (["cmopute"], "uwblab: There is no command 'cmopute'.\n  try: uwblab compute\n"),
    (
      ["calibrate", "dealy", "--yes"],
      "uwblab calibrate: There is no command 'dealy'.\n  try: uwblab calibrate delay\n"
    ),
  ])
  func aMistypedCommandGetsASuggestion(_ arguments: [String], _ expected: String) throws {
    let outcome = try run(arguments)
    #expect(outcome.complaints == expected)
    #expect(outcome.output.isEmpty)
    #expect(outcome.status == 64)
  }

  @Test(arguments: [
    (
      ["--unit", "range=feet"],
      "--unit takes one of s, ms, us, ns, m, cm, mm, rad, deg, dbm, db, ppm, ppb, ticks, ps, "
        + "not feet."
    ),
    (["--unit", "range"], "--unit takes COLUMN=UNIT, such as azimuth=deg, not range."),
    (["--plot", "r.png"], "--plot draws SVG: give a name that ends in .svg, not r.png."),
  ])
  func theValuesOfAnOptionAreNamed(_ arguments: [String], _ cause: String) throws {
    let outcome = try run(["compute", "filter", "t.csv"] + arguments)
    #expect(
      outcome.complaints.hasPrefix("uwblab compute filter: \(cause)\n"), "\(outcome.complaints)")
    #expect(outcome.complaints.hasSuffix("\n  try: uwblab compute filter --help\n"))
    #expect(outcome.status == 64)
  }

  @Test func messagesNameTheCommand() throws {
    let outcome = try run(["compute", "filter", "/no/such"])
    #expect(outcome.complaints.hasPrefix("uwblab compute filter: "), "\(outcome.complaints)")
    #expect(outcome.status == 66)
  }
}
