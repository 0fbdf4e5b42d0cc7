// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Dispatch
import Glibc

/// Starts `uwblab`. An asynchronous `main` has a thunk whose symbol is the same in each program: in
/// the package's file of all programs, it started `uwbctl`.
@main struct Start {
  static func main() {
    Task { @MainActor in
      await Uwblab.main()
      exit(0)
    }
    dispatchMain()
  }
}

/// The program that computes from recorded tables, and calibrates boards.
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
