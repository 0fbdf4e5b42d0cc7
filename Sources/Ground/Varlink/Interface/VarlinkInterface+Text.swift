// SPDX-License-Identifier: Apache-2.0

extension VarlinkInterface: CustomStringConvertible {
  /// The description in the varlink language, which `init(_:)` parses.
  package var description: String {
    var text = Self.comment(comment) + "interface \(name)\n"
    for member in members {
      text += "\n" + Self.comment(member.comment)
      switch member.kind {
      case .type(let type): text += "type \(member.name) \(Self.text(type))\n"
      case .method(let input, let output):
        text += "method \(member.name)\(Self.text(input)) -> \(Self.text(output))\n"
      case .error(let fields): text += "error \(member.name) \(Self.text(fields))\n"
      }
    }
    return text
  }

  private static func comment(_ lines: [String], _ indent: String = "") -> String {
    lines.map { "\(indent)#\($0.isEmpty ? "" : " ")\($0)\n" }.joined()
  }

  /// Formats the fields in one line, or one per line when a field has a comment or the line is
  /// long.
  private static func text(_ fields: [Field], _ indent: String = "") -> String {
    let line =
      "(" + fields.map { "\($0.name): \(text($0.type, indent))" }.joined(separator: ", ") + ")"
    guard line.utf8.count > 80 || fields.contains(where: { !$0.comment.isEmpty }) else {
      return line
    }
    let inner = indent + "  "
    return "(\n"
      + fields.map { comment($0.comment, inner) + "\(inner)\($0.name): \(text($0.type, inner))" }
      .joined(separator: ",\n") + "\n\(indent))"
  }

  private static func text(_ type: ValueType, _ indent: String = "") -> String {
    switch type {
    case .bool: "bool"
    case .int: "int"
    case .float: "float"
    case .string: "string"
    case .object: "object"
    case .named(let name): name
    case .structure(let fields): text(fields, indent)
    case .enumeration(let names): "(\(names.joined(separator: ", ")))"
    case .array(let inner): "[]" + text(inner, indent)
    case .dictionary(let inner): "[string]" + text(inner, indent)
    case .optional(let inner): "?" + text(inner, indent)
    }
  }
}
