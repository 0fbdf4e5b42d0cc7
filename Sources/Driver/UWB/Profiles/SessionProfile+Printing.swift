// SPDX-License-Identifier: Apache-2.0
internal import UCI
internal import UCIReference

extension SessionProfile {
  /// Returns the profile as text, with a comment on the meaning, the values and the default of each
  /// parameter. The text is a valid profile.
  ///
  /// - Parameters:
  ///   - complete: whether missing parameters are added as comments with their defaults.
  ///   - includingSecrets: whether keys are printed as they are rather than as `(hidden)`.
  ///   - remarks: sentences for the beginning of the file.
  public func text(
    complete: Bool = false, includingSecrets: Bool = false, remarks: [String] = []
  ) -> String {
    var lines = remarks.map { "// \($0)" }
    lines += [
      "{", "  // The same at both ends: it enters the key derivation.",
      "  \"session_id\": \(sessionID),",
      "  // " + SessionType.names.map(\.name).joined(separator: ", ") + ", or a number.",
      "  \"session_type\": \(typeText),", "  \"parameters\": {",
    ]
    for tlv in parameters { lines += entry(tlv, includingSecrets) }
    if complete {
      lines.append("")
      lines.append("    // Not set: take the two slashes away to set them.")
      for parameter in Self.common
      where !parameters.contains(where: { $0.id == parameter.id.rawValue }) {
        lines += Self.unset(parameter)
      }
    }
    lines.append("  },")
    if !rounds.isEmpty {
      lines += [
        "  // The ranging rounds in which this end takes part: an index to respond or to receive in, an",
        "  // object with the addresses of the responders to begin one.", "  \"rounds\": [",
      ]
      lines += rounds.map { "    \($0.text)," }
      lines.append("  ],")
    }
    return (lines + ["}", ""]).joined(separator: "\n")
  }

  private var typeText: String {
    SessionType.names.first { $0.type == type }.map { "\"\($0.name)\"" } ?? "\(type.rawValue)"
  }

  private func entry(_ tlv: TLV, _ includingSecrets: Bool) -> [String] {
    let id = AppConfigID(rawValue: tlv.id)
    let value = id.isSecret && !includingSecrets ? "(hidden)" : id.form().text(tlv.value)
    // Plain numbers need no quotes.
    let isNumber = UInt64(value) != nil
    return [
      Self.comment(id, indent: "    // "),
      "    \"\(id.name)\": " + (isNumber ? value : "\"\(value)\"") + ",",
    ]
  }

  private static func unset(_ parameter: AppConfigParameter) -> [String] {
    let value =
      parameter.defaultValue.flatMap { number in
        parameter.lengths.first.map { length in
          parameter.id.form().text(
            (0..<length).map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) })
        }
      } ?? ""
    return [
      comment(parameter.id, indent: "    // "), "    // \"\(parameter.name)\": \"\(value)\",",
    ]
  }

  /// Returns a comment: the meaning, the values, the ends that have to agree, and the default.
  private static func comment(_ id: AppConfigID, indent: String) -> String {
    guard let row = id.parameter else { return indent + "Nothing is known of this one." }
    var text = row.summary.isEmpty ? "" : row.summary + " "
    text += "Takes " + id.form().accepted + "."
    if row.scope == .equalOnBothPeers { text += " Equal on both ends." }
    if let value = row.defaultValue {
      text += " Default: " + (row.values[value].map { "\($0)" } ?? "\(value)") + "."
    }
    return indent + text
  }

  /// FiRa's parameters, which all chips have. Parameters of vendors are accepted, but not listed.
  private static let common: [AppConfigParameter] = {
    var seen: Set<AppConfigID> = []
    let fitting = AppConfigParameter.all.filter {
      $0.vendors.isEmpty && $0.applies(to: .assumed) && !$0.isReadOnly && $0.id.rawValue < 0xA0
    }
    return fitting.filter { seen.insert($0.id).inserted }
  }()
}

extension SessionConfiguration.DownlinkAnchor.Round {
  /// The round as it is written in a profile.
  fileprivate var text: String {
    guard case .initiator(let responders, let slots) = part else { return "\(index)" }
    let addresses = responders.map { "\"\($0)\"" }.joined(separator: ", ")
    let places = slots.map { ", \"slots\": [" + $0.map { "\($0)" }.joined(separator: ", ") + "]" }
    return "{\"index\": \(index), \"responders\": [\(addresses)]\(places ?? "")}"
  }
}
