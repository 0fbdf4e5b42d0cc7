// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Foundation
import ProgramTestSupport
import Testing
import UCI
import UWB
import UWBTestSupport
import UWBSimulator
import UWBTools
import uwbctl

/// Help, mistakes and messages for users who type a command.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct HelpTests {
  // MARK: help

  @Test func noLineOfHelpIsWiderThanTheTerminal() throws {
    func check(_ help: String, _ path: [String], _ columns: Int) {
      for line in help.split(separator: "\n") where line.count > columns {
        Issue.record("\(path.joined(separator: " ")), \(line.count) columns: \(line)")
      }
    }
    func check(_ command: any ParsableCommand.Type, _ path: [String]) {
      let request = CleanExit.helpRequest(command)
      // In a narrow terminal, a word that is too long is the first to exceed the line.
      for columns in path.count == 1 ? [72, 80, 100] : [72] {
        let help = Program.text(for: request, of: Uwbctl.self, columns: columns, isHelp: true)
        #expect(help.contains("\nUSAGE: \(path.joined(separator: " "))"))
        check(help, path, columns)
      }
      for command in command.configuration.subcommands {
        check(command, path + [command._commandName])
      }
    }
    check(Uwbctl.self, ["uwbctl"])
    // A program in a process of its own uses the width in its environment.
    for (words, columns) in [(["--help"], 80), (["multicast", "add", "--help"], 72)] {
      let outcome = try ChildProcess.run(words, columns: columns == 80 ? nil : "\(columns)")
      #expect(outcome.status == 0)
      check(outcome.output, words, columns)
    }
  }

  @Test(arguments: ["0", "1", "26", "x", "-5", "100000", "99999999999999999999"])
  func helpSurvivesAnyWidth(_ columns: String) throws {
    let outcome = try ChildProcess.run(["range", "--help"], columns: columns)
    #expect(outcome.status == 0)
    #expect(outcome.output.contains("--session-id"))
    let words = outcome.output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    #expect(words.contains("the same at both ends"))
  }

  @Test func theHelpGroupsTheCommands() throws {
    let help = try ChildProcess.run(["--help"]).output
    for group in ["BOARD", "RANGING", "CHIP", "PACKET"] {
      #expect(help.contains("\n\(group) SUBCOMMANDS:\n"), "\(group)")
    }
    for (path, _) in ShellTests.commands where path.count == 2 {
      #expect(help.contains("\n  \(path[1]) "), "\(path[1])")
    }
    #expect(!help.contains("calibration "))
    #expect(try ChildProcess.run([]).output == help)
    #expect(try ChildProcess.run(["help"]).output == help)
  }

  /// Most commands have one line, so that the list fits into a page.
  @Test func theListOfCommandsIsAPage() throws {
    let help = try ChildProcess.run(["--help"], columns: "80").output
    #expect(help.split(separator: "\n", omittingEmptySubsequences: false).count < 60)
    #expect(help.contains("--generate-completion-script bash"))
  }

  @Test(arguments: [["doctor", "sim"], ["doctor", "-d", "sim"], ["doctor", "--device", "sim"]])
  func doctorTakesTheDeviceAsOtherCommandsDo(_ arguments: [String]) throws {
    let outcome = try ChildProcess.run(arguments)
    #expect(outcome.status == 0, "\(outcome.complaints)")
    #expect(outcome.output.hasSuffix("All checks passed.\n"))
    #expect(try ChildProcess.run(arguments + ["-d", "sim", "sim"]).status == 64)
  }

  @Test func theVersionNamesTheLicence() throws {
    for arguments in [["--version"], ["range", "--version"]] {
      let outcome = try ChildProcess.run(arguments)
      #expect(outcome.status == 0)
      #expect(outcome.output.hasPrefix("uwbctl \(Program.version)"))
      #expect(outcome.output.contains("Apache-2.0"))
    }
  }

  // MARK: numbers and times

  @Test func everythingThatRunsCanBeLimited() throws {
    let folder = try temporaryFolder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let monitored = try ChildProcess.run(["monitor", "--reset", "-n", "3"])
    #expect(monitored.output.split(separator: "\n").count == 3)
    let captured = try ChildProcess.run(
      ["capture", "few.pcapng", "--reset", "-n", "2"], in: folder)
    #expect(captured.status == 0, "\(captured.complaints)")
    let ranged = try ChildProcess.run(
      ["range", "-n", "6", "--interval", "50", "--capture", "walk.pcapng"], in: folder)
    #expect(ranged.status == 0)
    let replay = ["replay", "walk.pcapng", "--format", "json"]
    let some = try ChildProcess.run(replay + ["--speed", "max", "-n", "2"], in: folder)
    #expect(some.output.split(separator: "\n").count == 2)
    #expect(some.status == 0)
    // At this speed the second round comes after 1000 s.
    try Self.twoRounds(apart: 10).write(to: URL(filePath: folder + "/slow.pcapng"))
    let first = try ChildProcess.run(
      ["replay", "slow.pcapng", "--format", "json", "--speed", "0.01", "-t", "0.1"], in: folder)
    #expect(first.output.split(separator: "\n").count == 1)
    #expect(first.status == 0)
    let sent = try ChildProcess.run(["test", "periodic-tx", "-n", "1000000", "-t", "0.1"])
    #expect(sent.status == 0)
  }

  /// Returns a capture of two rounds.
  private static func twoRounds(apart seconds: UInt64) -> Data {
    var encoder = PcapngEncoder()
    let round = SessionInfo(
      sequenceNumber: 0, sessionToken: 1, intervalMilliseconds: 200,
      twoWay: [TwoWayMeasurement(peer: MACAddress(1), status: .ok, rawDistance: 400)])
    let packets = Segmentation.packets(
      type: .notification, opcode: .sessionInfo, payload: round.encoded())
    return [0, seconds].reduce(into: Data(PcapngEncoder.preamble())) { file, time in
      for packet in packets {
        file += encoder.packet(.inbound, packet, time: time * 1_000_000_000)
      }
    }
  }

  @Test func simulateStopsAfterSomeExchanges() throws {
    let folder = try temporaryFolder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let bench = try ChildProcess([
      "simulate", "--link", folder + "/chip", "--stamps", folder + "/stamps.csv", "-n", "5",
    ])
    try bench.waitFor("A\t")
    let ends = try ["controller", "controlee"].map { role in
      try ChildProcess([
        "range", "--device", folder + (role == "controller" ? "/chip-a" : "/chip-b"), "--role",
        role, "--interval", "50", "--recover", "0",
      ])
    }
    bench.process.waitUntilExit()
    #expect(bench.process.terminationStatus == 0)
    for end in ends { end.end() }
    let table = try String(contentsOfFile: folder + "/stamps.csv", encoding: .utf8)
    #expect(table.split(separator: "\n").count == 6)
  }

  // MARK: files and devices

  @Test(
    arguments: [["range"], ["find"], ["accessory", "--listen", "tcp:0"], ["peer"]],
    ["text", "json"])
  func simulatedChipsAreNamedOnStandardError(_ command: [String], _ format: String) throws {
    let outcome = try ChildProcess.run(command + ["-n", "1", "--format", format])
    #expect(outcome.status == 0, "\(outcome.complaints)")
    let note = "uwbctl \(command[0]): Simulated chips: --device names a board.\n"
    #expect(outcome.complaints.hasPrefix(note), "\(outcome.complaints)")
    #expect(outcome.complaints.components(separatedBy: "Simulated chips").count == 2)
    #expect(!outcome.output.contains("Simulated chips"))
  }

  @Test(arguments: [
    ["info"], ["caps"], ["reset"], ["config", "get", "LOW_POWER_MODE"], ["calibrate", "get"],
    ["monitor", "--reset", "-n", "1"], ["send", "20020000"],
  ])
  func simulatedChipsAreNamedByCommandsForOneChip(_ command: [String]) throws {
    let outcome = try ChildProcess.run(command)
    #expect(outcome.status == 0, "\(outcome.complaints)")
    #expect(
      outcome.complaints.components(separatedBy: ": Simulated chips: --device names").count == 2)
  }

  @Test(arguments: [
    ("qm33", ["firmware                      1.1.0, build ", "0xdeca0302"]),
    ("sr250", ["firmware                      ", "SR250"]),
  ])
  func infoHasTheDetailsOfTheVendorAndWords(_ model: String, _ details: [String]) throws {
    let outcome = try ChildProcess.run(["info", "--sim-chip", model])
    #expect(outcome.status == 0, "\(outcome.complaints)")
    for text in details + ["chip id  ", "controller, controlee"] {
      #expect(outcome.output.contains(text), "\(outcome.output)")
    }
    #expect(!outcome.output.contains("vendor info"))
  }

  /// Files that users give as -.
  @Test func filesMayBeStandardInputAndOutput() throws {
    let folder = try temporaryFolder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let profile = try ChildProcess.run(["profile"])
    #expect(
      try ChildProcess.run(["profile", "check", "-"], input: Data(profile.output.utf8)).status == 0)
    let range = try ChildProcess.run(
      ["range", "-n", "3", "--interval", "50", "--profile", "-", "--capture", "-"],
      input: Data(profile.output.utf8))
    #expect(range.status == 0, "\(range.complaints)")
    #expect(range.complaints.contains(" m (short-term "), "measurements go to standard error")
    let capture = try ChildProcess.run(["capture", "-", "--reset", "-n", "4"]).bytes
    #expect(capture.starts(with: [0x0A, 0x0D, 0x0D, 0x0A]), "a pcapng file begins so")
    for command in [["decode", "--file", "-"], ["replay", "-"], ["diff", "-", "sim"]] {
      let outcome = try ChildProcess.run(command, input: capture)
      #expect(![66, 71, 74].contains(outcome.status), "\(command): \(outcome.complaints)")
    }
    let backup = try ChildProcess.run(["calibrate", "backup", "-"])
    #expect(backup.status == 0 && backup.output.hasPrefix("{"))
    let restored = try ChildProcess.run(
      ["calibrate", "restore", "-"], input: Data(backup.output.utf8))
    #expect(restored.status == 0, "\(restored.complaints)")
    #expect(!FileManager.default.fileExists(atPath: folder + "/-"))
  }

  @Test func framesAreDecodedFromStandardInput() throws {
    let outcome = try ChildProcess.run(["decode", "-"], input: Data("20 02 00 00\n".utf8))
    #expect(outcome.status == 0, "\(outcome.complaints)")
    #expect(outcome.output.contains("CORE_GET_DEVICE_INFO_CMD"))
  }

  @Test(arguments: [("no-such.pcapng", true), ("2002 zz", true), ("2002000", true), ("", false)])
  func anArgumentThatIsNeitherAFrameNorAFileIsReportedAsBoth(
    _ argument: String, _ isName: Bool
  ) throws {
    let outcome = try ChildProcess.run(["decode", argument])
    #expect(outcome.status == 65 && outcome.complaints.contains("argument 1: error: "))
    #expect(
      outcome.complaints.hasSuffix("There is no file \(argument) either.\n") == isName,
      "\(outcome.complaints)")
  }

  /// Errors in files that do not refer to a line.
  @Test(arguments: [
    ["range", "--profile", "e"], ["profile", "check", "e"], ["profile", "print", "--from", "e"],
    ["replay", "e"], ["replay", "--as-device", "e"], ["diff", "e", "e"],
  ])
  func errorsOfEmptyFilesNameThem(_ arguments: [String]) throws {
    let folder = try temporaryFolder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try Data().write(to: URL(filePath: folder + "/e"))
    let outcome = try ChildProcess.run(arguments, in: folder)
    #expect(outcome.complaints.contains(": e: "), "\(outcome.complaints)")
    #expect(outcome.status == 65)
  }

  private func temporaryFolder() throws -> String {
    let folder = "/tmp/uwbctl-test-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    return folder
  }

  @Test func devicesMayBeNamedFromTheCurrentFolder() throws {
    let folder = try temporaryFolder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let chips = try SimulatedPeers(profile: .qm33, peers: 0, seed: 1)
    defer { chips.bench.stop() }
    try chips.own.link(at: folder + "/chip")
    for arguments in [
      ["info", "--device", "chip"], ["info", "--device", "./chip"], ["doctor", "chip"],
      ["diff", "--capabilities", "chip", "./chip"],
    ] {
      let outcome = try ChildProcess.run(arguments, in: folder)
      #expect(outcome.status == 0, "\(arguments): \(outcome.complaints)")
    }
    let missing = try ChildProcess.run(["info", "--device", "null"], in: folder)
    #expect(missing.complaints.contains("try: Name it with its folder: /dev/null."))
    #expect(missing.status == 69)
  }

  // MARK: mistakes

  @Test(arguments: [
    (["rnage"], "uwbctl: There is no command 'rnage'.\n  try: uwbctl range\n"),
    (
      ["rnage", "--device", "/dev/ttyACM0"],
      "uwbctl: There is no command 'rnage'.\n  try: uwbctl range\n"
    ),
    (["help", "montior"], "uwbctl: There is no command 'montior'.\n  try: uwbctl monitor\n"),
    (["version"], "uwbctl: There is no command 'version'.\n  try: uwbctl --version\n"),
    (
      ["calibrate", "restoer", "--yes"],
      "uwbctl calibrate: There is no command 'restoer'.\n  try: uwbctl calibrate restore\n"
    ),
    (
      ["calibration", "backpu", "x.json"],
      "uwbctl calibrate: There is no command 'backpu'.\n  try: uwbctl calibrate backup\n"
    ),
    (
      ["profile", "chekc", "x.json"],
      "uwbctl profile: There is no command 'chekc'.\n  try: uwbctl profile check\n"
    ),
    (
      ["check", "x.json"],
      "uwbctl: There is no command 'check'.\n"
        + "  try: uwbctl profile check, or uwbctl firmware check\n"
    ),
    (
      ["multicast", "restore"],
      "uwbctl multicast: There is no command 'restore'.\n  try: uwbctl calibrate restore\n"
    ),
    (
      ["xyzzy\u{1B}[2J"],
      "uwbctl: There is no command 'xyzzy\\u{1b}[2J'.\n  try: uwbctl --help lists the commands.\n"
    ),
  ])
  func aMistypedCommandGetsASuggestion(_ arguments: [String], _ expected: String) throws {
    let outcome = try ChildProcess.run(arguments)
    #expect(outcome.complaints == expected)
    #expect(outcome.output.isEmpty)
    #expect(outcome.status == 64)
  }

  /// The error does not print the usage, which would hide the cause for commands with many options.
  @Test(arguments: [
    (["range", "--responders", "300"], "uwbctl range: --responders takes 1 to 255.", "range"),
    (["list", "--format", "x"], "uwbctl list: The value 'x' is invalid", "list"),
    // The error is found when the command runs.
    (
      ["config", "get", "CHANNEL"],
      "uwbctl config get: There is no parameter CHANNEL. Nearest: CHANNEL_NUMBER.\n  try:",
      "config get"
    ),
    (["explain", "foo"], "uwbctl explain: There is no code 'foo'.\n  try:", "explain"),
    (["json", "x"], "uwbctl json: There is no command 'x' that prints JSON.\n  try:", "json"),
  ])
  func theCauseOfAnErrorIsVisible(
    _ arguments: [String], _ cause: String, _ command: String
  ) throws {
    let outcome = try ChildProcess.run(arguments)
    #expect(outcome.complaints.contains(cause), "\(outcome.complaints)")
    #expect(outcome.complaints.hasSuffix("\n  try: uwbctl \(command) --help\n"))
    #expect(outcome.complaints.split(separator: "\n").count < 8, "\(outcome.complaints)")
    #expect(outcome.status == 64)
  }

  @Test func optionsOfSeveralCommandsDescribeEachOfThem() throws {
    for command in ["range", "find", "peer", "accessory"] {
      let help = try ChildProcess.run([command, "--help"], columns: "120").output
      let words = help.split(whereSeparator: \.isWhitespace).joined(separator: " ")
      #expect(words.contains("Stop after this many measured ranging rounds. -"), "\(command)")
    }
  }

  @Test func aMistypedOptionGetsASuggestion() throws {
    let outcome = try ChildProcess.run(["range", "--devcie", "/dev/ttyACM0"])
    #expect(
      outcome.complaints.hasPrefix(
        "uwbctl range: Unknown option '--devcie'. Did you mean '--device'?\n"))
    #expect(outcome.status == 64)
  }

  @Test(arguments: [
    ["--region", "near"], ["--region", "near=x"], ["--region", "near=nan"],
    ["--region", "near=-1"], ["--region", "near=1:0.5"], ["--region", "near=1:2:3"],
    ["--region", "near="], ["--region", "=1"], ["--region", "a b=1"], ["--region", "near=0"],
    ["--region", "near=1", "--region", "near=3"], ["--region", "near=1", "--region", "far=1.1"],
    ["--on-enter", "true"], ["--gpio", "gpiochip0:1"],
    ["--region", "near=1", "--on-enter", ""], ["--region", "near=1", "--on-leave", "  "],
    ["--region", "near=1", "--absence", "0"], ["--region", "near=1", "--dwell", "nan"],
    ["--region", "near=1", "--command-time", "0"],
    ["--region", "near=1", "--gpio", "far=gpiochip0:1"],
    ["--region", "near=1", "--gpio", "gpiochip0:1,active-high"],
    ["--region", "near=1", "--gpio", "GPIO4", "--gpio", "near=GPIO4"],
  ])
  func actionsThatCannotBeAreRefused(_ arguments: [String]) {
    #expect(throws: (any Error).self, "\(arguments)") { try RegionOptions.parse(arguments) }
  }

  /// Both commands refuse the same values of the options above.
  @Test(arguments: ["range", "accessory"])
  func commandsRefuseActionsThatCannotBe(_ command: String) throws {
    #expect(throws: (any Error).self) {
      try Uwbctl.parseAsRoot([command, "--region", "near=1", "--gpio", "far=gpiochip0:1"])
    }
    _ = try Uwbctl.parseAsRoot([command, "--region", "near=1", "--gpio", "near=gpiochip0:1"])
  }

  @Test(arguments: [
    (["range", "--device", "/dev/no-such"], "uwbctl range: ", Int32(69)),
    (["range", "--count", "0"], "uwbctl range: ", 64),
    (["config", "get", "--device", "/dev/no-such"], "uwbctl config get: ", 69),
    (["calibrate", "restore", "/no/such"], "uwbctl calibrate restore: ", 66),
    (["calibration", "restore", "/no/such"], "uwbctl calibrate restore: ", 66),
    (["decode", "zz"], "uwbctl decode: ", 65),
    (["replay", "/no/such"], "uwbctl replay: ", 66),
    (["multicast", "add", "0003", "--pid", "1"], "uwbctl multicast add: ", 69),
    (["multicast", "list", "--pid", "1"], "uwbctl multicast list: No such session", 0),
    (["profile", "check", "/no/such"], "uwbctl profile check: ", 66),
  ])
  func messagesNameTheCommand(
    _ arguments: [String], _ beginning: String, _ status: Int32
  ) throws {
    let outcome = try ChildProcess.run(arguments)
    #expect(outcome.complaints.hasPrefix(beginning), "\(outcome.complaints)")
    #expect(outcome.status == status)
  }

  @Test(arguments: [
    (["compute"], "uwbctl: compute", "compute"),
    (["compute", "filter", "t.csv"], "uwbctl: compute", "compute filter t.csv"),
    (["help", "compute"], "uwbctl: compute", "compute"),
    (
      ["calibrate", "delay", "--yes"], "uwbctl calibrate: calibrate delay", "calibrate delay --yes"
    ),
    (["calibration", "path"], "uwbctl calibrate: calibrate path", "calibrate path"),
    (["locate", "--live"], "uwbctl: compute locate", "compute locate --live"),
    (["help", "filter"], "uwbctl: compute filter", "compute filter"),
  ])
  func commandsOfAnotherProgramAreNamed(
    _ arguments: [String], _ beginning: String, _ call: String
  ) throws {
    let outcome = try ChildProcess.run(arguments)
    #expect(
      outcome.complaints == beginning + " is a command of uwblab.\n"
        + "  try: Give the same arguments to it: uwblab \(call)\n")
    #expect(outcome.output.isEmpty)
    #expect(outcome.status == 64)
  }

  @Test func calibrationIsTheFormerNameOfCalibrate() throws {
    let present = try ChildProcess.run(["calibrate", "get", "--format", "json"])
    let former = try ChildProcess.run(["calibration", "get", "--format", "json"])
    #expect(present.status == 0)
    #expect(former.output == present.output)
    #expect(
      try ChildProcess.run(["json", "calibration", "get"]).output
        == ChildProcess.run(["json", "calibrate", "get"]).output)
    #expect(
      try ChildProcess.run(["help", "calibration"]).output
        == ChildProcess.run(["calibrate", "--help"]).output)
  }
}
