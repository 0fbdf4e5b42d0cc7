// SPDX-License-Identifier: Apache-2.0

extension JSONNode: CustomStringConvertible {
  /// The value on one line, without white space.
  package var description: String {
    var text = ""
    write(to: &text, indent: nil)
    return text
  }

  /// The value as text for files: one element on each line, and whole numbers without a fraction.
  package var lines: String {
    var text = ""
    write(to: &text, indent: "")
    return text + "\n"
  }

  private func write(to text: inout String, indent: String?) {
    switch content {
    case .null: text += "null"
    case .bool(let value): text += value ? "true" : "false"
    case .number(let digits):
      text += indent != nil && digits.hasSuffix(".0") ? String(digits.dropLast(2)) : digits
    case .string(let string): Self.write(string, to: &text)
    case .array(let values):
      Self.write(values, "[", "]", to: &text, indent) { value, text, indent in
        value.write(to: &text, indent: indent)
      }
    case .object(let members):
      Self.write(members, "{", "}", to: &text, indent) { member, text, indent in
        Self.write(member.name, to: &text)
        text += indent == nil ? ":" : " : "
        member.value.write(to: &text, indent: indent)
      }
    }
  }

  private static func write<Element>(
    _ elements: [Element], _ start: String, _ end: String, to text: inout String,
    _ indent: String?, _ body: (Element, inout String, String?) -> Void
  ) {
    let inner = indent.map { $0 + "  " }
    text += start
    if indent != nil, elements.isEmpty { text += "\n" }
    for (index, element) in elements.enumerated() {
      if index > 0 { text += "," }
      if let inner { text += "\n" + inner }
      body(element, &text, inner)
    }
    if let indent { text += "\n" + indent }
    text += end
  }

  /// Escapes all invisible characters, so that JSON cannot control a terminal.
  private static func write(_ string: String, to text: inout String) {
    text += "\""
    defer { text += "\"" }
    // Most strings need no escapes.
    guard !string.utf8.allSatisfy({ 0x20...0x7E ~= $0 && $0 != 0x22 && $0 != 0x5C }) else {
      return text += string
    }
    for scalar in string.unicodeScalars {
      switch scalar {
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\t": text += "\\t"
      case _ where scalar.isInvisible:
        for unit in String(scalar).utf16 {
          let digits = String(unit, radix: 16)
          text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
      default: text.unicodeScalars.append(scalar)
      }
    }
  }
}

extension Unicode.Scalar {
  /// Whether the character controls the output and is not shown itself.
  package var isInvisible: Bool {
    if isASCII { return value < 0x20 || value == 0x7F }
    switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse,
      .unassigned:
      return true
    default: return false
    }
  }
}
