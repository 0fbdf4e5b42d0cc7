// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Formats
import JSON
import UCI
package import UCIReference
import UWB

/// Formats decoded frames as JSON or as text.
package struct FrameFormat {
  package var showSecrets = false

  package init(showSecrets: Bool = false) { self.showSecrets = showSecrets }

  private static let redacted = "<redacted>"

  // MARK: JSON

  /// Formats a frame as one object on one line.
  ///
  /// - Parameter first: Fields that precede the fields of the frame.
  package func json(_ frame: DecodedFrame, first: [Field] = []) -> String {
    let header = frame.header
    var fields =
      first + [
        Field("mt", .text(header.type.description)),
        Field("gid", .number(header.group.rawValue)),
        Field("oid", .number(header.oid)),
        Field("name", .text(frame.name)),
        Field("pbf", .bool(header.moreFollows)),
        Field("length", .number(header.payloadLength)),
      ]
    if let length = frame.messageLength { fields.append(Field("message_length", .number(length))) }
    return "\(object(fields + frame.fields))"
  }

  /// Formats fields as one object on one line.
  func json(_ fields: [Field]) -> String { "\(object(fields))" }

  /// Formats the object for a line that is not a frame.
  package func json(error: String, at origin: FrameOrigin) -> String {
    "\(object([Field("error", .text(error)), Field(origin.name, .number(origin.number))]))"
  }

  private func node(_ value: FieldValue) -> JSONNode {
    switch value {
    case .null: JSONNode(.null)
    case .bool(let value): value.node
    case .integer(let value): value.node
    case .unsigned(let value): value.node
    case .decimal(let value): JSONNode(.number(value.isFinite ? value.description : "null"))
    case .text(let text): text.node
    case .code(_, let name, _): name.node
    case .bytes(let bytes): hexDigits(bytes).node
    case .secret(let bytes): (showSecrets ? hexDigits(bytes) : Self.redacted).node
    case .list(let values): JSONNode(.array(values.map { node($0) }))
    case .object(let fields): object(fields)
    }
  }

  /// Returns an object, in which a code has two members: its name, and its number as `…_code`.
  private func object(_ fields: [Field]) -> JSONNode {
    var members: [(name: String, value: JSONNode)] = []
    for field in fields {
      members.append((field.name, node(field.value)))
      guard case .code(let raw, _, _) = field.value else { continue }
      members.append((field.name + "_code", raw.node))
    }
    return JSONNode(.object(members))
  }

  // MARK: text

  /// Formats the name and the fields on one line.
  package func line(_ frame: DecodedFrame) -> String {
    let more = frame.header.moreFollows ? ["more segments follow"] : []
    let fields = frame.fields.map { "\($0.name) \(text($0.value, isShort: true))" }
    return frame.name + "  " + (fields + more).joined(separator: ", ")
  }

  /// Formats a line for the header, and indented lines for the fields.
  package func text(_ frame: DecodedFrame) -> String {
    let header = frame.header
    var first = "\(header.type.description) \(frame.name)"
    if header.type.isControl {
      first += "  gid \(hexNumber(header.group.rawValue)) oid \(hexNumber(header.oid))"
    }
    first += "  \(header.payloadLength) byte\(header.payloadLength == 1 ? "" : "s")"
    if header.moreFollows { first += "  more segments follow" }
    if let length = frame.messageLength { first += "  last segment of \(counted(length, "byte"))" }
    return ([first] + lines(frame.fields, indent: "  ")).joined(separator: "\n")
  }

  private func lines(_ fields: [Field], indent: String) -> [String] {
    fields.flatMap { field -> [String] in
      switch field.value {
      case .object(let inner):
        return ["\(indent)\(field.name):"] + lines(inner, indent: indent + "  ")
      case .list(let values) where values.contains(where: \.isObject):
        return ["\(indent)\(field.name):"]
          + values.flatMap { lines(item: $0, indent: indent + "  ") }
      default: return ["\(indent)\(field.name): \(text(field.value))"]
      }
    }
  }

  private func lines(item: FieldValue, indent: String) -> [String] {
    guard case .object(let fields) = item else { return ["\(indent)- \(text(item))"] }
    if let line = parameter(fields) { return ["\(indent)\(line)"] }
    var lines = lines(fields, indent: indent + "  ")
    if !lines.isEmpty { lines[0] = "\(indent)- \(lines[0].dropFirst(indent.count + 2))" }
    return lines
  }

  /// Formats a parameter on one line, because parameters are many and short: `SLOT_DURATION = 2400
  /// RSTU`.
  private func parameter(_ fields: [Field]) -> String? {
    let values = Dictionary(fields.map { ($0.name, $0.value) }, uniquingKeysWith: { a, _ in a })
    guard let name = values["name"], let value = values["value"] ?? values["status"] else {
      return nil
    }
    var line = "\(text(name)) = \(text(value))"
    if let unit = values["unit"] { line += " \(text(unit))" }
    if let meaning = values["meaning"] { line += " (\(text(meaning)))" }
    return line
  }

  /// Formats a value.
  ///
  /// - Parameter isShort: Whether to omit explanations, and to put lists of objects in brackets.
  private func text(_ value: FieldValue, isShort: Bool = false) -> String {
    switch value {
    case .null: return "none"
    case .bool(let value): return value ? "yes" : "no"
    case .integer(let value): return String(value)
    case .unsigned(let value): return String(value)
    case .decimal(let value): return value.description
    case .text(let text): return printable(text)
    case .code(let raw, let name, let explanation):
      return isShort
        ? name : "\(name) (\(hexNumber(raw)))" + (explanation.map { ": \($0)" } ?? "")
    case .bytes(let bytes): return bytes.isEmpty ? "none" : hexDigits(bytes, separator: " ")
    case .secret(let bytes): return showSecrets ? hexDigits(bytes, separator: " ") : Self.redacted
    case .list(let values):
      let texts = values.map { text($0, isShort: isShort) }
      if isShort, values.contains(where: \.isObject) {
        return "[\(texts.joined(separator: "; "))]"
      }
      return texts.isEmpty && !isShort ? "none" : texts.joined(separator: ", ")
    case .object(let fields):
      if isShort, let line = parameter(fields) { return line }
      return fields.map { "\($0.name) \(text($0.value, isShort: isShort))" }
        .joined(separator: ", ")
    }
  }
}

/// The position of a frame in the input, such as `line 3`.
package struct FrameOrigin: CustomStringConvertible {
  package let name: String
  package let number: Int

  package init(
    name: String, number: Int
  ) {
    self.name = name
    self.number = number
  }
  package var description: String { "\(name) \(number)" }
}

extension FieldValue {
  fileprivate var isObject: Bool {
    if case .object = self { true } else { false }
  }
}
