// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Glibc
import UWBService

/// The command-line tool. Its folders are named after subcommands and shared parts.
@main
struct Uwbctl: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "uwbctl",
    abstract: "Use, examine and calibrate Ultra-Wideband chips that speak UCI.",
    discussion: """
      Commands that need a chip use simulated ones unless --device names a board: "uwbctl range" \
      works without any hardware, and "uwbctl list" shows the boards that are plugged in.

      Files may be -, which is standard input or standard output.
      """,
    version: Program.versionText,
    groupedSubcommands: [
      CommandGroup(name: "Board", subcommands: [ListCommand.self, Setup.self, Doctor.self]),
      CommandGroup(
        name: "Ranging",
        subcommands: [
          RangeCommand.self, Multicast.self, ProfileCommand.self, Diff.self, TestCommand.self,
        ]),
      CommandGroup(
        name: "Nearby Interaction",
        subcommands: [
          FindCommand.self, AccessoryCommand.self, PeerCommand.self, BondsCommand.self,
        ]),
      CommandGroup(
        name: "Chip",
        subcommands: [
          Info.self, Caps.self, Config.self, FirmwareCommand.self, Reset.self,
        ]),
      CommandGroup(
        name: "Packet",
        subcommands: [
          Monitor.self, CaptureCommand.self, Replay.self, Send.self, Decode.self, Explain.self,
        ]),
      CommandGroup(name: "Computing", subcommands: [Compute.self, Calibrate.self]),
      CommandGroup(name: "Other", subcommands: [Simulate.self, JSONTopic.self]),
    ])

  /// The prefix of the argument parser's errors.
  static var _errorPrefix: String { "\(Program.name): " }

  /// Runs the program as the argument parser does, with preparation before and checks after a
  /// command.
  ///
  /// The packaged program includes the service, which runs under its own name.
  static func main() async {
    if CommandLine.arguments[0].split(separator: "/").last == "uwbd" { return await Uwbd.main() }
    Ending.prepare()
    // The argument parser needs at least 27 columns, and also renders help without a request.
    setenv("COLUMNS", "\(Program.columns)", 1)
    do {
      let arguments = CommandPath.current(CommandLine.arguments.dropFirst())
      try CommandPath(arguments).check()
      var command = try parseAsRoot(arguments)
      if let command = command as? any LiveCommand, command.isLive {
        try await command.runLive()
      } else if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
    } catch {
      end(error)
    }
    do { try Ending.checkOutput() } catch { exit(withError: error) }
  }

  /// Ends the program with the text and the exit status of an error. Help counts as an error.
  private static func end(_ error: any Error) -> Never {
    let text = Program.text(for: error)
    let code = exitCode(for: error)
    if !text.isEmpty { (code.isSuccess ? standardOutput : standardError).write(text + "\n") }
    do { try Ending.checkOutput() } catch { exit(withError: error) }
    exit(withError: code)
  }
}
