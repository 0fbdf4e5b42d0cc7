// SPDX-License-Identifier: Apache-2.0

import UWBLab
import ArgumentParser
import UCI
import UWB

/// `uwbctl config`: parameters of the chip and of sessions, by name.
struct Config: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Read, set and look up parameters of a chip and of its sessions.",
    subcommands: [ConfigList.self, ConfigGet.self, ConfigSet.self])
}

/// `uwbctl config get`.
struct ConfigGet: Command {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Read parameters from a chip.",
    discussion: """
      For example:
        uwbctl config get --device /dev/ttyACM0
        uwbctl config get --device /dev/ttyACM0 --session 1 CHANNEL_NUMBER SLOT_DURATION
      Without names: all that are known and that the chip gives. The chip is not reset unless \
      --reset, so that sessions of a program that crashed can be looked at.
      """)

  @Argument(help: "Names or numbers of parameters.") var names: [String] = []
  @OptionGroup var access: ConfigAccess
  @Flag(help: "Show keys and initialisation vectors.") var showSecrets = false

  func execute() async throws {
    try await access.withParameters { parameters in
      let wanted = names.isEmpty ? parameters.all : try names.map { try parameters.id($0) }
      let (found, refused) = try await parameters.read(wanted)
      for parameter in found {
        standardOutput.write(line(parameter, parameters) + "\n")
      }
      // What nobody asked for by name is not missed.
      guard !names.isEmpty, !refused.isEmpty else { return }
      for (parameter, status) in refused {
        standardError.write(
          "uwbctl: The chip does not give \(parameters.name(of: parameter)): \(status).\n")
      }
      throw ExitCode(ExitStatus.configuration.rawValue)
    }
  }

  private func line(_ parameter: TLV, _ parameters: ChipParameters) -> String {
    let isHidden = parameters.isSecret(parameter) && !showSecrets
    let text = isHidden ? nil : parameters.text(of: parameter)
    let name = parameters.name(of: parameter)
    guard access.format == .json else { return "\(name)=\(text.map(printable) ?? "(hidden)")" }
    var line = JSONLine()
    line.add("name", name)
    line.add("id", parameter.id)
    if let subID = parameter.subID { line.add("sub_id", subID) }
    line.add("value", text)
    line.add("octets", isHidden ? nil : parameter.value.map { hexDigits($0) }.joined())
    return line.text
  }
}

/// `uwbctl config set`.
struct ConfigSet: Command {
  static let configuration = CommandConfiguration(
    commandName: "set",
    abstract: "Set parameters of a chip, or of a session that is on it.",
    discussion: """
      For example:
        uwbctl config set --device /dev/ttyACM0 LOW_POWER_MODE=off
        uwbctl config set --device /dev/ttyACM0 --session 1 RANGING_DURATION=100ms
      Values are written as config list says; hex: and bytes are taken as they are. A reset puts \
      the parameters of most chips back, and range resets the chip. The chip takes what it does not \
      refuse, even where it refuses another one.
      """)

  @Argument(help: "NAME=VALUE.") var parameters: [String]
  @OptionGroup var access: ConfigAccess

  func execute() async throws {
    try await access.withParameters { chip in
      let wanted = try parameters.map { try chip.parameter($0) }
      let response = try await chip.write(wanted)
      let refused = response.refused ?? []
      for parameter in wanted {
        let refusal = refused.first { $0.id == parameter.id && $0.subID == parameter.subID }
        let status = refusal?.status ?? (refused.isEmpty ? response.status : .ok)
        standardOutput.write(line(chip.name(of: parameter), status) + "\n")
      }
      guard response.status != .ok else { return }
      throw DriverError.parametersRefused(response.status, refused)
    }
  }

  private func line(_ name: String, _ status: Status) -> String {
    guard access.format == .json else {
      return "\(name): " + (status == .ok ? "set" : "refused, \(status)")
    }
    var line = JSONLine()
    line.add("name", name)
    line.add("set", status == .ok)
    line.add("status", "\(status)")
    line.add("status_code", status.rawValue)
    return line.text
  }
}
