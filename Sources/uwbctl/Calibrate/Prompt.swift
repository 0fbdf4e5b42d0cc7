// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Synchronization

/// Questions on standard error, answers from standard input. Unlike `readLine` it does not hold up
/// a task that is cancelled.
final class Prompt: Sendable {
  private struct State {
    var lines: [String] = []
    var isEnded = false
    var waiting: CheckedContinuation<String?, any Error>?
  }
  private let state = Mutex(State())

  /// The only one, because one thread reads: it begins when this is used for the first time.
  static let shared = Prompt()

  private init() {
    // A thread of its own, which waits for a line until the program ends.
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

  /// Asks.
  ///
  /// - Returns: the answer without blanks around it; nil when there will be none any more.
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
    return answer.map { String($0.drop { $0 == " " || $0 == "\t" || $0 == "\r" }) }
      .map { text in
        var text = text
        while let last = text.last, last.isWhitespace { text.removeLast() }
        return text
      }
  }
}
