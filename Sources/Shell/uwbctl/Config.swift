// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Formats
import UCI
import UCIReference
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
        uwbctl config get --device /dev/ttyACM0 --session 1 SLOT_DURATION
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

  /// The keys of `config get`; the text of a hidden value is nil.
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
      let outcomes = wanted.map { parameter in
        let refusal = refused.first { $0.id == parameter.id && $0.subID == parameter.subID }
        let status = refusal?.status ?? (refused.isEmpty ? response.status : .ok)
        return (name: chip.name(of: parameter), status)
      }
      access.format.print(outcomes, Self.json) { name, status in
        "\(name): " + (status == .ok ? "set" : "rejected, \(status)") + "\n"
      }
      guard response.status != .ok else { return }
      throw DriverError.parametersRefused(response.status, refused)
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
  @OptionGroup(title: "Device") var options: DeviceOptions
  @OptionGroup(title: "Capture") var capture: CaptureOptions
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

  /// Opens the chip, passes its parameters to `body`, and closes the chip.
  func withParameters(_ body: (ChipParameters) async throws -> Void) async throws {
    let session = session
    try await options.withDevice(
      capture, resetPolicy: reset ? .reset : .keepState,
      resetAdvice: session.map { _ in
        "Its sessions are lost: leave out --session, and give --reset."
      }
    ) { chip, _ in
      do {
        try await body(ChipParameters(chip: chip, session: session))
      } catch let error as ParameterTextError {
        throw ValidationError(Self.words(error, session: session))
      }
    }
  }

  /// Returns the message for an error, with a specific one for names of session parameters.
  static func words(_ error: ParameterTextError, session: UInt32?) -> String {
    if case .unknownName(let name, _) = error, session == nil,
      let id = try? AppConfigID(named: name)
    {
      return "\(id.name) is a session parameter, and sessions end with the program that created "
        + "them. Use it in a profile for range, or name a session on the chip with --session."
    }
    return printable("\(error)")
  }
}

/// Reads and writes parameters of a chip, or of one of its sessions.
struct ChipParameters {
  let chip: UWBDevice
  /// The handle or ID of the session; nil for parameters of the chip.
  let session: UInt32?

  private var dialect: Dialect { chip.dialect }

  // MARK: names

  /// Returns the parameter with this name.
  ///
  /// - Throws: `ParameterTextError`.
  func id(_ name: String) throws -> TLV {
    guard session == nil else { return TLV(try AppConfigID(named: name).rawValue, []) }
    return TLV(try DeviceConfigID(named: name, in: dialect), [])
  }

  /// Parses a parameter and its value.
  ///
  /// - Throws: `ParameterTextError`.
  func parameter(_ text: String) throws -> TLV {
    session == nil
      ? try TLV(deviceConfig: text, in: dialect)
      : try TLV(appConfig: text, for: dialect.generation)
  }

  var all: [TLV] {
    session == nil
      ? DeviceConfigParameter.all.filter { $0.applies(to: dialect) }.map { TLV($0.id, []) }
      : Set(AppConfigParameter.all.filter { $0.applies(to: dialect) }.map(\.id)).map {
        TLV($0.rawValue, [])
      }.sorted { $0.id < $1.id }
  }

  // MARK: the chip

  /// Reads parameters one by one, because chips reject a whole command with an unknown parameter.
  ///
  /// - Returns: The values, and the statuses of the parameters that the chip did not return.
  func read(_ wanted: [TLV]) async throws -> (found: [TLV], refused: [(TLV, Status)]) {
    var found: [TLV] = []
    var refused: [(TLV, Status)] = []
    for parameter in wanted {
      let status: Status
      let answer: [TLV]?
      if let session {
        let response = try await chip.send(
          GetAppConfig(sessionToken: session, ids: [parameter.id]))
        (status, answer) = (response.status, response.parameters)
        // All other parameters would fail as well.
        if status == .sessionNotExist {
          throw DriverError.refused(command: "SESSION_GET_APP_CONFIG_CMD", status)
        }
      } else {
        let response = try await chip.send(GetConfig([DeviceConfigID(parameter)]))
        (status, answer) = (response.status, response.parameters)
      }
      let value = answer?.first { $0.id == parameter.id && $0.subID == parameter.subID }
      if status == .ok, let value {
        found.append(value)
      } else {
        refused.append((parameter, status))
      }
    }
    return (found, refused)
  }

  /// Sets parameters; the chip applies all parameters that it does not reject.
  func write(_ parameters: [TLV]) async throws -> ConfigurationResponse {
    if let session {
      return try await chip.send(SetAppConfig(sessionToken: session, parameters: parameters))
    }
    return try await chip.send(SetConfig(parameters))
  }

  // MARK: text

  private func known(
    _ parameter: TLV
  ) -> (name: String, form: ParameterForm, isSecret: Bool) {
    guard session == nil else {
      let id = AppConfigID(rawValue: parameter.id)
      return (id.name(in: dialect), id.form(), id.isSecret)
    }
    let id = DeviceConfigID(parameter)
    let isSecret = id.parameter(in: dialect)?.isSecret ?? false
    return (id.name(in: dialect), id.form(in: dialect), isSecret)
  }

  func name(of parameter: TLV) -> String { known(parameter).name }

  func isSecret(_ parameter: TLV) -> Bool { known(parameter).isSecret }

  /// Returns the value in the form that `set` accepts.
  func text(of parameter: TLV) -> String { known(parameter).form.text(parameter.value) }
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

  enum Kind: String, ExpressibleByArgument, CaseIterable { case session, device, all }

  @Argument(help: "List only parameters whose name contains one of these words.") var words:
    [String] = []
  @Option(help: "Parameters of sessions, of the chip, or both.") var kind = Kind.all
  @Option(help: "The family of chips.") var chip = ChipOptions.Family.auto
  @Option(help: "The FiRa version: 1, 2 or 3.") var fira: UInt8 = 2
  @Option(help: "Output format; json is one object a line.") var format = OutputFormat.text

  func validate() throws {
    try require(Dialect.Generation(rawValue: fira) != nil, "--fira takes 1, 2 or 3.")
  }

  func run() throws {
    let rows = rows
    guard !rows.isEmpty else {
      throw ValidationError(
        "No parameter has such a name."
          + nearest(to: words.joined(separator: " "), in: ParameterRow.all(.assumed).map(\.name)))
    }
    format.print(rows, ParameterRow.json, text: \.text)
  }

  var rows: [ParameterRow] {
    let dialect = Dialect(
      generation: Dialect.Generation(rawValue: fira) ?? .fira2,
      vendor: chip.profile?.vendor ?? .unknown)
    return ParameterRow.all(dialect).filter { row in
      (kind == .all || row.kind == kind) && (words.isEmpty || words.contains(where: row.isCalled))
    }
  }
}

struct ParameterRow {
  var kind: ConfigList.Kind
  var name: String
  var id: UInt8
  var subID: UInt8?
  var form: ParameterForm
  var defaultValue: UInt64?
  var summary: String
  var scope: ParameterScope
  var isMandatory: Bool
  var isReadOnly: Bool
  var isSecret: Bool

  init<ID>(
    _ row: Parameter<ID>, _ kind: ConfigList.Kind, id: UInt8, subID: UInt8? = nil,
    form: ParameterForm
  ) {
    self.kind = kind
    name = row.name
    self.id = id
    self.subID = subID
    self.form = form
    defaultValue = row.defaultValue
    summary = row.summary
    scope = row.scope
    isMandatory = row.isMandatory
    isReadOnly = row.isReadOnly
    isSecret = row.isSecret
  }

  static func all(_ dialect: Dialect) -> [ParameterRow] {
    AppConfigParameter.all.filter { $0.applies(to: dialect) }.map {
      ParameterRow($0, .session, id: $0.id.rawValue, form: ParameterForm($0))
    }
      + DeviceConfigParameter.all.filter { $0.applies(to: dialect) }.map {
        ParameterRow(
          $0, .device, id: $0.id.number, subID: $0.id.subID, form: $0.id.form(in: dialect))
      }
  }

  /// Reports whether the name contains a word, ignoring case.
  func isCalled(_ word: String) -> Bool {
    let wanted = word.uppercased().split { !$0.isLetter && !$0.isNumber }.joined(separator: "_")
    return !wanted.isEmpty && name.contains(wanted)
  }

  /// The default in the form that `set` accepts.
  private var defaultText: String? {
    guard let defaultValue else { return nil }
    let length = form.lengths.first { $0 >= 8 || defaultValue >> (8 * UInt64($0)) == 0 } ?? 8
    return form.text(
      (0..<length).map { UInt8(truncatingIfNeeded: defaultValue >> (8 * UInt64($0))) })
  }

  private var number: String {
    hexNumber(id) + (subID.map { ":" + hexNumber($0) } ?? "")
  }

  var text: String {
    var marks: [String] = []
    if kind == .device { marks.append("of the chip") }
    if isMandatory { marks.append("mandatory") }
    if scope == .equalOnBothPeers { marks.append("equal on both peers") }
    if isReadOnly { marks.append("read only") }
    if isSecret { marks.append("secret") }
    var lines = [
      "\(name)  \(number)" + (marks.isEmpty ? "" : "  (\(marks.joined(separator: ", ")))")
    ]
    if !summary.isEmpty { lines.append("  \(summary)") }
    lines.append("  accepts \(form.accepted)" + (defaultText.map { "; default \($0)" } ?? ""))
    return lines.joined(separator: "\n") + "\n"
  }

  static let json = JSONTable<ParameterRow>("config list", each: "known parameter") {
    $0.key("name", "name") { $0.name }
    $0.key("kind", "session or device") { $0.kind.rawValue }
    $0.key("id", "number") { $0.id }
    $0.key("sub_id?", "second byte of the number") { $0.subID }
    $0.key("summary", "description") { $0.summary }
    $0.key("lengths", "possible lengths in bytes") { $0.form.lengths }
    $0.key("unit", "unit of the number") { $0.form.unit }
    $0.key("min", "lowest number") { $0.form.range?.lowerBound }
    $0.key("max", "highest number") { $0.form.range?.upperBound }
    $0.key("default", "value when it is not set") { $0.defaultText }
    $0.list("values", "named values", of: { $0.form.values.sorted { $0.key < $1.key } }) {
      $0.key("value?", "number") { $0.key }
      $0.key("meaning?", "name") { $0.value }
    }
    $0.key("accepted", "accepted values") { $0.form.accepted }
    $0.key("scope", "which devices have to agree on it") { $0.scope.rawValue }
    $0.key("mandatory", "whether sessions need it") { $0.isMandatory }
    $0.key("read_only", "whether it cannot be set") { $0.isReadOnly }
    $0.key("secret", "whether it is a key, which is never shown") { $0.isSecret }
  }
}
