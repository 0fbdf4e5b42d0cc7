// SPDX-License-Identifier: Apache-2.0

/// A JSON value. Numbers that are whole and fit into 64 bits are integers.
package enum JSON: Sendable, Hashable {
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  case string(String)
  case array([JSON])
  case object([String: JSON])
}

extension JSON {
  /// The greatest nesting depth of arrays and objects in a text.
  package static let deepest = 32

  /// Parses JSON (RFC 8259) from an untrusted sender; see `JSONNode`.
  ///
  /// - Throws: `JSONError`.
  package init(_ bytes: [UInt8]) throws(JSONError) {
    self.init(try JSONNode(bytes, .strict))
  }

  /// Drops the places and the order of members. A number of the lenient mode that is not a number
  /// becomes a string.
  package init(_ node: JSONNode) {
    switch node.content {
    case .null: self = .null
    case .bool(let value): self = .bool(value)
    case .number(let text):
      self =
        Int64(text).map(JSON.integer) ?? Double(text).map(JSON.number) ?? .string(text)
    case .string(let text): self = .string(text)
    case .array(let values): self = .array(values.map { JSON($0) })
    case .object(let members):
      self = .object(Dictionary(members.map { ($0.name, JSON($0.value)) }) { $1 })
    }
  }

  package var string: String? { if case .string(let text) = self { text } else { nil } }
  package var integer: Int64? { if case .integer(let number) = self { number } else { nil } }
  package var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
  package var array: [JSON]? { if case .array(let values) = self { values } else { nil } }
  package var object: [String: JSON]? {
    if case .object(let members) = self { members } else { nil }
  }
}

// MARK: writing

extension JSON: CustomStringConvertible {
  /// The value on one line, without white space. Members of objects are sorted by name. NaN and
  /// infinity, which JSON cannot represent, become null.
  package var description: String {
    var text = ""
    write(to: &text, indent: nil)
    return text
  }

  /// The value for files: an element a line, whole numbers without a fraction.
  package var lines: String {
    var text = ""
    write(to: &text, indent: "")
    return text + "\n"
  }

  private func write(to text: inout String, indent: String?) {
    switch self {
    case .null: text += "null"
    case .bool(let value): text += value ? "true" : "false"
    case .integer(let number): text += String(number)
    case .number(let number):
      let digits = number.isFinite ? "\(number)" : "null"
      text += indent != nil && digits.hasSuffix(".0") ? String(digits.dropLast(2)) : digits
    case .string(let string): text += JSON.quoted(string)
    case .array(let values):
      JSON.write(values, "[", "]", to: &text, indent) { value, text, indent in
        value.write(to: &text, indent: indent)
      }
    case .object(let members):
      let sorted = members.sorted { $0.key < $1.key }
      JSON.write(sorted, "{", "}", to: &text, indent) { member, text, indent in
        text += JSON.quoted(member.key) + (indent == nil ? ":" : " : ")
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

  /// Returns a string in quotation marks. Escapes all characters that are not shown, so that JSON
  /// cannot control a terminal.
  package static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where scalar.isInvisible:
        for unit in String(scalar).utf16 {
          let digits = String(unit, radix: 16)
          result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}

extension Unicode.Scalar {
  /// Whether the character controls the output instead of being shown.
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
