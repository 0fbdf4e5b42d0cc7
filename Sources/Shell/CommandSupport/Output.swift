// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Dispatch
package import Formats
import Glibc
import Synchronization
package import SystemPackage
import UWB

/// A standard stream of the program.
package struct Output: Sendable {
  package let descriptor: FileDescriptor

  /// Whether the stream is a terminal.
  package var isTerminal: Bool { isatty(descriptor.rawValue) != 0 }

  /// Whether this program may use the terminal: it is in the foreground, or without job control.
  var isInForeground: Bool {
    let group = tcgetpgrp(descriptor.rawValue)
    return group < 0 || group == getpgrp()
  }

  /// Whether lines can be redrawn in place: the stream is a terminal, but not a dumb one such as
  /// the shell of an editor.
  package var canRedraw: Bool {
    let kind = unsafe getenv("TERM").map { unsafe String(cString: $0) } ?? ""
    return isTerminal && !["", "dumb"].contains(kind)
  }

  /// Writes a whole text. If standard output fails, the command ends in order.
  package func write(_ text: String) {
    let text = Self.isUTF8 || !isTerminal ? text : Self.inASCII(text)
    do { try descriptor.writeAll(text.utf8) } catch {
      // A failure of standard error cannot be reported, and results do not depend on it.
      guard descriptor == .standardOutput else { return }
      Ending.outputFailed(error as? Errno ?? .ioError)
    }
  }

  /// Writes text for people. On a terminal, lines that are too long continue below their last
  /// column of text.
  package func write(lines text: String) {
    guard isTerminal else { return write(text) }
    let width = size.columns
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      // Sequences of styles would count as characters. Lines with styles arrive already wrapped.
      line.contains("\u{1B}")
        ? String(line)
        : String(line).wrapped(to: width, indent: line.margin(in: width))
    }
    write(lines.joined(separator: "\n"))
  }

  /// The size of a terminal in characters.
  package struct Size: Equatable {
    package var columns: Int
    package var rows: Int
  }

  /// The size of the terminal, or 80 by 24 if it is unknown.
  package var size: Size {
    var size = winsize()
    _ = unsafe ioctl(descriptor.rawValue, UInt(TIOCGWINSZ), &size)
    return Size(
      columns: size.ws_col > 0 ? Int(size.ws_col) : 80,
      rows: size.ws_row > 0 ? Int(size.ws_row) : 24)
  }

  /// Wraps a line at spaces to the width of the terminal, and indents its continuation. Without a
  /// terminal, returns the line unchanged. Words that are too long, such as paths, stay whole.
  ///
  /// - Parameter indent: The indentation, which is reduced on terminals with fewer than 60 columns.
  package func wrapped(_ line: String, indent: Int) -> String {
    guard isTerminal else { return line }
    let width = size.columns
    return line.wrapped(to: width, indent: width < 60 ? min(indent, 2) : indent)
  }
}

extension String {
  /// Wraps to lines of at most `width` characters, unless a word is longer.
  package func wrapped(to width: Int, indent: Int) -> String {
    // Spaces at the beginning and between columns are part of the layout of a line.
    var lines: [String] = []
    var rest = self[...]
    let margin = String(repeating: " ", count: indent)
    while case let room = max(1, width - (lines.isEmpty ? 0 : indent)),
      case let limit = rest.index(ofColumn: room), limit < rest.endIndex
    {
      let first = rest.firstIndex { $0 != " " } ?? rest.startIndex
      // The space for a break may be just beyond the limit, and leading spaces may exceed the
      // limit.
      let last = first <= limit ? rest[first...limit].lastIndex(of: " ") : nil
      let cut = last ?? rest[max(first, limit)...].firstIndex(of: " ")
      guard let cut else { break }
      lines.append(String(rest[..<cut]).trimmingBlanks)
      rest = rest[cut...].drop { $0 == " " }
    }
    lines.append(String(rest))
    return lines.joined(separator: "\n" + margin)
  }

  /// Returns the text up to a column of a terminal. Sequences of styles have no width, and no style
  /// outlasts the text.
  package func cut(to width: Int) -> String {
    guard columns > width else { return self }
    guard contains("\u{1B}") else { return String(self[..<self[...].index(ofColumn: width)]) }
    var (result, left, isSequence) = ("", width, false)
    for character in self {
      if character == "\u{1B}" { isSequence = true }
      if !isSequence { left -= character.columns }
      if isSequence || left >= 0 { result.append(character) }
      if isSequence, character.isLetter { isSequence = false }
    }
    return result
  }

  /// The text without trailing spaces.
  private var trimmingBlanks: String {
    String(self[..<(lastIndex { $0 != " " }.map { index(after: $0) } ?? startIndex)])
  }
}

extension Substring {
  /// Returns the indentation for the continuation of a line: the start of its last column of text,
  /// if at least half of the width remains. Several spaces separate columns.
  fileprivate func margin(in width: Int) -> Int {
    let own = prefix { $0 == " " }
    guard let gap = dropFirst(own.count).ranges(of: "  ").last,
      let start = self[gap.upperBound...].firstIndex(where: { $0 != " " }),
      case let column = String(self[..<start]).columns, column <= width / 2
    else { return own.count + 2 }
    return column
  }

  /// Returns the index of the first character that ends beyond a column; the end if none does.
  fileprivate func index(ofColumn width: Int) -> Index {
    var left = width
    for index in indices {
      left -= self[index].columns
      if left < 0 { return index }
    }
    return endIndex
  }
}

package let standardInput = Output(descriptor: .standardInput)
/// The stream for results: standard error if a recording occupies standard output.
package var standardOutput: Output {
  isOutputTaken.load(ordering: .relaxed) ? standardError : Output(descriptor: .standardOutput)
}
package let standardError = Output(descriptor: .standardError)

private let isOutputTaken = Atomic(false)

/// Reserves standard output if `file` is `-`. Must run before the file is written.
package func takeOutput(for file: String?) {
  if file == "-" { isOutputTaken.store(true, ordering: .relaxed) }
}

/// Prints a note on standard error, after the name of the command.
///
/// - Parameter suggestion: The next step.
package func note(_ text: String, try suggestion: String? = nil) {
  standardError.write(message(text, try: suggestion))
}

/// Returns the text that `note` writes.
package func message(_ text: String, try suggestion: String? = nil) -> String {
  standardError.wrapped("\(Program.name): \(printable(text))", indent: 2) + "\n"
    + (suggestion.map(advice) ?? "")
}

/// Returns the line for a next step.
package func advice(_ suggestion: String) -> String {
  standardError.wrapped("  try: \(printable(suggestion))", indent: 7) + "\n"
}

/// The format of results: text, or one JSON object per line.
package enum OutputFormat: String, ExpressibleByArgument, CaseIterable {
  case text, json
}

extension OutputFormat {
  /// Prints objects, each as a line of JSON or as text.
  package func print<Object>(
    _ objects: [Object], _ table: JSONTable<Object>, text: (Object) -> String
  ) {
    print(objects, table, whole: objects.map(text).joined())
  }

  /// Prints objects as lines of JSON, or one text about all of them.
  package func print<Object>(
    _ objects: [Object], _ table: JSONTable<Object>, whole text: @autoclosure () -> String
  ) {
    if self == .json { return standardOutput.write(objects.map(table.line).joined()) }
    standardOutput.write(lines: text())
  }
}

/// Formats a byte as `0x0A`.
package func hexNumber(_ byte: UInt8) -> String {
  "0x" + hexDigits(CollectionOfOne(byte)).uppercased()
}

/// Asks on standard error, and reads answers from standard input. Unlike `readLine`, the wait for
/// an answer can be cancelled.
package enum Prompt {
  /// The lines of standard input. One thread reads them from the first question to the end of the
  /// program.
  private static let answers = AsyncStream<String> { continuation in
    DispatchQueue(label: "answers").async {
      // `readLine` would hold the lock of stdin, which `exit` waits for (glibc 2.43).
      var line: [UInt8] = []
      var byte: UInt8 = 0
      while true {
        let count = unsafe read(STDIN_FILENO, &byte, 1)
        if count < 0, errno == EINTR { continue }
        guard count == 1 else { break }
        if byte == UInt8(ascii: "\n") {
          continuation.yield(String(decoding: line, as: UTF8.self))
          line = []
        } else {
          line.append(byte)
        }
      }
      if !line.isEmpty { continuation.yield(String(decoding: line, as: UTF8.self)) }
      continuation.finish()
    }
  }

  /// Asks for a line.
  ///
  /// - Returns: The answer without surrounding spaces; nil at the end of the input.
  /// - Throws: `CancellationError`.
  package static func ask(_ question: String) async throws -> String? {
    Keys.giveWay()
    standardError.write(standardError.wrapped(question, indent: 2))
    var iterator = answers.makeAsyncIterator()
    let answer = await iterator.next()
    if Task.isCancelled {
      // The cursor is still on the line of the question.
      standardError.write("\n")
      throw CancellationError()
    }
    return answer.map { line in
      let rest = line.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace)
      return String(rest.reversed())
    }
  }
}

extension Prompt {
  /// Asks a question; returns true for the answers `y` and `yes`.
  package static func confirm(_ question: String) async throws -> Bool {
    let answer = try await ask(question + " [y/N] ")
    return ["y", "yes"].contains(answer?.lowercased())
  }

  /// Asks whether to reset a chip that answers only with errors.
  ///
  /// - Parameter advice: The next step without a terminal.
  /// - Throws: `Failure` if the user does not agree.
  package static func confirmReset(
    else advice: String = "Give --reset as well, which ends the sessions on the chip."
  ) async throws {
    guard standardInput.isTerminal, standardError.isTerminal else {
      throw Failure(.deviceFailure, "\(DriverError.needsReset)", try: advice)
    }
    note("\(DriverError.needsReset)")
    guard try await confirm("Reset it, which ends the sessions on the chip?") else {
      throw Failure(.deviceFailure, "The device was not reset.", try: advice)
    }
  }
}
