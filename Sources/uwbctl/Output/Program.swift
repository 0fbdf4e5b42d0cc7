// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CVersion
import Glibc
import UCIReference
import UWBLab

/// The program's version, the prefix of its messages, and its help.
enum Program {
  static let version = String(cString: cversion_number())

  /// The text of `--version`.
  static var versionText: String {
    let commit = String(cString: cversion_commit())
    return "uwbctl \(version)" + (commit.isEmpty ? "" : " (commit \(commit))")
      + "\nPart of swift-uwb. Licence: Apache-2.0."
  }

  /// The name of the program with its subcommands, such as `uwbctl calibrate delay`.
  static let name = CommandPath(CommandPath.current(CommandLine.arguments.dropFirst())).name

  /// The width of help in columns: from the terminal or COLUMNS, within a readable range.
  static let columns: Int = {
    let wanted = getenv("COLUMNS").flatMap { Int(String(cString: $0)) }
    return min(max(60, wanted ?? standardOutput.size.columns), 120)
  }()

  /// Returns the argument parser's text for an error or for help, with wrapped usage lines.
  static func text(for error: any Error, columns: Int = columns) -> String {
    let isHelp = Uwbctl.exitCode(for: error).isSuccess
    return Uwbctl.fullMessage(for: error, columns: columns).split(
      separator: "\n", omittingEmptySubsequences: false
    ).map { line in
      if line.lowercased().hasPrefix("usage: ") { return wrapped(line, columns) }
      return isHelp ? String(line) : standardError.wrapped(String(line), indent: 2)
    }.joined(separator: "\n")
  }

  /// Wraps a usage line before options and arguments, and indents its continuation.
  private static func wrapped(_ usage: Substring, _ columns: Int) -> String {
    // An option and its value stay together.
    var items: [String] = []
    for word in usage.split(separator: " ") {
      if let last = items.last, last.contains("["), !last.contains("]") {
        items[items.count - 1] += " " + word
      } else {
        items.append(String(word))
      }
    }
    var lines = [items.removeFirst()]
    for item in items {
      if lines[lines.count - 1].count + 1 + item.count <= columns {
        lines[lines.count - 1] += " " + item
      } else {
        lines.append("         " + item)
      }
    }
    return lines.joined(separator: "\n")
  }
}

/// The command selected by the words of a command line.
struct CommandPath {
  private(set) var command: any ParsableCommand.Type = Uwbctl.self
  /// The full name, such as `uwbctl calibrate delay`.
  private(set) var name = Uwbctl._commandName
  /// The word in the place of a subcommand that does not match one.
  private(set) var unknown: String?

  init(_ arguments: some Sequence<String>) {
    for word in arguments {
      let subcommands = command.configuration.subcommands
      guard !subcommands.isEmpty, !word.hasPrefix("-") else { return }
      if command == Uwbctl.self, word == "help" { continue }
      guard let next = subcommands.first(where: { $0._commandName == word }) else {
        unknown = word
        return
      }
      command = next
      name += " " + word
    }
  }

  /// Checks the command line for unknown subcommands.
  ///
  /// - Throws: The error to print for an unknown subcommand.
  func check() throws {
    guard let unknown else { return }
    let names = command.configuration.subcommands.map { $0._commandName }
    let near = nearestNames(to: unknown, in: command == Uwbctl.self ? names + ["--version"] : names)
    throw Failure(
      .usage, "There is no command '\(unknown)'.",
      try: near.isEmpty
        ? "\(name) --help lists the commands."
        : near.map { "\(name) \($0)" }.joined(separator: ", or ")
    ).report()
  }

  /// Returns the arguments with former command names replaced by present ones.
  static func current(_ arguments: some Collection<String>) -> [String] {
    var arguments = Array(arguments)
    let index = ["help", "json"].contains(arguments.first) ? 1 : 0
    if index < arguments.count, arguments[index] == "calibration" { arguments[index] = "calibrate" }
    return arguments
  }
}
