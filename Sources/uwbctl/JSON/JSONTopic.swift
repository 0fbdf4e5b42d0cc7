// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import UWB
import UWBLab

struct JSONTopic: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "json",
    abstract: "Describe the JSON output of a command, with units.",
    discussion: """
      Commands with --format json print one object a line. Keys end with their units: _s, _us and _ns are \
      seconds, micro- and nanoseconds, _m and _cm metres and centimetres, _deg degrees, _dbm and _db \
      decibels, _ppm parts per million. Keys never change their names and meanings, but new ones may be \
      added. Unknown values are null.
      """)

  @Argument(
    help: "A command, such as range or \"test per-rx\" (default: all commands).",
    completion: .list(JSONCatalog.all.map(\.command)))
  var command: [String] = []

  func run() throws {
    let wanted = command.joined(separator: " ")
    let found = JSONCatalog.all.filter {
      wanted.isEmpty || $0.command == wanted || $0.command.hasPrefix(wanted + " ")
    }
    try require(!found.isEmpty, "There is no command '\(printable(wanted))' that prints JSON.")
    for entry in found {
      standardOutput.write("\(entry.command): one object for each \(entry.each)\n")
      for key in entry.keys {
        standardOutput.write("  \(key.path.left(30)) \(key.meaning)\n")
      }
      if entry.hasMore { standardOutput.write("  …\(" ".left(29)) the fields of the message\n") }
    }
  }
}

/// The keys of every command that prints JSON. A test compares them with the output.
enum JSONCatalog {
  static let all: [JSONEntry] =
    [
      PortReport.json.entry, Finding.json.entry, Info.json.entry, Simulate.json.entry,
      packet.also("monitor"), packet.also("send"), CapabilityList.json.entry,
      ConfigGet.json.entry, ConfigSet.json.entry, ParameterRow.json.entry, Reset.json.entry,
      RangeRow.json.entry, RangeRow.json.entry.also("replay"), AccessoryPrinter.json,
      FindPrinter.json, PeerCommand.json, Replay.json.entry,
    ] + ["list", "add", "remove"].map { ControlReply.json($0).entry } + RadioTestReport.json + [
      ChipCalibration.List.json.entry, PrintedValue.json.entry, PrintedValue.changed.entry,
      PrintedValue.changed.entry.also("calibrate restore"), frame, Explain.json.entry,
      ConfigurationProblem.json.entry, Diff.json.entry,
    ]

  private static let frame = JSONEntry(
    "decode", each: "frame", hasMore: true,
    [
      "mt": "message type", "gid": "group", "oid": "opcode", "name": "message name",
      "pbf": "whether more segments follow", "length": "payload bytes",
    ])

  private static var packet: JSONEntry {
    var entry = frame
    entry.each = "packet"
    entry.keys.insert(
      contentsOf: [
        .init("time_s", "seconds since the start"), .init("direction", "from_chip or to_chip"),
      ], at: 0)
    return entry
  }
}

/// A value in JSON.
protocol JSONValue {
  var json: String { get }
  /// As a cell of a table.
  var plain: String { get }
}

extension JSONValue {
  var json: String { "\(self)" }
  var plain: String { json }
}

extension Bool: JSONValue {}
extension Int: JSONValue {}
extension Int32: JSONValue {}
extension Int64: JSONValue {}
extension UInt8: JSONValue {}
extension UInt16: JSONValue {}
extension UInt32: JSONValue {}
extension UInt64: JSONValue {}

extension String: JSONValue {
  var json: String { quoted(self) }
  var plain: String { self }
}

extension Array: JSONValue where Element: JSONValue {
  var json: String { "[\(map(\.json).joined(separator: ","))]" }
}

/// A number with a fixed count of decimal places.
struct Fixed: JSONValue {
  let json: String

  init?(_ value: Double?, _ digits: Int) {
    guard let value else { return nil }
    json = fixed(value, digits)
  }
}

/// A JSON object on one line, with its keys in the order given. Keys are in snake case and never
/// change their meaning.
struct JSONLine: JSONValue, ExpressibleByDictionaryLiteral {
  private var fields: [String] = []

  init(dictionaryLiteral elements: (String, (any JSONValue)?)...) {
    for (key, value) in elements { add(key, value) }
  }

  mutating func add(_ key: String, _ value: (any JSONValue)?) {
    fields.append("\"\(key)\":\(value?.json ?? "null")")
  }

  var json: String { "{\(fields.joined(separator: ","))}" }
}

/// What the JSON output of a command holds.
struct JSONEntry: Sendable {
  struct Key: Sendable {
    /// `receivers[].rssi_dbm` is a key of each object in a list.
    var path: String
    var meaning: String
    /// Whether it may be missing.
    var isOptional: Bool

    /// - Parameter path: one that ends with `?` is optional.
    init(_ path: String, _ meaning: String) {
      isOptional = path.hasSuffix("?")
      self.path = isOptional ? String(path.dropLast()) : path
      self.meaning = meaning
    }
  }

  /// The command without `uwbctl`.
  var command: String
  /// What an object describes.
  var each: String
  /// Whether further keys depend on the message.
  var hasMore = false
  var keys: [Key]

  /// The same for another command.
  func also(_ command: String) -> JSONEntry {
    var entry = self
    entry.command = command
    return entry
  }
}

extension JSONEntry {
  init(
    _ command: String, each: String, hasMore: Bool = false, _ keys: KeyValuePairs<String, String>
  ) {
    self.init(
      command: command, each: each, hasMore: hasMore, keys: keys.map { Key($0, $1) })
  }
}

/// The objects that a command prints: each key with its meaning and its value.
struct JSONTable<Object>: Sendable {
  private(set) var entry: JSONEntry
  private(set) var values: [(key: JSONEntry.Key, value: @Sendable (Object) -> (any JSONValue)?)] =
    []

  /// - Parameters:
  ///   - command: without `uwbctl`.
  ///   - each: what an object describes.
  init(_ command: String, each: String, _ build: (inout JSONTable) -> Void) {
    entry = JSONEntry(command: command, each: each, keys: [])
    build(&self)
  }

  /// - Parameters:
  ///   - path: one that ends with `?` is left out where it has no value, others are null.
  ///   - value: nil where there is none.
  mutating func key(
    _ path: String, _ meaning: String, _ value: @escaping @Sendable (Object) -> (any JSONValue)?
  ) {
    let key = JSONEntry.Key(path, meaning)
    entry.keys.append(key)
    values.append((key, value))
  }

  /// A list of objects.
  mutating func list<Inner>(
    _ path: String, _ meaning: String, of list: @escaping @Sendable (Object) -> [Inner],
    _ build: (inout JSONTable<Inner>) -> Void
  ) {
    let inner = JSONTable<Inner>("", each: "", build)
    key(path, meaning) { list($0).map(inner.object) }
    entry.keys += inner.entry.keys.map { key in
      var key = key
      key.path = "\(path)[].\(key.path)"
      return key
    }
  }

  private func object(_ object: Object) -> JSONLine {
    var line: JSONLine = [:]
    for (key, value) in values {
      let value = value(object)
      if value != nil || !key.isOptional { line.add(key.path, value) }
    }
    return line
  }

  func line(_ object: Object) -> String { self.object(object).json + "\n" }
}

extension OutputFormat {
  /// Prints objects, each as a line of JSON or as text.
  func print<Object>(
    _ objects: [Object], _ table: JSONTable<Object>, text: (Object) -> String
  ) {
    standardOutput.write(objects.map { self == .json ? table.line($0) : text($0) }.joined())
  }
}
