// SPDX-License-Identifier: Apache-2.0

/// A value of JSON (RFC 8259). The members of an object keep the order of the text.
package enum JSONValue: Sendable, Hashable {
  case null
  case bool(Bool)
  case number(Double)
  /// A whole number of at least 2⁵³, which a double may round, such as a stamp of 64 bits.
  case whole(UInt64)
  case string(String)
  case array([JSONValue])
  case object([JSONMember])

  /// Parses one value, which may be surrounded by white space.
  package init(_ text: [UInt8]) throws(JSONFault) {
    var parser = JSONParser(bytes: text)
    self = try parser.whole()
  }

  /// Returns the value of a member of an object.
  package subscript(name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.firstIndex { $0.has(name) }.map { members[$0].value }
  }

  /// The kind of value, as an error names it.
  var kind: String {
    switch self {
    case .null: "null"
    case .bool: "true or false"
    case .number, .whole: "a number"
    case .string: "a string"
    case .array: "a list"
    case .object: "an object"
    }
  }
}

/// A name and its value in an object.
package struct JSONMember: Sendable, Hashable {
  package let name: String
  package let value: JSONValue

  package init(_ name: String, _ value: JSONValue) {
    self.name = name
    self.value = value
  }

  /// Returns whether the member has a name. Most other names have another length.
  func has(_ name: String) -> Bool {
    self.name.utf8.count == name.utf8.count && self.name == name
  }
}

/// The first place at which a text is not JSON.
package struct JSONFault: Error, Sendable, Hashable, CustomStringConvertible {
  package let line: Int
  package let column: Int
  package let reason: String

  package var description: String { "line \(line), column \(column): \(reason)" }
}

extension JSONValue: CustomStringConvertible {
  /// The value on one line.
  package var description: String {
    switch self {
    case .null: "null"
    case .bool(let value): value ? "true" : "false"
    case .number(let value): Self.text(value)
    case .whole(let value): "\(value)"
    case .string(let text): Self.quoted(text)
    case .array(let values): "[\(values.map(\.description).joined(separator: ", "))]"
    case .object(let members):
      "{\(members.map { "\(Self.quoted($0.name)): \($0.value)" }.joined(separator: ", "))}"
    }
  }

  /// Returns the value on lines of at most 100 columns, where it can be divided.
  package func text(indentation: Int = 0) -> String {
    let line = description
    let inner = String(repeating: " ", count: indentation + 2)
    let outer = String(repeating: " ", count: indentation)
    if indentation + line.count <= 88 && indentation > 0 { return line }
    switch self {
    case .array(let values) where !values.isEmpty:
      let lines = values.map { inner + $0.text(indentation: indentation + 2) }
      return "[\n\(lines.joined(separator: ",\n"))\n\(outer)]"
    case .object(let members) where !members.isEmpty:
      let lines = members.map {
        "\(inner)\(Self.quoted($0.name)): \($0.value.text(indentation: indentation + 2))"
      }
      return "{\n\(lines.joined(separator: ",\n"))\n\(outer)}"
    default: return line
    }
  }

  /// Formats a number so that reading it returns it. JSON cannot represent NaN and infinity.
  private static func text(_ value: Double) -> String {
    guard value.isFinite else { return "null" }
    return value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
  }

  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\t": result += "\\t"
      case _ where scalar.value < 0x20 || scalar.value == 0x7F:
        let digits = String(scalar.value, radix: 16)
        result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
