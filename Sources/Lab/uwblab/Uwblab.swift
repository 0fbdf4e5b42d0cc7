// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport

/// The program that computes from recorded tables, and calibrates boards.
@main
struct Uwblab: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "uwblab",
    abstract: "Compute from recorded tables, and calibrate Ultra-Wideband boards.",
    discussion: """
      Commands that need boards use simulated ones unless --board names some: "uwblab calibrate \
      delay" works without any hardware.

      Files may be -, which is standard input or standard output.
      """,
    version: Program.versionText(of: "uwblab"),
    subcommands: [Compute.self, Calibrate.self])

  /// The prefix of the argument parser's errors.
  static var _errorPrefix: String { "\(Program.name): " }

  static func main() async {
    await Program.run(Uwblab.self, Array(CommandLine.arguments.dropFirst()))
  }
}
