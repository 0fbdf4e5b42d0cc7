// SPDX-License-Identifier: Apache-2.0

import UWBLab
import UCI
import UCIReference

/// Formats decoded frames as JSON or as text.
struct FrameFormat {
  /// Whether to print keys.
  var showSecrets = false

  private static let redacted = "<redacted>"

  // MARK: JSON

  /// One object on one line.
  ///
  /// - Parameter first: fields that precede those of the frame.
  func json(_ frame: DecodedFrame, first: [Field] = []) -> String {
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
    return json(.object(fields + frame.fields))
  }

  /// The object for a line that is not a frame.
  func json(error: String, at origin: FrameOrigin) -> String {
    json(.object([Field("error", .text(error)), Field(origin.name, .number(origin.number))]))
  }

  func json(_ value: FieldValue) -> String {
    switch value {
    case .null: "null"
    case .bool(let value): value ? "true" : "false"
    case .integer(let value): String(value)
    case .unsigned(let value): String(value)
    case .decimal(let value): value.isFinite ? value.description : "null"
    case .text(let text): quoted(text)
    case .code(_, let name, _): quoted(name)
    case .bytes(let bytes): quoted(hex(bytes, separator: ""))
    case .secret(let bytes): quoted(showSecrets ? hex(bytes, separator: "") : Self.redacted)
    case .list(let values): "[" + values.map(json).joined(separator: ",") + "]"
    case .object(let fields): "{" + fields.flatMap(members).joined(separator: ",") + "}"
    }
  }

  /// A code has two members: its name, and its number as `…_code`.
  private func members(_ field: Field) -> [String] {
    let member = "\(quoted(field.name)):\(json(field.value))"
    guard case .code(let raw, _, _) = field.value else { return [member] }
    return [member, "\(quoted(field.name + "_code")):\(raw)"]
  }

  // MARK: text

  /// The name and the fields on one line.
  func line(_ frame: DecodedFrame) -> String {
    let more = frame.header.moreFollows ? ["more segments follow"] : []
    let fields = frame.fields.map { "\($0.name) \(short($0.value))" }
    return frame.name + "  " + (fields + more).joined(separator: ", ")
  }

  /// Like `text`, without explanations; lists of objects in brackets.
  private func short(_ value: FieldValue) -> String {
    switch value {
    case .code(_, let name, _): return name
    case .list(let values) where values.contains(where: \.isObject):
      return "[" + values.map(short).joined(separator: "; ") + "]"
    case .list(let values): return values.map(short).joined(separator: ", ")
    case .object(let fields):
      if let line = parameter(fields) { return line }
      return fields.map { "\($0.name) \(short($0.value))" }.joined(separator: ", ")
    default: return text(value)
    }
  }

  /// A line for the header and indented lines for the fields.
  func text(_ frame: DecodedFrame) -> String {
    let header = frame.header
    var first = "\(header.type.description) \(frame.name)"
    if header.type.isControl {
      first += "  gid \(hexNumber(header.group.rawValue)) oid \(hexNumber(header.oid))"
    }
    first += "  \(header.payloadLength) byte\(header.payloadLength == 1 ? "" : "s")"
    if header.moreFollows { first += "  more segments follow" }
    if let length = frame.messageLength { first += "  last segment of \(length) bytes" }
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

  /// Parameters are many and short, so each is one line: `SLOT_DURATION = 2400 RSTU`.
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

  private func text(_ value: FieldValue) -> String {
    switch value {
    case .null: return "none"
    case .bool(let value): return value ? "yes" : "no"
    case .integer(let value): return String(value)
    case .unsigned(let value): return String(value)
    case .decimal(let value): return value.description
    case .text(let text): return printable(text)
    case .code(let raw, let name, let explanation):
      return "\(name) (\(hexNumber(raw)))" + (explanation.map { ": \($0)" } ?? "")
    case .bytes(let bytes): return bytes.isEmpty ? "none" : hex(bytes, separator: " ")
    case .secret(let bytes): return showSecrets ? hex(bytes, separator: " ") : Self.redacted
    case .list(let values):
      return values.isEmpty ? "none" : values.map(text).joined(separator: ", ")
    case .object(let fields):
      return fields.map { "\($0.name) \(text($0.value))" }.joined(separator: ", ")
    }
  }

  // MARK: digits

  private func hex(_ bytes: [UInt8], separator: String) -> String {
    bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
      .joined(separator: separator)
  }

  private func hexNumber(_ value: UInt8) -> String {
    "0x" + (value < 16 ? "0" : "") + String(value, radix: 16, uppercase: true)
  }
}

/// Where a frame is in the input.
enum FrameOrigin: CustomStringConvertible {
  case line(Int)
  case argument(Int)
  case packet(Int)

  var name: String {
    switch self {
    case .line: "line"
    case .argument: "argument"
    case .packet: "packet"
    }
  }

  var number: Int {
    switch self {
    case .line(let number), .argument(let number), .packet(let number): number
    }
  }

  var description: String { "\(name) \(number)" }
}

extension FieldValue {
  fileprivate var isObject: Bool {
    if case .object = self { true } else { false }
  }
}
