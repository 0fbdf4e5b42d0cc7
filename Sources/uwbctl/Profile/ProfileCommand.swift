// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import UWB
import UCI
import UCIReference
import UWBLink
import UWBSimulator

/// `uwbctl profile`: sessions as files.
struct ProfileCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "profile",
    abstract: "Print session profiles to begin from, and check them.",
    discussion: """
      A profile is one end of a session: JSON with comments. For example:
        uwbctl profile --preset qorvo-kit > controller.json
        uwbctl profile --preset qorvo-kit --role controlee > controlee.json
        uwbctl profile check controller.json --device /dev/ttyACM0
        uwbctl range --device /dev/ttyACM0 --profile controller.json
      """,
    subcommands: [ProfilePrint.self, ProfileCheck.self], defaultSubcommand: ProfilePrint.self)
}

/// The presets, for the command line.
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

/// `uwbctl profile print`, or nothing behind `profile`.
struct ProfilePrint: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "print",
    abstract: "Print a complete profile with comments (what profile does by itself).")

  @Option(help: "Whose settings to begin from.") var preset = PresetName.firaStatic
  @Option(help: "Which end (default: the one a board usually is).") var role: RangeOptions.Role?
  @Option(name: .customLong("from"), help: "Print this profile instead, in the usual order.")
  var file: String?
  @Flag(help: "With --from: print keys as they are.") var includeSecrets = false

  func run() async throws {
    try reporting {
      if let file {
        let profile = try SessionProfile(file: file)
        standardOutput.write(profile.text(complete: true, includingSecrets: includeSecrets))
      } else {
        // The bytes of a preset are those of public samples: nobody's secret.
        standardOutput.write(
          preset.preset.profile(role.map { $0 == .controller ? .controller : .controlee }).text(
            complete: true, includingSecrets: true, remarks: preset.preset.remarks))
      }
    }
  }
}

/// `uwbctl profile check`.
struct ProfileCheck: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Say what in a profile will not work, before it is sent.",
    discussion: "With --device the chip is asked what it can do, which resets it.")

  @Argument(help: "A profile.", completion: .file()) var file: String
  @Option(
    name: .shortAndLong, help: "Check against the chip of this device, or of sim.")
  var device: String?
  @OptionGroup var chip: ChipOptions
  @Option(help: "How to print it.") var format = OutputFormat.text

  func run() async throws {
    try await reporting {
      let profile = try SessionProfile(file: file)
      let known = try await device.map { try ChipFacts.Place($0) }?.facts(chip)
      let problems = ConfigurationCheck(
        profile.parameters(for: known?.dialect ?? .assumed), capabilities: known?.capabilities
      ).problems()
      standardOutput.write(
        problems.map { format == .json ? $0.json.text + "\n" : $0.text }.joined())
      if format == .text, problems.isEmpty { standardOutput.write("No problem found.\n") }
      if !problems.errors.isEmpty { throw ExitCode(ExitStatus.configuration.rawValue) }
    }
  }
}

extension ConfigurationProblem.Severity {
  /// For people and programs.
  var word: String {
    switch self {
    case .preventsRanging: "prevents ranging"
    case .refusedByChip: "refused"
    case .advice: "advice"
    }
  }
}

extension ConfigurationProblem {
  /// A line, and what to do below it.
  var text: String {
    "\(severity.word): \(sentence)\n" + (nextStep.map { "  try: \($0)\n" } ?? "")
  }

  var json: JSONLine {
    var line = JSONLine()
    line.add("severity", severity.word)
    line.add("sentence", sentence)
    line.add("parameters", parameters.map(\.name))
    line.add("next_step", nextStep)
    return line
  }
}

/// What a chip says of itself.
struct ChipFacts {
  var dialect: Dialect
  var capabilities: Capabilities

  /// Where to ask.
  enum Place {
    case simulated
    case endpoint(LinkEndpoint)

    init(_ text: String) throws {
      self = text == DeviceOptions.simulated ? .simulated : .endpoint(try LinkEndpoint(text))
    }

    /// Opens the device, which resets it, and closes it again.
    func facts(_ chip: ChipOptions) async throws -> ChipFacts {
      let peers: SimulatedPeers? =
        if case .simulated = self { try chip.simulatedChip() } else { nil }
      defer { peers?.bench.stop() }
      let endpoint: LinkEndpoint
      switch self {
      case .endpoint(let given): endpoint = given
      case .simulated:
        guard let peers else { throw ExitCode(ExitStatus.usage.rawValue) }
        endpoint = SimulatedPeers.endpoint(peers.own)
      }
      let device = try await UWBDevice.open(endpoint, options: chip.driverOptions)
      let facts = ChipFacts(
        dialect: device.dialect, capabilities: Capabilities(device.capabilities))
      await device.close()
      return facts
    }
  }
}
