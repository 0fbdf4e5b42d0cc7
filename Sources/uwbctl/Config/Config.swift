// SPDX-License-Identifier: Apache-2.0

import UWBLab
import ArgumentParser
import UCI
import UWB

struct Config: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Read, set and list parameters of a chip and of its sessions.",
    subcommands: [ConfigList.self, ConfigGet.self, ConfigSet.self])
}

struct ConfigGet: Command {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Read parameters from a chip.",
    discussion: """
      For example:
        uwbctl config get --device /dev/ttyACM0
        uwbctl config get --device /dev/ttyACM0 --session 1 CHANNEL_NUMBER SLOT_DURATION
      Without names, reads all known parameters that the chip has. The chip is only reset with --reset, \
      so that the sessions of a crashed program can be examined.
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
      guard !names.isEmpty, !refused.isEmpty else { return }
      for (parameter, status) in refused {
        standardError.write("uwbctl: Cannot read \(parameters.name(of: parameter)): \(status).\n")
      }
      throw Failure(.configuration)
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

struct ConfigSet: Command {
  static let configuration = CommandConfiguration(
    commandName: "set",
    abstract: "Set parameters of a chip or of one of its sessions.",
    discussion: """
      For example:
        uwbctl config set --device /dev/ttyACM0 LOW_POWER_MODE=off
        uwbctl config set --device /dev/ttyACM0 --session 1 RANGING_DURATION=100ms
      config list shows the form of values; bytes may be given as hex:0102. A reset restores the \
      parameters of most chips, and range resets the chip. When the chip rejects a parameter, it still \
      sets the others.
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
      return "\(name): " + (status == .ok ? "set" : "rejected, \(status)")
    }
    var line = JSONLine()
    line.add("name", name)
    line.add("set", status == .ok)
    line.add("status", "\(status)")
    line.add("status_code", status.rawValue)
    return line.text
  }
}
