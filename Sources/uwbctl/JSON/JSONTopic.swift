// SPDX-License-Identifier: Apache-2.0

import UWBLab
import ArgumentParser

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
    guard !found.isEmpty else {
      throw ValidationError("There is no command '\(printable(wanted))' that prints JSON.")
    }
    for entry in found {
      standardOutput.write("\(entry.command): one object for each \(entry.each)\n")
      for key in entry.keys {
        standardOutput.write("  \(key.path.left(30)) \(key.meaning)\n")
      }
      if entry.hasMore { standardOutput.write("  …\(" ".left(29)) the fields of the message\n") }
    }
  }
}

/// The JSON output of a command.
struct JSONEntry: Sendable {
  struct Key: Sendable {
    /// `receivers[].rssi_dbm` is a key of each object in a list.
    var path: String
    var meaning: String
    /// Whether it may be missing.
    var isOptional: Bool
  }

  /// The command without `uwbctl`.
  var command: String
  /// What an object describes.
  var each: String
  var keys: [Key]
  /// Further keys depend on the message.
  var hasMore = false

  /// - Parameter keys: `path: meaning`; a path that ends with `?` is optional.
  init(
    _ command: String, each: String, hasMore: Bool = false, _ keys: KeyValuePairs<String, String>
  ) {
    self.command = command
    self.each = each
    self.hasMore = hasMore
    self.keys = keys.map { path, meaning in
      let isOptional = path.hasSuffix("?")
      return Key(
        path: isOptional ? String(path.dropLast()) : path, meaning: meaning, isOptional: isOptional)
    }
  }

  private init(_ command: String, _ other: JSONEntry) {
    self = other
    self.command = command
  }

  /// The same for another command.
  func also(_ command: String) -> JSONEntry { JSONEntry(command, self) }
}
