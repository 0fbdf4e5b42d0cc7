// SPDX-License-Identifier: Apache-2.0

import Glibc
import System
import Synchronization
import SystemPackage

/// Lines at the end of a terminal's output that are drawn over themselves, such as a table.
///
/// They are drawn again each second, when the window changes its size, and after Ctrl-Z and `fg`.
/// Nothing else may write to the terminal meanwhile, except through `write`.
final class LiveLines: Sendable {
  private struct State {
    /// The widths of the lines on the screen, above the cursor.
    var drawn: [Int] = []
    var isFinished = false
    var clock: Task<Void, Never>?
  }

  private let output: Output
  private let state = Mutex(State())
  private let lines: @Sendable (Output.Size) -> [String]

  /// - Parameter lines: the lines to show now; what does not fit into the size is cut off. Any thread.
  init(on output: Output = standardOutput, _ lines: @escaping @Sendable (Output.Size) -> [String]) {
    self.output = output
    self.lines = lines
    Ending.onScreenChange { [weak self] in self?.draw() }
    let clock = Task { [weak self] in
      while (try? await Task.sleep(for: .seconds(1))) != nil { self?.draw() }
    }
    state.withLock { $0.clock = clock }
  }

  deinit { state.withLock { $0.clock }?.cancel() }

  /// Draws the lines as they are now.
  func draw() { state.withLock { draw(&$0) } }

  /// Writes a text, which ends with a line end, above the lines.
  ///
  /// - Parameter stream: where the text goes.
  func write(_ text: String, to stream: Output) {
    state.withLock { state in
      guard !state.isFinished, stream.isTerminal, !Self.isInBackground(output) else {
        return stream.write(text)
      }
      output.write(up(&state) + "\u{1B}[J")
      state.drawn = []
      stream.write(text)
      draw(&state)
    }
  }

  /// Draws the lines for the last time; what is written later follows them.
  func finish() {
    state.withLock { state in
      draw(&state)
      state.isFinished = true
      state.clock?.cancel()
    }
    Ending.onScreenChange(nil)
  }

  private func draw(_ state: inout State) {
    // In the background the terminal belongs to another program.
    guard !state.isFinished, !Self.isInBackground(output) else { return }
    let start = up(&state)
    let size = output.size
    // Not in the last column, where some terminals wrap at once; the cursor stays below the lines.
    let shown = lines(size).prefix(max(1, size.rows - 1)).map {
      String($0.prefix(max(1, size.columns - 1)))
    }
    // Each line cleared to its end, and what was below.
    output.write(start + shown.map { "\($0)\u{1B}[K\n" }.joined() + "\u{1B}[J")
    state.drawn = shown.map(\.count)
  }

  /// What moves the cursor up to the first line on the screen.
  private func up(_ state: inout State) -> String {
    if Signals.wasStopped() { state.drawn = [] }
    guard !state.drawn.isEmpty else { return "\r" }
    // Nobody knows how a terminal rearranges lines that have become too long for it.
    if state.drawn.contains(where: { $0 > output.size.columns }) { return "\u{1B}[H\u{1B}[2J" }
    return "\r\u{1B}[\(state.drawn.count)A"
  }

  private static func isInBackground(_ output: Output) -> Bool {
    let group = tcgetpgrp(output.descriptor.rawValue)
    return group >= 0 && group != getpgrp()
  }
}
