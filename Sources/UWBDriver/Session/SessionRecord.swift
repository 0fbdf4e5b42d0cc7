// SPDX-License-Identifier: Apache-2.0
internal import Locking
internal import UCI

/// What the driver knows of a session: what the caller asked for, apart from what the chip calls it.
///
/// It outlives the chip's own session, so that the session can be built anew.
final class SessionRecord: Sendable {
  /// What the session was made with.
  let configuration: SessionConfiguration

  struct State {
    /// What the chip calls it.
    var token: UInt32
    /// The controlees now, in the order in which they were added; nil while nobody has changed them.
    var controlees: [UpdateMulticastList.Controlee]?
  }

  let state: Locked<State>

  init(configuration: SessionConfiguration, token: UInt32) {
    self.configuration = configuration
    state = Locked(State(token: token))
  }

  var token: UInt32 { state.withLock { $0.token } }

  /// The controlees as configured and changed since.
  var controlees: [UpdateMulticastList.Controlee] {
    state.withLock { $0.controlees ?? configured }
  }

  private var configured: [UpdateMulticastList.Controlee] {
    configuration.peers.filter { !$0.isExtended }.map {
      UpdateMulticastList.Controlee(address: UInt16(truncatingIfNeeded: $0.value))
    }
  }

  /// The chip has carried out a change.
  func changeControlees(add added: [UpdateMulticastList.Controlee], remove removed: Set<UInt16>) {
    state.withLock { state in
      var list = state.controlees ?? configured
      list.removeAll { old in
        removed.contains(old.address) || added.contains { $0.address == old.address }
      }
      state.controlees = list + added
    }
  }
}
