// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Formats
import UCI
import UCIReference
import UWB

enum PacketStyle: String, ExpressibleByArgument, CaseIterable {
  /// One line per packet; a line for the header and for each field; one JSON object per line.
  case line, details, json
}

/// Decodes the packets of a link in order, and formats them.
struct PacketPrinter {
  var style = PacketStyle.line
  var filter: PacketFilter?
  private(set) var decoder: FrameDecoder
  private let format: FrameFormat
  private var start: UInt64?

  /// The packets by direction, and the bytes that did not form packets.
  private(set) var inbound = 0
  private(set) var outbound = 0
  var skipped = 0

  /// Creates a printer.
  ///
  /// - Parameters:
  ///   - vendor: The vendor of vendor messages; nil to use the chip's report.
  ///   - start: The origin of times in nanoseconds of CLOCK_MONOTONIC; nil for the first packet.
  init(
    _ style: PacketStyle, filter: PacketFilter? = nil, vendor: Dialect.Vendor? = nil,
    showSecrets: Bool = false, start: UInt64? = nil
  ) {
    self.start = start
    self.style = style
    self.filter = filter
    decoder = FrameDecoder(vendor: vendor)
    format = FrameFormat(showSecrets: showSecrets)
  }

  /// Returns the lines of a packet with line feeds; empty if the filter hides it.
  mutating func text(_ packet: WirePacket) -> String {
    let beginning = start ?? packet.time
    start = beginning
    let seconds = Double(Int64(truncatingIfNeeded: packet.time &- beginning)) / 1e9
    switch packet.direction {
    case .inbound: inbound += 1
    case .outbound: outbound += 1
    }
    skipped += packet.skippedBefore
    guard let frame = try? decoder.decode(packet.bytes) else { return "" }
    guard filter?.shows(frame.header, name: frame.name) ?? true else { return "" }
    return note(packet, seconds) + written(frame, packet.direction, seconds) + "\n"
  }

  private func written(
    _ frame: DecodedFrame, _ direction: PacketDirection, _ seconds: Double
  ) -> String {
    switch style {
    case .json:
      return format.json(
        frame,
        first: [
          Field("time_s", .decimal((seconds * 1e6).rounded() / 1e6)),
          Field("direction", .text(direction == .inbound ? "from_chip" : "to_chip")),
        ])
    case .line: return prefix(direction, seconds) + format.line(frame)
    case .details: return prefix(direction, seconds) + format.text(frame)
    }
  }

  /// Returns a line about discarded bytes.
  private func note(_ packet: WirePacket, _ seconds: Double) -> String {
    guard packet.skippedBefore > 0, style != .json else { return "" }
    return prefix(packet.direction, seconds)
      + "(\(packet.skippedBefore) bytes that are not UCI)\n"
  }

  private func prefix(_ direction: PacketDirection, _ seconds: Double) -> String {
    "\(fixed(seconds, 6).right(12)) \(direction == .inbound ? "<" : ">") "
  }

  /// The family of the chip, once it is known.
  var profile: DeviceProfile? {
    [DeviceProfile.qorvo, .nxp].first { $0.vendor == decoder.dialect.vendor }
  }

  /// The counts, such as `12 packets from the chip, 3 to it, 0 bytes skipped`.
  var counts: String {
    "\(inbound) packets from the chip, \(outbound) to it, \(skipped) bytes skipped"
  }
}

struct PacketFilter: ParsableArguments {
  static let words =
    "core, session, ranging, data, test, vendor, command, response, notification, or a message's "
    + "name (SESSION_INFO, CORE_*_NTF)"

  @Option(help: "Show only these packets, separated by commas: \(words).") var only: String?
  @Option(help: "Hide these packets.") var not: String?

  func validate() throws {
    for token in Self.tokens(only) + Self.tokens(not) where !token.isKnown {
      throw ValidationError(
        "'\(printable(token.text))' is neither a group nor a message name."
          + nearest(to: token.text, in: Token.groups.map(\.name) + Token.allNames))
    }
  }

  /// Reports whether the filter shows a packet with this name.
  func shows(_ header: PacketHeader, name: String) -> Bool {
    let only = Self.tokens(only)
    guard only.isEmpty || only.contains(where: { $0.fits(header, name) }) else { return false }
    return !Self.tokens(not).contains { $0.fits(header, name) }
  }

  private static func tokens(_ list: String?) -> [Token] {
    (list ?? "").split(separator: ",").map { Token(text: String($0)) }
  }

  /// A group, or a name with `*` as a wildcard.
  struct Token {
    let text: String
    let name: String

    init(text: String) {
      self.text = text
      name = text.uppercased().split { $0 == " " || $0 == "-" }.joined(separator: "_")
    }

    typealias Group = (name: String, contains: @Sendable (PacketHeader) -> Bool)

    static let groups: [Group] = [
      ("core", { $0.type.isControl && $0.group == .core }),
      ("session", { $0.type.isControl && $0.group == .sessionConfig }),
      ("ranging", { $0.type.isControl && $0.group == .sessionControl }),
      ("data", { $0.type == .data }),
      ("test", { $0.type.isControl && $0.group == .test }),
      ("vendor", { $0.type.isControl && $0.group.isVendor }),
      ("command", { $0.type == .command }),
      ("response", { $0.type == .response }),
      ("notification", { $0.type == .notification }),
    ]

    private var group: Group? { Self.groups.first { $0.name == name.lowercased() } }

    var isKnown: Bool { group != nil || Self.allNames.contains { Self.fits(name, $0) } }

    func fits(_ header: PacketHeader, _ message: String) -> Bool {
      group?.contains(header) ?? Self.fits(name, message)
    }

    /// Reports whether a pattern matches the whole name, or the name without its suffix.
    private static func fits(_ pattern: String, _ name: String) -> Bool {
      guard pattern.contains("*") else { return name == pattern || name.hasPrefix(pattern + "_") }
      let parts = pattern.split(separator: "*", omittingEmptySubsequences: false)
      guard let first = parts.first, let last = parts.last, name.hasPrefix(first),
        name.hasSuffix(last), first.count + last.count <= name.count
      else { return false }
      var rest = name.dropFirst(first.count).dropLast(last.count)
      for part in parts.dropFirst().dropLast() where !part.isEmpty {
        guard let range = rest.firstRange(of: part) else { return false }
        rest = rest[range.upperBound...]
      }
      return true
    }

    static let allNames: [String] = {
      let dialects = [Dialect.Vendor.unknown, .qorvo, .nxp].map { Dialect(vendor: $0) }
      let names = [MessageType.data, .command, .response, .notification].flatMap { type in
        (0..<1024).flatMap { number in
          let opcode = Opcode(GroupID(rawValue: UInt8(number / 64)), UInt8(number % 64))
          return dialects.map { MessageCatalog.name(type: type, opcode: opcode, dialect: $0) }
        }
      }
      return Set(names).sorted()
    }()
  }
}

/// Formats decoded frames as JSON or as text.
struct FrameFormat {
  var showSecrets = false

  private static let redacted = "<redacted>"

  // MARK: JSON

  /// Formats a frame as one object on one line.
  ///
  /// - Parameter first: Fields that precede the fields of the frame.
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

  /// Formats the object for a line that is not a frame.
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
    case .bytes(let bytes): quoted(hexDigits(bytes))
    case .secret(let bytes): quoted(showSecrets ? hexDigits(bytes) : Self.redacted)
    case .list(let values): "[" + values.map(json).joined(separator: ",") + "]"
    case .object(let fields): "{" + fields.flatMap(members).joined(separator: ",") + "}"
    }
  }

  /// Returns the members of a field. A code has two: its name, and its number as `…_code`.
  private func members(_ field: Field) -> [String] {
    let member = "\(quoted(field.name)):\(json(field.value))"
    guard case .code(let raw, _, _) = field.value else { return [member] }
    return [member, "\(quoted(field.name + "_code")):\(raw)"]
  }

  // MARK: text

  /// Formats the name and the fields on one line.
  func line(_ frame: DecodedFrame) -> String {
    let more = frame.header.moreFollows ? ["more segments follow"] : []
    let fields = frame.fields.map { "\($0.name) \(text($0.value, isShort: true))" }
    return frame.name + "  " + (fields + more).joined(separator: ", ")
  }

  /// Formats a line for the header, and indented lines for the fields.
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
struct FrameOrigin: CustomStringConvertible {
  let name: String
  let number: Int
  var description: String { "\(name) \(number)" }
}

extension FieldValue {
  fileprivate var isObject: Bool {
    if case .object = self { true } else { false }
  }
}
