// SPDX-License-Identifier: Apache-2.0

internal import Dispatch
internal import Synchronization

/// Writes text on its own thread to an output that may be slow or blocked.
///
/// A full queue drops its oldest texts and counts their lines, so that the loop never waits for a
/// reader.
package final class OutputQueue: Sendable {
  fileprivate struct State {
    var parts: [String] = []
    var octets = 0
    var dropped = 0
    /// The number of lines in the text that is being written.
    var inWriting = 0
    var isWriting = false
    var failure: SinkFailure?
  }

  private let bound: Int
  private let write: @Sendable (String) throws(SinkFailure) -> Void
  private let state = Mutex(State())
  private let queue = DispatchQueue(label: "output")
  private let writing = DispatchGroup()

  /// - Parameters:
  ///   - bound: The greatest number of bytes that wait.
  ///   - write: Writes a text, and may block its thread.
  package init(
    bound: Int = 4 << 20, write: @escaping @Sendable (String) throws(SinkFailure) -> Void
  ) {
    (self.bound, self.write) = (bound, write)
  }

  /// The number of lines that were dropped.
  package var dropped: Int { state.withLock(\.dropped) }

  /// Adds a text, which is written soon after.
  ///
  /// - Throws: the failure of an earlier text.
  package func add(_ text: String) throws(SinkFailure) {
    let (failure, isIdle) = state.withLock { state in
      guard state.failure == nil else { return (state.failure, false) }
      state.parts.append(text)
      state.octets += text.utf8.count
      while state.octets > bound, state.parts.count > 1 { state.drop() }
      defer { state.isWriting = true }
      return (nil, !state.isWriting)
    }
    if let failure { throw failure }
    guard isIdle else { return }
    writing.enter()
    queue.async { [self] in drain() }
  }

  /// Waits for the last texts to be written, at most for some seconds.
  package func finish(within seconds: Double = 1) throws(SinkFailure) {
    let isWritten = writing.wait(timeout: .now() + seconds) == .success
    let failure = state.withLock { state in
      while !isWritten, !state.parts.isEmpty { state.drop() }
      if !isWritten { (state.dropped, state.inWriting) = (state.dropped + state.inWriting, 0) }
      return state.failure
    }
    if let failure { throw failure }
  }

  private func drain() {
    while let text = state.withLock({ $0.next() }) {
      do throws(SinkFailure) { try write(text) } catch {
        state.withLock { $0.failure = error }
      }
    }
    writing.leave()
  }
}

extension OutputQueue.State {
  mutating func drop() {
    let part = parts.removeFirst()
    octets -= part.utf8.count
    dropped += part.utf8.count { $0 == UInt8(ascii: "\n") }
  }

  /// Removes and returns all waiting text; nil if there is none, and after a failure.
  mutating func next() -> String? {
    inWriting = 0
    guard failure == nil, !parts.isEmpty else {
      isWriting = false
      return nil
    }
    defer { (parts, octets) = ([], 0) }
    let text = parts.joined()
    inWriting = text.utf8.count { $0 == UInt8(ascii: "\n") }
    return text
  }
}
