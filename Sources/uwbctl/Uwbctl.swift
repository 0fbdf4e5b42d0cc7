// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// The command-line tool. Its folders are named by subcommands and what they have in common.
@main
struct Uwbctl: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "uwbctl",
    abstract: "Use, examine and calibrate Ultra-Wideband chips that speak UCI.",
    subcommands: [
      ListCommand.self,
      Setup.self,
      Doctor.self,
      RangeCommand.self,
      Multicast.self,
      AccessoryCommand.self,
      FindCommand.self,
      TestCommand.self,
      ChipCalibration.self,
      Replay.self,
      Monitor.self,
      Send.self,
      Reset.self,
      FirmwareCommand.self,
      CaptureCommand.self,
      Info.self,
      Caps.self,
      Config.self,
      Decode.self,
      Explain.self,
      ProfileCommand.self,
      Diff.self,
      Simulate.self,
      JSONTopic.self,
      Compute.self,
      Calibrate.self,
    ])

  /// As the argument parser's, with what has to be seen to before and after a command.
  static func main() async {
    Ending.prepare()
    do {
      var command = try parseAsRoot()
      if var command = command as? any AsyncParsableCommand {
        try await command.run()
      } else {
        try command.run()
      }
      try Ending.checkOutput()
    } catch {
      exit(withError: error)
    }
  }
}
