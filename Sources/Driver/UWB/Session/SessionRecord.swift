// SPDX-License-Identifier: Apache-2.0
internal import System
internal import UCI

/// The driver's record of a session, which is independent of the chip's token.
///
/// It exists longer than the session on the chip, so that the session can be created again.
final class SessionRecord: Sendable {
  let configuration: SessionConfiguration
  /// The data from which an NXP chip creates the session, including its parameters; nil otherwise.
  let profile: NXPSetProfile?

  private enum End {
    case none
    /// This program stopped ranging.
    case requested
    /// The chip or the peer ended ranging.
    case unexpected(SessionStatusNotification)
  }

  private struct State {
    /// The token of the session on the chip; without a session there, its last token.
    var token: UInt32
    var isOnChip = false
    /// Whether the session has ended permanently: it was closed, or is lost.
    var isOver = false
    /// Whether the session was ranging when the device was lost, and has to range again.
    var shouldResume = false
    /// The reason why the session last stopped ranging.
    var end = End.none
    /// The current controlees in the order of addition; nil while the list has not been changed.
    var controlees: [UpdateMulticastList.Controlee]?
    /// The changes of parameters, with the last value of each: before the start, and while ranging.
    var changes: [TLV] = []
    var changesWhileRanging: [TLV] = []
    /// The number of the next data message.
    var dataNumber: UInt16 = 0
  }

  private let state: Locked<State>
  private let subscribers = Broadcast<ReceivedData>()
  /// A mutex that is held while the session is being stopped.
  let stopping = AsyncMutex()

  init(configuration: SessionConfiguration, profile: NXPSetProfile? = nil) {
    self.configuration = configuration
    self.profile = profile
    state = Locked(State(token: configuration.sessionID))
  }

  // MARK: on the chip

  var token: UInt32 { state.withLock { $0.token } }
  var isOnChip: Bool { state.withLock { $0.isOnChip } }
  /// The token on the chip; nil if the chip does not have the session.
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

  /// Records that the chip has lost the session.
  func markLost(wasRanging: Bool) {
    state.withLock {
      $0.isOnChip = false
      $0.shouldResume = $0.shouldResume || wasRanging
    }
  }

  /// Records that the session ranges again, or does not have to. Returns whether it had to range
  /// again.
  @discardableResult
  func cancelResume() -> Bool {
    state.withLock { state in
      defer { state.shouldResume = false }
      return state.shouldResume
    }
  }

  // MARK: the end of ranging

  func willStart() { state.withLock { $0.end = .none } }

  /// Records that this program stops ranging. An earlier end is not replaced.
  func willStop() { state.withLock { if case .none = $0.end { $0.end = .requested } } }

  /// Records the chip's report that the session no longer ranges.
  func rangingEnded(_ status: SessionStatusNotification) {
    state.withLock { state in
      if case .requested = state.end { return }
      state.end = .unexpected(status)
    }
  }

  /// The error of an end of ranging that this program did not request; nil otherwise.
  var unexpectedEnd: DriverError? {
    guard case .unexpected(let status) = state.withLock({ $0.end }) else { return nil }
    return .sessionEnded(status.state, status.reason)
  }

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

  /// Delivers data to subscribers. Returns whether one of them was too slow.
  func receive(_ data: ReceivedData) -> Bool { subscribers.send(data) }

  func finishData() { subscribers.finish() }

  // MARK: changes since the session was created

  /// The controlees of the configuration, with later changes.
  var controlees: [UpdateMulticastList.Controlee] {
    state.withLock { $0.controlees ?? configured }
  }

  private var configured: [UpdateMulticastList.Controlee] {
    configuration.peers.filter { !$0.isExtended }.map {
      UpdateMulticastList.Controlee(address: UInt16(truncatingIfNeeded: $0.value))
    }
  }

  /// Records a change of the controlees that the chip has carried out.
  func changeControlees(add added: [UpdateMulticastList.Controlee], remove removed: Set<UInt16>) {
    state.withLock { state in
      var list = state.controlees ?? configured
      list.removeAll { old in
        removed.contains(old.address) || added.contains { $0.address == old.address }
      }
      state.controlees = list + added
    }
  }

  /// Records parameters that the chip has accepted.
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

  /// The changes of parameters that were made while the session was ranging.
  var changesWhileRanging: [TLV] { state.withLock { $0.changesWhileRanging } }

  /// The controlees with individual keys, which can only be added one by one.
  var keyedControlees: [UpdateMulticastList.Controlee] { controlees.filter { !$0.key.isEmpty } }

  /// Returns the parameters for configuring the session, including changes, in an order that strict
  /// parsers accept.
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
      for parameter in [
        TLV(.numberOfControlees, [UInt8(clamping: plain.count)]),
        TLV(.dstMACAddress, plain.flatMap { MACAddress($0.address).bytes }),
      ] {
        if let index = list.firstIndex(where: { $0.id == parameter.id }) { list[index] = parameter }
      }
    }
    return list
  }
}
