// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import Dispatch
import Glibc
import Synchronization
import SystemPackage
import UWB
import UWBLab

/// A stream of the program.
struct Output: Sendable {
  let descriptor: FileDescriptor

  /// Whether a person is likely to be reading.
  var isTerminal: Bool { isatty(descriptor.rawValue) != 0 }

  /// Whether it is a terminal on which lines can be drawn over themselves: not a dumb one, such as the
  /// shell of an editor.
  var canRedraw: Bool {
    isTerminal && !["", "dumb"].contains(getenv("TERM").map { String(cString: $0) } ?? "")
  }

  /// Writes all of a text. Where standard output takes no more, the command ends in order.
  func write(_ text: String) {
    do { try descriptor.writeAll(text.utf8) } catch {
      // Nobody can be told that standard error is lost, and results do not depend on it.
      guard descriptor == .standardOutput else { return }
      Ending.outputFailed(error as? Errno ?? .ioError)
    }
  }

  /// The size of a terminal in characters.
  struct Size: Equatable {
    var columns: Int
    var rows: Int
  }

  /// Of the terminal; 80 by 24 where it does not tell.
  var size: Size {
    var size = winsize()
    _ = ioctl(descriptor.rawValue, UInt(TIOCGWINSZ), &size)
    return Size(
      columns: size.ws_col > 0 ? Int(size.ws_col) : 80,
      rows: size.ws_row > 0 ? Int(size.ws_row) : 24)
  }

  /// A line cut at blanks to the width of the terminal, with the continuation indented; as it is where
  /// there is no terminal. Words that are too long, such as paths, stay whole.
  ///
  /// - Parameter indent: less where the terminal has fewer than 60 columns.
  func wrapped(_ line: String, indent: Int) -> String {
    guard isTerminal else { return line }
    let width = size.columns
    return line.wrapped(to: width, indent: width < 60 ? min(indent, 2) : indent)
  }
}

extension String {
  /// Lines of at most `width` characters, unless a word is longer.
  func wrapped(to width: Int, indent: Int) -> String {
    // Blanks at the beginning, and columns within the line, are part of its layout.
    var lines: [String] = []
    var rest = self[...]
    let margin = String(repeating: " ", count: indent)
    while case let room = max(1, width - (lines.isEmpty ? 0 : indent)), rest.count > room {
      let first = rest.firstIndex { $0 != " " } ?? rest.startIndex
      let limit = rest.index(rest.startIndex, offsetBy: room)
      // A blank may fall on the edge; the blanks at the beginning may reach beyond it.
      let last = first <= limit ? rest[first...limit].lastIndex(of: " ") : nil
      let cut = last ?? rest[max(first, limit)...].firstIndex(of: " ")
      guard let cut else { break }
      lines.append(String(rest[..<cut]).trimmingBlanks)
      rest = rest[cut...].drop { $0 == " " }
    }
    lines.append(String(rest))
    return lines.joined(separator: "\n" + margin)
  }

  /// Without the blanks at the end.
  private var trimmingBlanks: String {
    String(self[..<(lastIndex { $0 != " " }.map { index(after: $0) } ?? startIndex)])
  }
}

let standardInput = Output(descriptor: .standardInput)
/// Where results are printed: standard error where a file takes standard output.
var standardOutput: Output {
  isOutputTaken.load(ordering: .relaxed) ? standardError : Output(descriptor: .standardOutput)
}
let standardError = Output(descriptor: .standardError)

private let isOutputTaken = Atomic(false)

/// To be called with the name of a file before it is written: if it is `-`, nothing else is printed
/// to standard output.
func takeOutput(for file: String?) {
  if file == "-" { isOutputTaken.store(true, ordering: .relaxed) }
}

/// Tells the user something on standard error, with the name of the command before it.
///
/// - Parameter suggestion: what to try.
func note(_ text: String, try suggestion: String? = nil) {
  standardError.write(message(text, try: suggestion))
}

/// What `note` writes.
func message(_ text: String, try suggestion: String? = nil) -> String {
  standardError.wrapped("\(Program.name): \(printable(text))", indent: 2) + "\n"
    + (suggestion.map(advice) ?? "")
}

/// A line that says what to try.
func advice(_ suggestion: String) -> String {
  standardError.wrapped("  try: \(printable(suggestion))", indent: 7) + "\n"
}

/// How results are printed: as text, or as one JSON object a line.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable {
  case text, json
}

/// A byte as `0x0A`.
func hexNumber(_ byte: UInt8) -> String { "0x" + hexDigits(CollectionOfOne(byte)).uppercased() }

/// Asks on standard error and reads answers from standard input. Unlike with `readLine`, waiting for
/// an answer can be cancelled.
enum Prompt {
  /// Lines of standard input, which one thread reads from the first question until the program ends.
  private static let answers = AsyncStream<String> { continuation in
    DispatchQueue(label: "answers").async {
      // Not with readLine: exit waits for the lock of stdin (glibc 2.43), which that holds.
      var line: [UInt8] = []
      var byte: UInt8 = 0
      while true {
        let count = read(STDIN_FILENO, &byte, 1)
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
  /// - Returns: the answer without surrounding blanks; nil at the end of the input.
  /// - Throws: `CancellationError`.
  static func ask(_ question: String) async throws -> String? {
    standardError.write(question)
    var iterator = answers.makeAsyncIterator()
    let answer = await iterator.next()
    try Task.checkCancellation()
    return answer.map { line in
      let rest = line.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace)
      return String(rest.reversed())
    }
  }
}

extension Prompt {
  /// Asks a question that only `y` or `yes` affirms.
  static func confirm(_ question: String) async throws -> Bool {
    let answer = try await ask(question + " [y/N] ")
    return ["y", "yes"].contains(answer?.lowercased())
  }

  /// Asks whether a chip that answers only with errors may be reset.
  ///
  /// - Parameter advice: what to do where nobody can answer.
  /// - Throws: `Failure` where it may not.
  static func confirmReset(
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

/// The terminal at which boards are calibrated.
final class TerminalConsole: CalibrationConsole {
  private let shown = Atomic(-1)

  func ask(_ question: String) async throws -> String? { try await Prompt.ask(question) }

  func show(_ text: String) { standardError.write(text) }

  func showProgress(_ label: String, _ count: Int, of total: Int) {
    let step = count * 50 / max(1, total)
    guard standardError.canRedraw, shown.exchange(step, ordering: .relaxed) != step else { return }
    let filled = min(25, step / 2)
    let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: 25 - filled)
    standardError.write("\r  \(label) [\(bar)] \(count) of \(total)")
  }

  func clearProgress() {
    shown.store(-1, ordering: .relaxed)
    if standardError.canRedraw { standardError.write("\r\u{1B}[K") }
  }
}
