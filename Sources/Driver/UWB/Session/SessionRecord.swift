// SPDX-License-Identifier: Apache-2.0
internal import System
internal import UCI

/// What the driver knows of a session: what the caller asked for, apart from what the chip calls it.
///
/// It outlives the chip's own session, so that the session can be built again.
final class SessionRecord: Sendable {
  let configuration: SessionConfiguration
  /// What an NXP chip makes the session from instead, parameters included.
  let profile: NXPSetProfile?

  private struct State {
    /// What the chip calls it, or called it last.
    var token: UInt32
    var isOnChip = false
    /// Nothing follows on it: it was closed, or is lost for good.
    var isOver = false
    /// It was ranging when it was lost, and is to range again.
    var shouldResume = false
    /// It was stopped from here.
    var isStopped = false
    /// Why it stopped ranging otherwise.
    var end: SessionStatusNotification?
    /// The controlees now, in the order in which they were added; nil while they have not been changed.
    var controlees: [UpdateMulticastList.Controlee]?
    /// Parameters changed since, the last value of each: before the start, and while ranging.
    var changes: [TLV] = []
    var changesWhileRanging: [TLV] = []
    /// Of the next data message.
    var dataNumber: UInt16 = 0
  }

  private let state: Locked<State>
  private let subscribers = Broadcast<ReceivedData>()
  /// Held while the session is being stopped.
  let stopping = AsyncMutex()

  init(configuration: SessionConfiguration, profile: NXPSetProfile? = nil) {
    self.configuration = configuration
    self.profile = profile
    state = Locked(State(token: configuration.sessionID))
  }

  // MARK: on the chip

  var token: UInt32 { state.withLock { $0.token } }
  var isOnChip: Bool { state.withLock { $0.isOnChip } }
  /// What the chip calls it now; nil when the chip does not have it.
  var tokenOnChip: UInt32? { state.withLock { $0.isOnChip ? $0.token : nil } }
  var isOver: Bool { state.withLock { $0.isOver } }
  var shouldResume: Bool { state.withLock { $0.shouldResume } }

  func assign(token: UInt32) {
    state.withLock {
      $0.token = token
      $0.isOnChip = true
    }
  }

  func markOver() { state.withLock { $0.isOver = true } }

  func markRemoved() { state.withLock { $0.isOnChip = false } }

  /// The chip has lost it.
  func markLost(wasRanging: Bool) {
    state.withLock {
      $0.isOnChip = false
      $0.shouldResume = $0.shouldResume || wasRanging
    }
  }

  /// It ranges again, or need not any more. Returns whether it was to.
  @discardableResult
  func cancelResume() -> Bool {
    state.withLock { state in
      defer { state.shouldResume = false }
      return state.shouldResume
    }
  }

  // MARK: the end of ranging

  func willStart() {
    state.withLock {
      $0.isStopped = false
      $0.end = nil
    }
  }

  func willStop() { state.withLock { $0.isStopped = true } }

  /// The chip has reported that it no longer ranges.
  func rangingEnded(_ status: SessionStatusNotification) {
    state.withLock { if !$0.isStopped { $0.end = status } }
  }

  /// How ranging ended that was not stopped from here.
  var unexpectedEnd: SessionStatusNotification? { state.withLock { $0.end } }

  // MARK: data

  func nextDataNumber() -> UInt16 {
    state.withLock { state in
      defer { state.dataNumber &+= 1 }
      return state.dataNumber
    }
  }

  func receivedData(_ capacity: Int) -> AsyncStream<ReceivedData> {
    subscribers.subscribe(.bufferingOldest(capacity))
  }

  /// Whether a subscriber was too slow for it.
  func receive(_ data: ReceivedData) -> Bool { subscribers.send(data) }

  func finishData() { subscribers.finish() }

  // MARK: what was changed since it was made

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

  /// The chip has taken parameters.
  func change(_ parameters: [TLV], whileRanging: Bool) {
    state.withLock { state in
      let ids = Set(parameters.map(\.id))
      state.changes.removeAll { ids.contains($0.id) }
      state.changesWhileRanging.removeAll { ids.contains($0.id) }
      if whileRanging {
        state.changesWhileRanging += parameters
      } else {
        state.changes += parameters
      }
    }
  }

  /// Parameters that could only be changed while ranging.
  var changesWhileRanging: [TLV] { state.withLock { $0.changesWhileRanging } }

  /// Controlees with keys of their own: these can only be added one by one.
  var keyedControlees: [UpdateMulticastList.Controlee] { controlees.filter { !$0.key.isEmpty } }

  /// What to configure the session with, changes included, in an order that strict parsers accept.
  func parameters(for generation: Dialect.Generation) -> [TLV] {
    var list = configuration.parameters(for: generation)
    let (changes, controlees) = state.withLock { ($0.changes, $0.controlees) }
    for change in changes {
      if let place = list.firstIndex(where: { $0.id == change.id }) {
        list[place] = change
      } else {
        list.append(change)
      }
    }
    if let plain = controlees?.filter(\.key.isEmpty), !plain.isEmpty {
      for (id, value) in [
        (UInt8(0x05), [UInt8(clamping: plain.count)]),  // NUMBER_OF_CONTROLEES
        (0x07, plain.flatMap { MACAddress($0.address).bytes }),  // DST_MAC_ADDRESS
      ] {
        if let place = list.firstIndex(where: { $0.id == id }) { list[place] = TLV(id, value) }
      }
    }
    return list
  }
}
