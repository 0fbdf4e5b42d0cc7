// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import UWB
import UCI
import UCIReference
import UWBLink
import UWBSimulator

struct ProfileCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "profile",
    abstract: "Print session profiles as templates, and check them.",
    discussion: """
      A profile describes one end of a session in JSON with comments. For example:
        uwbctl profile --preset qorvo-kit > controller.json
        uwbctl profile --preset qorvo-kit --role controlee > controlee.json
        uwbctl profile check controller.json --device /dev/ttyACM0
        uwbctl range --device /dev/ttyACM0 --profile controller.json
      """,
    subcommands: [ProfilePrint.self, ProfileCheck.self], defaultSubcommand: ProfilePrint.self)
}

/// The presets on the command line.
enum PresetName: String, ExpressibleByArgument, CaseIterable {
  case firaStatic = "fira-static"
  case qorvoKit = "qorvo-kit"
  case android
  case nearbyInteraction = "nearby-interaction"

  var preset: Preset {
    switch self {
    case .firaStatic: .firaStatic
    case .qorvoKit: .qorvoKit
    case .android: .android
    case .nearbyInteraction: .nearbyInteraction
    }
  }
}

struct ProfilePrint: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "print",
    abstract: "Print a complete profile with comments (the default).")

  @Option(help: "The preset to print.") var preset = PresetName.firaStatic
  @Option(help: "The end of the session (default: the usual one of a board).") var role:
    RangeOptions.Role?
  @Option(name: .customLong("from"), help: "Print this profile instead, completed.")
  var file: String?
  @Flag(help: "With --from: print keys in clear.") var includeSecrets = false

  func run() async throws {
    try reporting {
      if let file {
        let profile = try SessionProfile(file: file)
        standardOutput.write(profile.text(complete: true, includingSecrets: includeSecrets))
      } else {
        // The keys of presets are those of public samples.
        standardOutput.write(
          preset.preset.profile(role.map { $0 == .controller ? .controller : .controlee }).text(
            complete: true, includingSecrets: true, remarks: preset.preset.remarks))
      }
    }
  }
}

struct ProfileCheck: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Check a profile for problems before it is sent.",
    discussion:
      "With --device, also checks it against the capabilities of the chip, which is reset.")

  @Argument(help: "The profile.", completion: .file()) var file: String
  @Option(
    name: .shortAndLong, help: "Check against the chip of this device, or sim.")
  var device: String?
  @OptionGroup var chip: ChipOptions
  @Option(help: "Output format: text or json.") var format = OutputFormat.text

  func run() async throws {
    try await reporting {
      let profile = try SessionProfile(file: file)
      var (dialect, capabilities) = (Dialect.assumed, Capabilities?.none)
      if let device {
        var options = try DeviceOptions.parse(["--device", device])
        options.chip = chip
        (dialect, capabilities) = try await options.withDevice(CaptureOptions.parse([])) {
          chip, _ in
          (chip.dialect, Capabilities(chip.capabilities))
        }
      }
      let problems = ConfigurationCheck(
        profile.parameters(for: dialect), capabilities: capabilities
      ).problems()
      standardOutput.write(
        problems.map { format == .json ? $0.json.text + "\n" : $0.text }.joined())
      if format == .text, problems.isEmpty { standardOutput.write("No problems found.\n") }
      if !problems.errors.isEmpty { throw Failure(.configuration) }
    }
  }
}

extension ConfigurationProblem.Severity {
  /// In text and JSON; never changes.
  var word: String {
    switch self {
    case .preventsRanging: "prevents ranging"
    case .refusedByChip: "refused"
    case .advice: "advice"
    }
  }
}

extension ConfigurationProblem {
  /// A line, and one on what to do.
  var text: String {
    "\(severity.word): \(sentence)\n" + (recoverySuggestion.map { "  try: \($0)\n" } ?? "")
  }

  var json: JSONLine {
    var line = JSONLine()
    line.add("severity", severity.word)
    line.add("sentence", sentence)
    line.add("parameters", parameters.map(\.name))
    line.add("next_step", recoverySuggestion)
    return line
  }
}
