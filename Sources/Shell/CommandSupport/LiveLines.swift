// SPDX-License-Identifier: Apache-2.0

import Formats
import Glibc
import System
import Synchronization
import SystemPackage

/// Lines at the end of a terminal's output that are redrawn in place, such as a table.
///
/// They are redrawn each second, after a change of the window's size, and after Ctrl-Z and `fg`.
/// Other output to the terminal must use `write`. `q` ends the command as Ctrl-C does, `p` pauses,
/// and `?` shows the keys.
package final class LiveLines: Sendable {
  private struct State {
    /// The widths of the lines on the screen, above the cursor.
    var drawn: [Int] = []
    /// The lines of the last drawing, which a pause keeps.
    var last: [String] = []
    var isPaused = false
    var showsKeys = false
    var isFinished = false
    var clock: Task<Void, Never>?
  }

  private let output: Output
  private let state = Mutex(State())
  private let lines: @Sendable (Output.Size) -> [String]

  /// The hint at the end of a line that `?` lists the keys; empty while the keys are off.
  package static var keyHint: String { Keys.areOn ? ", ? lists keys" : "" }

  /// Splits a line that must be readable as a whole into parts that fit the window. Only very
  /// narrow windows cut the parts.
  package static func wrapped(_ line: String, in size: Output.Size) -> [String] {
    guard size.columns >= 20 else { return [line] }
    return line.wrapped(to: size.columns - 1, indent: 0).split(separator: "\n").map(String.init)
  }

  /// Starts drawing.
  ///
  /// - Parameter lines: Returns the current lines, which are cut to the size. Called on any thread.
  package init(
    on output: Output = standardOutput, _ lines: @escaping @Sendable (Output.Size) -> [String]
  ) {
    self.output = output
    self.lines = lines
    Ending.onScreenChange { [weak self] in self?.draw() }
    let clock = Task { [weak self] in
      while (try? await Task.sleep(for: .seconds(1))) != nil { self?.draw() }
    }
    state.withLock { $0.clock = clock }
  }

  deinit {
    let (clock, isFinished) = state.withLock { ($0.clock, $0.isFinished) }
    clock?.cancel()
    // The command may have failed before `finish`.
    if !isFinished { Keys.turnOff() }
  }

  /// Draws the current lines.
  package func draw() { state.withLock { draw(&$0) } }

  /// Writes a text, which ends with a line feed, above the lines.
  ///
  /// - Parameter stream: The destination of the text.
  package func write(_ text: String, to stream: Output) {
    state.withLock { state in
      guard !state.isFinished, stream.isTerminal, output.isInForeground else {
        return stream.write(text)
      }
      output.write(up(&state) + "\u{1B}[J")
      state.drawn = []
      stream.write(text)
      draw(&state)
    }
  }

  /// Draws the lines for the last time; later output follows them.
  package func finish() {
    state.withLock { state in
      (state.isPaused, state.showsKeys) = (false, false)
      draw(&state, isLast: true)
      state.isFinished = true
      state.clock?.cancel()
      // Each drawing turns the keys on, and this drawing is the last.
      Keys.turnOff()
    }
    Ending.onScreenChange(nil)
  }

  private func pressed(_ key: UInt8) {
    switch key {
    case UInt8(ascii: "q"): return Ending.endByKey()
    case UInt8(ascii: "p"): state.withLock { $0.isPaused.toggle() }
    case UInt8(ascii: "?"): state.withLock { $0.showsKeys.toggle() }
    default: return
    }
    draw()
  }

  private func draw(_ state: inout State, isLast: Bool = false) {
    // In the background, the terminal belongs to another program.
    guard !state.isFinished, output.isInForeground else { return }
    let start = up(&state)
    let size = output.size
    // Leaves the last column free, because some terminals wrap there. The cursor stays below the
    // lines.
    if !state.isPaused { state.last = lines(size) }
    if !isLast, !state.last.isEmpty { Keys.turnOn { [weak self] in self?.pressed($0) } }
    let notes =
      (state.isPaused ? ["paused; p continues"] : [])
      + (state.showsKeys
        ? Self.wrapped("q ends, p pauses and continues, ? hides this line", in: size) : [])
    let shown = (state.last.prefix(max(1, size.rows - 1 - notes.count)) + notes).map {
      $0.cut(to: max(1, size.columns - 1))
    }
    // Clears each line to its end, and the screen below the lines.
    output.write(start + shown.map { "\($0)\u{1B}[K\n" }.joined() + "\u{1B}[J")
    // A line with sequences of colours counts more columns than it shows, so the width is the
    // limit.
    state.drawn = shown.map { min($0.columns, max(1, size.columns - 1)) }
  }

  /// Returns the sequence that moves the cursor up to the first line on the screen.
  private func up(_ state: inout State) -> String {
    if Signals.wasStopped() { state.drawn = [] }
    guard !state.drawn.isEmpty else { return "\r" }
    // The terminal has wrapped lines that are now too long, so the screen is cleared.
    if state.drawn.contains(where: { $0 > output.size.columns }) { return "\u{1B}[H\u{1B}[2J" }
    return "\r\u{1B}[\(state.drawn.count)A"
  }
}
