// SPDX-License-Identifier: Apache-2.0
internal import System

/// The background state of the program, for all sessions that have not ended.
final class ProgramState: Sendable {
  static let shared = ProgramState()

  private struct State {
    var isInBackground = false
    // Weak references would slow down the delivery of each measurement.
    var sessions: [ObjectIdentifier: SessionCore] = [:]
  }
  private let state = Locked(State())

  var isInBackground: Bool {
    get { state.withLock { $0.isInBackground } }
    set {
      let sessions = state.withLock { state in
        state.isInBackground = newValue
        return Array(state.sessions.values)
      }
      // Each session reads the value itself, so that the last value holds if two threads set it.
      for session in sessions { session.programStateChanged() }
    }
  }

  func add(_ core: SessionCore) {
    state.withLock { $0.sessions[ObjectIdentifier(core)] = core }
  }

  func remove(_ core: SessionCore) {
    state.withLock { $0.sessions[ObjectIdentifier(core)] = nil }
  }
}
