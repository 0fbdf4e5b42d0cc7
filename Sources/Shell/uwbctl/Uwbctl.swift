// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
import CommandSupport
import UWBTools

/// The command-line tool. Each command has a file; its work is in `UWBTools`.
@main
package struct Uwbctl: AsyncParsableCommand {
  package static let configuration = CommandConfiguration(
    commandName: "uwbctl",
    abstract: "Use and examine Ultra-Wideband chips that speak UCI.",
    discussion: """
      Commands that need a chip use simulated ones unless --device names a board: "uwbctl range" \
      works without any hardware, and "uwbctl list" shows the boards that are plugged in. uwblab \
      calibrates boards, and computes from recorded tables. uwbd shares boards among programs and \
      users: see uwbd --help.

      Files may be -, which is standard input or standard output. Completions for the shell: \
      uwbctl --generate-completion-script bash, zsh or fish.
      """,
    version: Program.versionText(of: "uwbctl"),
    groupedSubcommands: [
      CommandGroup(
        name: "Board", subcommands: [ListCommand.self, EndCommand.self, Setup.self, Doctor.self]),
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
          Info.self, Caps.self, Config.self, Calibrate.self, FirmwareCommand.self, Reset.self,
        ]),
      CommandGroup(
        name: "Packet",
        subcommands: [
          Monitor.self, CaptureCommand.self, Replay.self, Send.self, Decode.self, Wireshark.self,
          Explain.self,
        ]),
      CommandGroup(name: "Other", subcommands: [Simulate.self, JSONTopic.self]),
    ])

  package init() {}

  /// The prefix of the argument parser's errors.
  package static var _errorPrefix: String { "\(Program.name): " }

  /// Runs the program as the argument parser does.
  static func main() async {
    let arguments = FormerCommand.replaced(in: CommandLine.arguments.dropFirst())
    await Program.run(Uwbctl.self, arguments, check: FormerCommand.refuse)
  }
}

/// Commands that had another name, or belonged to this program.
enum FormerCommand {
  /// Returns the arguments with the present name of a command in place of a former one.
  static func replaced(in arguments: some Collection<String>) -> [String] {
    var arguments = Array(arguments)
    let index = ["help", "json"].contains(arguments.first) ? 1 : 0
    if index < arguments.count, arguments[index] == "calibration" { arguments[index] = "calibrate" }
    return arguments
  }

  /// - Throws: The exit status, after a message that names the program that now has the command.
  static func refuse(_ arguments: [String]) throws {
    let words = arguments.first == "help" ? arguments.dropFirst() : arguments[...]
    let name = words.prefix(words.first == "calibrate" ? 2 : 1).joined(separator: " ")
    let moved = ["compute"] + ["delay", "angle", "power", "path"].map { "calibrate \($0)" }
    let computations = ["ds-twr", "ss-twr", "filter", "angle", "locate"]
    guard moved.contains(name) || computations.contains(name) else { return }
    let path = moved.contains(name) ? "" : "compute "
    throw Failure(
      .usage, "\(path)\(name) is a command of uwblab.",
      try: "Give the same arguments to it: uwblab \(path)\(words.joined(separator: " "))"
    ).report()
  }
}
