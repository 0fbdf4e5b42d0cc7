// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
import CommandSupport
import Formats
public import UWB
import UCI
import UCIReference
import UWBLink
import UWBSimulator
import UWBTools

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

extension Preset: ExpressibleByArgument {}
extension Preset.UpdateRate: ExpressibleByArgument {}

struct ProfilePrint: ReportingCommand {
  static let configuration = CommandConfiguration(
    commandName: "print",
    abstract: "Print a complete profile with comments (the default).")

  @Option(help: "The preset to print.") var preset = Preset.firaStatic
  @Option(help: "The end of the session (default: the usual one of a board).") var role:
    RangeOptions.Role?
  @Option(
    help: "The interval of Android's presets, as the app requests it (default: frequent).")
  var updateRate: Preset.UpdateRate?
  @Flag(help: "For a session in which several controlees share each round.") var oneToMany = false
  @Option(
    name: .customLong("from"),
    help: "Print this profile, or the session in an Android phone's log, instead, completed.")
  var file: String?
  @Flag(help: "With --from: print keys in clear.") var includeSecrets = false

  func execute() async throws {
    if let file {
      var profile = try naming(file: file) { try SessionProfile(file: file) }
      if oneToMany { profile.isOneToMany = true }
      standardOutput.write(profile.text(complete: true, includingSecrets: includeSecrets))
    } else {
      var profile = try template()
      if oneToMany { profile.isOneToMany = true }
      // The keys of presets are public, from samples, so they are printed.
      standardOutput.write(
        profile.text(complete: true, includingSecrets: true, remarks: preset.remarks))
    }
  }

  /// Returns the preset for the role. An anchor of downlink TDoA begins round 0 with three
  /// responders.
  private func template() throws -> SessionProfile {
    let responders = (1...3).map { MACAddress(UInt16($0)) }
    let wanted = try role.map {
      try OneWayOptions.parse([]).role(
        $0, responders: $0 == .downlinkAnchor ? responders : [], interval: 200)
    }
    let isOneWay = wanted?.isOneWay == true
    try require(
      updateRate == nil || preset.androidConfiguration != nil && !isOneWay,
      "--update-rate sets the interval of two-way ranging with Android. Take --preset android.")
    try require(
      !isOneWay || preset == .firaStatic || preset == .android && role == .downlinkTag,
      "\(preset.rawValue) has no published values for \(role?.rawValue ?? ""). Take --preset "
        + "fira-static, or for dl-tdoa-tag --preset android.")
    return preset.profile(wanted, updateRate: updateRate ?? .frequent)
  }
}

struct ProfileCheck: ReportingCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Check a profile for problems before it is sent.",
    discussion:
      "With --device, also checks it against the capabilities of the chip, which is reset.")

  @Argument(help: "The profile.", completion: .file()) var file: String
  @Option(
    name: .shortAndLong, help: "Check against the chip of this device, or sim.")
  var device: String?
  @OptionGroup(title: "Chip") var chip: ChipOptions
  @Flag(help: "Fail on warnings too, which only the chip can decide.") var strict = false
  @Option(help: "Output format.") var format = OutputFormat.text

  func execute() async throws {
    let profile = try naming(file: file) { try SessionProfile(file: file) }
    var (dialect, capabilities) = (Dialect.assumed, Capabilities?.none)
    if let device {
      let options = try DeviceOptions.naming(device, chip)
      (dialect, capabilities) = try await options.withDevice { chip, _ in
        (chip.dialect, Capabilities(chip.capabilities))
      }
    }
    let problems = ConfigurationCheck(
      profile.parameters(for: dialect), capabilities: capabilities
    ).problems()
    format.print(problems, ConfigurationProblem.json, text: \.text)
    if format == .text, problems.isEmpty { standardOutput.write("No problems found.\n") }
    if !problems.errors.isEmpty || strict && !problems.warnings.isEmpty {
      throw Failure(.configuration)
    }
  }
}

extension ConfigurationProblem.Severity {
  /// The stable name for text and JSON.
  var word: String {
    switch self {
    case .preventsRanging: "prevents ranging"
    case .refusedByChip: "refused"
    case .warning: "warning"
    case .advice: "advice"
    }
  }
}

extension [ConfigurationProblem] {
  /// Reports the problems that only the chip can decide.
  ///
  /// - Throws: `Failure` if `--strict` was given.
  func report(strictly isStrict: Bool) throws {
    guard !isEmpty else { return }
    guard !isStrict else {
      throw Failure(
        .configuration, map(\.sentence).joined(separator: " "),
        try: "Leave out --strict, and the chip decides.")
    }
    for problem in self {
      note("\(problem.severity.word): \(problem.sentence)", try: problem.recoverySuggestion)
    }
  }
}

extension ConfigurationProblem {
  /// The problem in one line, with the next step on another.
  var text: String {
    "\(severity.word): \(sentence)\n" + (recoverySuggestion.map { "  try: \($0)\n" } ?? "")
  }

  static let json = JSONTable<ConfigurationProblem>("profile check", each: "problem") {
    $0.key("severity", "prevents ranging, refused, warning or advice") { $0.severity.word }
    $0.key("sentence", "description") { $0.sentence }
    $0.key("parameters", "names of the parameters concerned") { $0.parameters.map(\.name) }
    $0.key("next_step", "the next step") { $0.recoverySuggestion }
  }
}
