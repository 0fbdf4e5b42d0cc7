// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc
import Testing
import UWBTestSupport

/// `uwbctl`, or another program, at a pseudo-terminal, as a user sees it.
package final class TerminalSession {
  private let process: SpawnedProcess
  private var master: Int32 = -1
  /// All output after the last expected text.
  package private(set) var seen = ""
  /// The text on the screen.
  package private(set) var screen: TerminalScreen
  private var partial: [UInt8] = []

  /// - Parameters:
  ///   - columns: The width; 0: the terminal does not report it.
  ///   - isComplete: Standard error is on the terminal as well.
  ///   - kind: The kind of terminal, as in TERM.
  ///   - environment: Further differences from the environment of this process.
  package init(
    _ arguments: [String], columns: Int = 80, rows: Int = 24, isComplete: Bool = true,
    kind: String = "xterm", environment: [String: String?] = [:],
    program: String = ChildProcess.uwbctl
  ) throws {
    var slave: Int32 = -1
    var size = winsize()
    (size.ws_col, size.ws_row) = (UInt16(columns), UInt16(rows))
    screen = TerminalScreen(columns: columns == 0 ? 80 : columns, rows: rows)
    try #require(openpty(&master, &slave, nil, nil, &size) == 0)
    let null = isComplete ? slave : open("/dev/null", O_WRONLY | O_CLOEXEC)
    defer { if !isComplete { close(null) } }
    process = try SpawnedProcess(
      program, arguments,
      environment: ["TERM": kind, "LC_ALL": "C.UTF-8", "NO_COLOR": nil]
        .merging(environment) { $1 }, standardInput: slave,
      standardOutput: slave, standardError: null)
    // The descriptor closes here, so that reads report an end when the program ends.
    close(slave)
  }

  deinit {
    if process.isRunning { process.terminate() }
    close(master)
  }

  /// Reads once, and returns false at the end.
  private func read() throws -> Bool {
    var buffer = [UInt8](repeating: 0, count: 4096)
    var waiting = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
    try #require(poll(&waiting, 1, 300_000) == 1, "nothing more after: \(seen)")
    let count = Glibc.read(master, &buffer, buffer.count)
    guard count > 0 else { return false }
    // The last character may be incomplete.
    partial += buffer[..<count]
    var whole = partial.count
    while whole > 0, partial.count - whole < 4,
      String(validating: partial[..<whole], as: UTF8.self) == nil
    { whole -= 1 }
    let text = String(decoding: partial[..<whole], as: UTF8.self)
    partial.removeFirst(whole)
    seen += text
    screen.write(text)
    return true
  }

  /// Waits until the screen shows a text that it did not show at the last call.
  package func expect(_ text: String) throws {
    while !seen.contains(text) {
      // A command may write without end, and never write this text.
      try #require(seen.utf8.count < 1_000_000, "no '\(text)' in: \(seen.suffix(2_000))")
      try #require(try read(), "ended without '\(text)': \(seen)")
    }
    if let range = seen.range(of: text) { seen = String(seen[range.upperBound...]) }
  }

  package func answer(_ text: String) { press(text + "\n") }
  /// Types keys.
  package func press(_ keys: String) { _ = keys.withCString { write(master, $0, strlen($0)) } }
  /// Whether the terminal passes each key at once, without showing it.
  package var isRaw: Bool {
    var mode = termios()
    return tcgetattr(master, &mode) == 0 && mode.c_lflag & tcflag_t(ICANON | ECHO) == 0
  }
  package func interrupt() { process.interrupt() }
  package func signal(_ number: Int32) { process.send(number) }

  /// The state of the process as in proc(5), such as `T` while it is stopped.
  package var state: String? {
    let status = try? String(
      contentsOfFile: "/proc/\(process.processIdentifier)/stat", encoding: .utf8)
    return status?.split(separator: ")").last?.split(separator: " ").first.map(String.init)
  }

  /// Stops each thread of the program, as Ctrl-Z does.
  package func stop() throws {
    signal(SIGSTOP)
    let tasks = "/proc/\(process.processIdentifier)/task"
    func isStopped(_ task: String) -> Bool {
      let status = try? String(contentsOfFile: "\(tasks)/\(task)/stat", encoding: .utf8)
      return status?.split(separator: ")").last?.hasPrefix(" T") ?? true
    }
    while try !FileManager.default.contentsOfDirectory(atPath: tasks).allSatisfy(isStopped) {
      sched_yield()
    }
  }

  /// Writes to the terminal like another program, for example a shell after Ctrl-Z.
  ///
  /// The kernel keeps the order of this text and the program's output.
  package func writeFromElsewhere(_ text: String) throws {
    let peer: UInt = 0x5441  // TIOCGPTPEER of ioctl_tty(2)
    let slave = ioctl(master, peer, O_WRONLY | O_NOCTTY | O_CLOEXEC)
    try #require(slave >= 0)
    defer { close(slave) }
    try #require(write(slave, text, text.utf8.count) == text.utf8.count)
  }

  /// Changes the size of the window.
  package func resize(columns: Int, rows: Int) {
    var size = winsize()
    (size.ws_col, size.ws_row) = (UInt16(columns), UInt16(rows))
    _ = ioctl(master, UInt(TIOCSWINSZ), &size)
    screen.resize(columns: columns, rows: rows)
    // The kernel notifies programs whose controlling terminal it is.
    signal(SIGWINCH)
  }

  /// Reads to the end.
  package func status() throws -> Int32 {
    while try read() {}
    return process.terminationStatus
  }
}

/// The screen of a terminal: the few sequences that `uwbctl` writes, and lines that wrap.
package struct TerminalScreen {
  package private(set) var columns: Int
  package private(set) var rows: Int
  private var cells: [[Character]]
  private var x = 0
  private var y = 0
  private var sequence: String?
  /// The number of lines that were too long.
  package private(set) var wraps = 0
  /// Sequences that it does not support.
  package private(set) var unknown: [String] = []
  /// The sequences of colours and weights.
  package private(set) var styles: [String] = []
  /// The lines that were scrolled off at the top.
  package private(set) var history: [String] = []

  package init(columns: Int, rows: Int) {
    (self.columns, self.rows) = (columns, rows)
    cells = Array(repeating: Array(repeating: " ", count: columns), count: rows)
  }

  /// The lines without blanks at their ends, up to the last one that is not empty.
  package var lines: [String] {
    var lines = cells.map(Self.text)
    while lines.last == "" { lines.removeLast() }
    return lines
  }

  private static func text(_ row: [Character]) -> String {
    String(row[..<(row.lastIndex { $0 != " " }.map { $0 + 1 } ?? 0)])
  }

  /// Cuts and fills lines, as terminals without reflow do.
  package mutating func resize(columns: Int, rows: Int) {
    while cells.count > rows, y > 0 {
      history.append(Self.text(cells.removeFirst()))
      y -= 1
    }
    cells = (cells + Array(repeating: [], count: max(0, rows - cells.count))).prefix(rows).map {
      Array(($0 + Array(repeating: " ", count: max(0, columns - $0.count))).prefix(columns))
    }
    (self.columns, self.rows) = (columns, rows)
    (x, y) = (min(x, columns - 1), min(y, rows - 1))
  }

  package mutating func write(_ text: String) {
    // The loop reads scalars and not characters, because "\r\n" is one character.
    for scalar in text.unicodeScalars {
      if let begun = sequence {
        sequence = begun + String(scalar)
        if scalar.properties.isAlphabetic { obey() }
        continue
      }
      switch scalar {
      case "\u{1B}": sequence = ""
      case "\n": lineFeed()
      case "\r": x = 0
      default:
        if x == columns {
          x = 0
          lineFeed()
          wraps += 1
        }
        cells[y][x] = Character(scalar)
        x += 1
      }
    }
  }

  private mutating func lineFeed() {
    if y < rows - 1 {
      y += 1
    } else {
      history.append(Self.text(cells.removeFirst()))
      cells.append(Array(repeating: " ", count: columns))
    }
  }

  private mutating func obey() {
    let code = sequence ?? ""
    sequence = nil
    func clear(_ row: Int, from column: Int = 0) {
      for index in min(column, columns)..<columns { cells[row][index] = " " }
    }
    switch code {
    case "[K": clear(y, from: x)
    case "[J":
      clear(y, from: x)
      for row in y + 1..<max(rows, y + 1) { clear(row) }
    case "[2J": for row in 0..<rows { clear(row) }
    case "[H": (x, y) = (0, 0)
    case let code where code.hasPrefix("[") && code.hasSuffix("m"): styles.append(code)
    default:
      if code.hasSuffix("A"), let count = Int(code.dropFirst().dropLast()) {
        y = max(0, y - count)
      } else {
        unknown.append(code)
      }
    }
  }
}
