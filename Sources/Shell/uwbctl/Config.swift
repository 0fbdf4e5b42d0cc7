// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Formats
import UCI
import UCIReference
import UWB
import UWBTools

struct Config: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Read, set and list parameters of chips and sessions.",
    subcommands: [ConfigList.self, ConfigGet.self, ConfigSet.self])
}

struct ConfigGet: ConfigCommand {
  static let configuration = CommandConfiguration(
    commandName: "get",
    abstract: "Read parameters from a chip.",
    discussion: """
      For example:
        uwbctl config get --device /dev/ttyACM0
        uwbctl config get --device /dev/ttyACM0 --session 1 SLOT_DURATION
      Without names, reads all known parameters that the chip has. The chip is only reset with --reset, \
      so that the sessions of a crashed program can be examined.
      """)

  @Argument(help: "Names or numbers of parameters.") var names: [String] = []
  @OptionGroup(title: "Device") var device: DeviceOption
  @OptionGroup(title: "Device") var chip: ChipOptions
  @OptionGroup(title: "Capture") var capture: CaptureOptions
  @OptionGroup var access: ConfigAccess
  @Flag(help: "Show keys and initialisation vectors.") var showSecrets = false

  func execute() async throws {
    try await withParameters { parameters in
      let wanted = names.isEmpty ? parameters.all : try names.map { try parameters.id($0) }
      let (found, refused) = try await parameters.read(wanted)
      let values = found.map { parameter in
        let isHidden = parameters.isSecret(parameter) && !showSecrets
        return (
          name: parameters.name(of: parameter), parameter: parameter,
          text: isHidden ? nil : parameters.text(of: parameter)
        )
      }
      access.format.print(values, Self.json) {
        "\($0.name)=\($0.text.map(printable) ?? "(hidden)")\n"
      }
      guard !names.isEmpty, !refused.isEmpty else { return }
      for (parameter, status) in refused {
        note("Cannot read \(parameters.name(of: parameter)): \(status).")
      }
      throw Failure(.configuration)
    }
  }

  /// The keys of `config get`; `text` is nil for a hidden value.
  static let json = JSONTable<(name: String, parameter: TLV, text: String?)>(
    "config get", each: "parameter"
  ) {
    $0.key("name", "name") { $0.name }
    $0.key("id", "number") { $0.parameter.id }
    $0.key("sub_id?", "second byte of the number") { $0.parameter.subID }
    $0.key("value", "value as text") { $0.text }
    $0.key("octets", "hexadecimal; null for keys") {
      $0.text == nil ? nil : hexDigits($0.parameter.value)
    }
  }
}

struct ConfigSet: ConfigCommand {
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
  @OptionGroup(title: "Device") var device: DeviceOption
  @OptionGroup(title: "Device") var chip: ChipOptions
  @OptionGroup(title: "Capture") var capture: CaptureOptions
  @OptionGroup var access: ConfigAccess

  func execute() async throws {
    try await withParameters { chip in
      let wanted = try parameters.map { try chip.parameter($0) }
      let response = try await chip.write(wanted)
      let refused = response.refused ?? []
      let outcomes = wanted.map { parameter in
        let refusal = refused.first { $0.id == parameter.id && $0.subID == parameter.subID }
        let status = refusal?.status ?? (refused.isEmpty ? response.status : .ok)
        return (name: chip.name(of: parameter), status)
      }
      access.format.print(outcomes, Self.json) { name, status in
        "\(name): " + (status == .ok ? "set" : "rejected, \(status)") + "\n"
      }
      guard response.status != .ok else { return }
      throw DriverError.parametersRefused(
        response.status, refused, command: access.session == nil ? "CORE_SET_CONFIG_CMD" : nil)
    }
  }

  static let json = JSONTable<(name: String, status: Status)>("config set", each: "parameter") {
    $0.key("name", "name") { $0.name }
    $0.key("set", "whether the chip accepted it") { $0.status == .ok }
    $0.key("status", "status name") { "\($0.status)" }
    $0.key("status_code", "status number, 0 is OK") { $0.status.rawValue }
  }
}

/// The options that `config get` and `config set` share.
struct ConfigAccess: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Use the parameters of this session instead of the chip: its handle since FiRa 2.0, its id "
        + "before."))
  var session: UInt32?
  @Flag(help: "Reset the chip first, which ends its sessions.") var reset = false
  @Option(help: "Output format; json is one object a line.") var format = OutputFormat.text

  func validate() throws {
    if reset, session != nil {
      throw ValidationError("--reset ends the session that --session names.")
    }
  }
}

private protocol ConfigCommand: DeviceCommand {
  var capture: CaptureOptions { get }
  var access: ConfigAccess { get }
}

extension ConfigCommand {
  /// Opens the chip, passes its parameters to `body`, and closes the chip.
  fileprivate func withParameters(_ body: (ChipParameters) async throws -> Void) async throws {
    let session = access.session
    try await options.withDevice(
      capture, resetPolicy: access.reset ? .reset : .keepState,
      resetAdvice: session.map { _ in
        "Its sessions are lost: leave out --session, and give --reset."
      }
    ) { chip, _ in
      do {
        try await body(ChipParameters(chip: chip, session: session))
      } catch let error as ParameterTextError {
        throw ValidationError(ChipParameters.message(for: error, session: session))
      }
    }
  }
}

struct ConfigList: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List all known parameters with units, ranges, names of values and defaults.",
    discussion: """
      For example:
        uwbctl config list slot
        uwbctl config list --kind device --chip nxp
      Needs no device. The meaning of a parameter number may depend on the vendor of the chip.
      """)

  @Argument(help: "List only parameters whose name contains one of these words.") var words:
    [String] = []
  @Option(help: "Parameters of sessions, of the chip, or both.") var kind = ParameterRow.Kind.all
  @Option(help: "The family of chips.") var chip = ChipOptions.Family.auto
  @Option(help: "The FiRa version: 1, 2 or 3.") var fira: UInt8 = 2
  @Option(help: "Output format; json is one object a line.") var format = OutputFormat.text

  func validate() throws {
    try require(Dialect.Generation(rawValue: fira) != nil, "--fira takes 1, 2 or 3.")
  }

  func run() throws {
    let dialect = Dialect(
      generation: Dialect.Generation(rawValue: fira) ?? .fira2,
      vendor: chip.profile?.vendor ?? .unknown)
    let rows = ParameterRow.all(dialect, kind, words)
    guard !rows.isEmpty else {
      throw ValidationError(
        "No parameter has such a name."
          + nearest(to: words.joined(separator: " "), in: ParameterRow.all(.assumed).map(\.name)))
    }
    format.print(rows, ParameterRow.json, text: \.text)
  }
}
