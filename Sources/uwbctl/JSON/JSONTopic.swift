// SPDX-License-Identifier: Apache-2.0

import UWBLab
import ArgumentParser

/// `uwbctl json`: what the objects hold that commands print with --format json.
struct JSONTopic: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "json",
    abstract: "Say what the JSON of a command holds, with units.",
    discussion: """
      Commands with --format json print one object a line. Units stand at the ends of the keys: _s, \
      _us and _ns are seconds, micro- and nanoseconds, _m and _cm metres and centimetres, _deg \
      degrees, _dbm and _db decibels, _ppm parts per million. A key keeps its name and its meaning; \
      new ones can come. What a chip does not tell is null.
      """)

  @Argument(
    help: "A command, like range or \"test per-rx\"; none: all of them.",
    completion: .list(JSONCatalog.all.map(\.command)))
  var command: [String] = []

  func run() throws {
    let wanted = command.joined(separator: " ")
    let found = JSONCatalog.all.filter {
      wanted.isEmpty || $0.command == wanted || $0.command.hasPrefix(wanted + " ")
    }
    guard !found.isEmpty else {
      throw ValidationError("\(printable(wanted)) prints no JSON that is known here.")
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

/// What one command prints.
struct JSONEntry: Sendable {
  struct Key: Sendable {
    /// `receivers[].rssi_dbm` is a key of each object in a list, `holder.pid` one of an object.
    var path: String
    var meaning: String
    /// There only where it applies.
    var isOptional: Bool
  }

  /// Without `uwbctl`.
  var command: String
  /// What an object stands for.
  var each: String
  var keys: [Key]
  /// Further keys depend on the message.
  var hasMore = false

  /// - Parameter keys: `path: meaning`; a path with `?` behind it is there only where it applies.
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

  /// Another command that prints the same.
  func also(_ command: String) -> JSONEntry { JSONEntry(command, self) }
}
