// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization
import UWBLab

/// Asks on standard error and reads answers from standard input. Unlike with `readLine`, waiting for
/// an answer can be cancelled.
final class Prompt: Sendable {
  private struct State {
    var lines: [String] = []
    var isEnded = false
    var waiting: CheckedContinuation<String?, any Error>?
  }
  private let state = Mutex(State())

  /// The only one, because one thread reads standard input, from the first use on.
  static let shared = Prompt()

  private init() {
    // This thread waits for a line until the program ends.
    DispatchQueue(label: "answers").async { [self] in
      while let line = readLine() { take(line) }
      take(nil)
    }
  }

  private func take(_ line: String?) {
    let waiting = state.withLock { state in
      let waiting = state.waiting
      state.waiting = nil
      if waiting == nil, let line { state.lines.append(line) }
      if line == nil { state.isEnded = true }
      return waiting
    }
    waiting?.resume(returning: line)
  }

  /// Asks for a line.
  ///
  /// - Returns: the answer without surrounding blanks; nil at the end of the input.
  /// - Throws: `CancellationError`.
  func ask(_ question: String) async throws -> String? {
    standardError.write(question)
    let answer = try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let known: Result<String?, any Error>? = state.withLock { state in
          if Task.isCancelled { return .failure(CancellationError()) }
          if !state.lines.isEmpty { return .success(state.lines.removeFirst()) }
          if state.isEnded { return .success(nil) }
          state.waiting = continuation
          return nil
        }
        if let known { continuation.resume(with: known) }
      }
    } onCancel: {
      let waiting = state.withLock { state in
        defer { state.waiting = nil }
        return state.waiting
      }
      waiting?.resume(throwing: CancellationError())
    }
    return answer.map { $0.trimmingPrefix(while: \.isWhitespace) }.map { line in
      String(line.reversed().trimmingPrefix(while: \.isWhitespace).reversed())
    }
  }
}

/// The terminal at which boards are calibrated.
final class TerminalConsole: CalibrationConsole {
  private let shown = Atomic(-1)

  func ask(_ question: String) async throws -> String? { try await Prompt.shared.ask(question) }

  func show(_ text: String) { standardError.write(text) }

  func showProgress(_ label: String, _ count: Int, of total: Int) {
    let step = count * 50 / max(1, total)
    guard standardError.isTerminal, shown.exchange(step, ordering: .relaxed) != step else { return }
    let filled = min(25, step / 2)
    let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: 25 - filled)
    standardError.write("\r  \(label) [\(bar)] \(count) of \(total)")
  }

  func clearProgress() {
    shown.store(-1, ordering: .relaxed)
    if standardError.isTerminal { standardError.write("\r\u{1B}[K") }
  }
}
