// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import UCI
import UCIReference
import UWB

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
  @Option(help: "Output format: text, or json (one object a line).") var format = OutputFormat.text

  func validate() throws {
    guard Dialect.Generation(rawValue: fira) != nil else {
      throw ValidationError("--fira takes 1, 2 or 3.")
    }
  }

  func run() throws {
    let rows = rows
    guard !rows.isEmpty else {
      let nearest = nearestNames(
        to: words.joined(separator: " "), in: ParameterRow.all(.assumed).map(\.name))
      throw ValidationError(
        "No parameter has such a name."
          + (nearest.isEmpty ? "" : " Nearest: \(nearest.joined(separator: ", "))."))
    }
    for row in rows { standardOutput.write(format == .json ? row.json + "\n" : row.text) }
  }

  /// The selected parameters.
  var rows: [ParameterRow] {
    let dialect = Dialect(
      generation: Dialect.Generation(rawValue: fira) ?? .fira2,
      vendor: chip.profile?.vendor ?? .unknown)
    return ParameterRow.all(dialect).filter { row in
      (kind == .all || row.kind == kind) && (words.isEmpty || words.contains(where: row.isCalled))
    }
  }
}

/// A row of the list.
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

  /// All parameters of a dialect.
  static func all(_ dialect: Dialect) -> [ParameterRow] {
    AppConfigParameter.all.filter { $0.applies(to: dialect) }.map {
      ParameterRow($0, .session, id: $0.id.rawValue, form: ParameterForm($0))
    }
      + DeviceConfigParameter.all.filter { $0.applies(to: dialect) }.map {
        ParameterRow(
          $0, .device, id: $0.id.number, subID: $0.id.subID, form: $0.id.form(in: dialect))
      }
  }

  /// Whether the name contains a word, ignoring case.
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
    "0x"
      + ([id] + (subID.map { [$0] } ?? [])).map { hexDigits($0).uppercased() }
      .joined(separator: ":0x")
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

  var json: String {
    var line = JSONLine()
    line.add("name", name)
    line.add("kind", kind.rawValue)
    line.add("id", id)
    if let subID { line.add("sub_id", subID) }
    line.add("summary", summary)
    line.add("lengths", form.lengths)
    line.add("unit", form.unit)
    line.add("min", form.range?.lowerBound)
    line.add("max", form.range?.upperBound)
    line.add("default", defaultText)
    line.add(
      "values",
      form.values.sorted { $0.key < $1.key }.map { value, words in
        var entry = JSONLine()
        entry.add("value", value)
        entry.add("meaning", words)
        return entry
      })
    line.add("accepted", form.accepted)
    line.add("scope", scope.rawValue)
    line.add("mandatory", isMandatory)
    line.add("read_only", isReadOnly)
    line.add("secret", isSecret)
    return line.text
  }
}
