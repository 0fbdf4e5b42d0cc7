// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
import CVersion
import Formats
import Glibc
import Synchronization
import UCIReference

/// The program's version, the prefix of its messages, and its help.
package enum Program {
  package static let version = unsafe String(cString: cversion_number())

  private static let path = Mutex<CommandPath?>(nil)

  /// Returns the version of `uwbctl` or another program, as `--version` prints it.
  package static func versionText(of program: String) -> String {
    let commit = unsafe String(cString: cversion_commit())
    return "\(program) \(version)" + (commit.isEmpty ? "" : " (commit \(commit))")
      + "\nPart of swift-uwb. Licence: Apache-2.0."
  }

  /// The program and the names of the command that is run, such as `uwbctl calibrate get`.
  package static var name: String { path.withLock { $0?.name } ?? command }

  /// The program alone, such as `uwbctl`.
  package static var command: String {
    path.withLock { $0?.root._commandName }
      ?? CommandLine.arguments[0].split(separator: "/").last.map(String.init) ?? ""
  }

  /// Runs the command that the arguments name, as the argument parser does. Ends the program with
  /// the status of an error.
  ///
  /// - Parameter check: Throws for arguments that prevent the run.
  package static func run(
    _ root: any AsyncParsableCommand.Type, _ arguments: [String],
    check: ([String]) throws -> Void = { _ in }
  ) async {
    Ending.prepare()
    // The argument parser needs at least 27 columns, and renders help even when nobody requests it.
    unsafe setenv("COLUMNS", "\(columns)", 1)
    let arguments = joiningNegativeValues(arguments)
    do {
      let found = CommandPath(arguments, of: root)
      path.withLock { $0 = found }
      try check(arguments)
      try found.check()
      let command = try found.parsed() ?? root.parseAsRoot(arguments)
      do { try await run(command) } catch let error as ValidationError {
        // After parsing, the argument parser would show the usage of the program instead of the
        // command's.
        throw Failure(.usage, error.message, try: "\(name) --help").report()
      }
    } catch {
      end(error, root)
    }
    do { try Ending.checkOutput() } catch { root.exit(withError: error) }
  }

  private static func run(_ command: any ParsableCommand) async throws {
    if let command = command as? any LiveCommand, command.isLive {
      return try await command.runLive()
    }
    var command = command
    guard var waiting = command as? any AsyncParsableCommand else { return try command.run() }
    try await waiting.run()
  }

  /// Returns the arguments, with each negative number joined to the option before it. The argument
  /// parser would treat `-1` as an option.
  package static func joiningNegativeValues(_ arguments: [String]) -> [String] {
    var joined: [String] = []
    for (index, argument) in arguments.enumerated() {
      if argument == "--" { return joined + arguments[index...] }
      if let option = joined.last, option.hasPrefix("-"), !option.contains("="),
        argument.first == "-", argument.dropFirst().first.map("0123456789.".contains) == true
      {
        joined[joined.count - 1] += "=" + argument
      } else {
        joined.append(argument)
      }
    }
    return joined
  }

  /// Ends the program with the text and the exit status of an error; a request for help is such an
  /// error as well.
  private static func end(_ error: any Error, _ root: any AsyncParsableCommand.Type) -> Never {
    let code = root.exitCode(for: error)
    let text = text(for: error, of: root, isHelp: code.isSuccess)
    if !text.isEmpty { (code.isSuccess ? standardOutput : standardError).write(text + "\n") }
    do { try Ending.checkOutput() } catch { root.exit(withError: error) }
    exit(code.rawValue)
  }

  /// The width of help in columns: from the terminal or COLUMNS, within a readable range.
  package static let columns: Int = {
    let wanted = unsafe getenv("COLUMNS").flatMap { Int(unsafe String(cString: $0)) }
    return min(max(60, wanted ?? standardOutput.size.columns), 120)
  }()

  /// Returns the argument parser's text for an error or for help, with wrapped usage lines.
  ///
  /// The usage after an error is short or omitted, so that the cause stays visible.
  package static func text(
    for error: any Error, of root: any ParsableCommand.Type, columns: Int = columns, isHelp: Bool
  ) -> String {
    root.fullMessage(for: error, columns: columns).split(
      separator: "\n", omittingEmptySubsequences: false
    ).compactMap { line -> String? in
      if line.lowercased().hasPrefix("usage: ") {
        let usage = wrapped(line, columns)
        return isHelp || usage.count { $0 == "\n" } < mostLinesOfUsage ? usage : nil
      }
      guard !isHelp else { return String(line) }
      if let command = line.firstMatch(of: seeHelp)?.1 { return "  try: \(command)" }
      // The argument parser quotes arguments without escaping them.
      return standardError.wrapped(printable(String(line)), indent: 2)
    }.joined(separator: "\n")
  }

  private static let mostLinesOfUsage = 3
  /// The last line of the argument parser's errors.
  private static var seeHelp: Regex<(Substring, Substring)> {
    /^  See '(.+)' for more information\.$/
  }

  /// Wraps a usage line before options and arguments, and indents its continuation.
  private static func wrapped(_ usage: Substring, _ columns: Int) -> String {
    // An option and its value stay on one line.
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
  let root: any ParsableCommand.Type
  private(set) var command: any ParsableCommand.Type
  /// The full name, such as `uwbctl calibrate get`.
  private(set) var name: String
  /// The arguments after the names; nil for a request of help.
  private(set) var rest: [String]?
  /// The word that stands in the place of a subcommand but names none.
  private(set) var unknown: String?

  init(_ arguments: [String], of root: any ParsableCommand.Type) {
    (self.root, command, name, rest) = (root, root, root._commandName, arguments)
    for word in arguments {
      let subcommands = command.configuration.subcommands
      guard !subcommands.isEmpty, !word.hasPrefix("-") else { return }
      if command == root, word == "help" {
        rest = nil
        continue
      }
      guard let next = subcommands.first(where: { $0._commandName == word }) else {
        unknown = word
        return
      }
      command = next
      name += " " + word
      rest?.removeFirst()
    }
  }

  /// Parses the rest of the arguments with the command alone, which is enough unless there is an
  /// error.
  ///
  /// Parsed from the root, all options of the command would be declared twice more.
  ///
  /// - Returns: Nil for a request of help and for an error, because their texts name the parent
  ///   commands.
  func parsed() -> (any ParsableCommand)? {
    guard command != root, let rest, Set(rest).isDisjoint(with: ["-h", "--help", "--version"]),
      let parsed = try? command.parseAsRoot(rest), type(of: parsed) == command
    else { return nil }
    return parsed
  }

  /// Checks the command line for unknown subcommands.
  ///
  /// - Throws: The error to print for an unknown subcommand.
  func check() throws {
    guard let unknown else { return }
    let names = command.configuration.subcommands.map { $0._commandName }
    let near = nearestNames(to: unknown, in: command == root ? names + ["--version"] : names)
    let elsewhere = Self.paths(to: unknown, below: root, root._commandName)
    let suggestions = elsewhere.isEmpty ? near.map { "\(name) \($0)" } : elsewhere
    throw Failure(
      .usage, "There is no command '\(printable(unknown))'.",
      try: suggestions.isEmpty
        ? "\(name) --help lists the commands." : suggestions.joined(separator: ", or ")
    ).report()
  }

  /// Returns the full names of the commands of that name, wherever they are.
  private static func paths(
    to wanted: String, below command: any ParsableCommand.Type, _ name: String
  ) -> [String] {
    command.configuration.subcommands.flatMap { next -> [String] in
      let path = name + " " + next._commandName
      return (next._commandName == wanted ? [path] : []) + paths(to: wanted, below: next, path)
    }
  }
}

/// Returns a sentence with the names that resemble an unknown one; empty if there are none.
package func nearest(to name: String, in names: [String]) -> String {
  let nearest = nearestNames(to: name, in: names)
  return nearest.isEmpty ? "" : " Nearest: \(nearest.joined(separator: ", "))."
}
