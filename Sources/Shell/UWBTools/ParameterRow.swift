// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
package import Formats
package import UCI
package import UCIReference
import UWB

package struct ParameterRow {
  package enum Kind: String, ExpressibleByArgument, CaseIterable { case session, device, all }

  package var kind: Kind
  package var name: String
  package var id: UInt8
  package var subID: UInt8?
  package var form: ParameterForm
  var defaultValue: UInt64?
  package var summary: String
  var scope: ParameterScope
  var isMandatory: Bool
  var isReadOnly: Bool
  package var isSecret: Bool

  package init<ID>(
    _ row: Parameter<ID>, _ kind: Kind, id: UInt8, subID: UInt8? = nil,
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

  package static func all(_ dialect: Dialect) -> [ParameterRow] {
    AppConfigParameter.all.filter { $0.applies(to: dialect) }.map {
      ParameterRow($0, .session, id: $0.id.rawValue, form: ParameterForm($0))
    }
      + DeviceConfigParameter.all.filter { $0.applies(to: dialect) }.map {
        ParameterRow(
          $0, .device, id: $0.id.number, subID: $0.id.subID, form: $0.id.form(in: dialect))
      }
  }

  /// Returns the parameters of a kind with a name that contains one of the words; all parameters if
  /// there are no words.
  package static func all(_ dialect: Dialect, _ kind: Kind, _ words: [String]) -> [ParameterRow] {
    all(dialect).filter { row in
      (kind == .all || row.kind == kind) && (words.isEmpty || words.contains(where: row.isCalled))
    }
  }

  /// Reports whether the name contains a word, ignoring case.
  private func isCalled(_ word: String) -> Bool {
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

  package var text: String {
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

  package static let json = JSONTable<ParameterRow>("config list", each: "known parameter") {
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
