// SPDX-License-Identifier: Apache-2.0
internal import System
internal import Logging
internal import UCI
internal import UWBLink

/// Sends commands, one at a time in the order of the calls, and stores the states that the chip
/// reports.
///
/// A thread of the link writes; `receive` runs on the reader thread and resumes the callers. The
/// lock is taken for control messages only, never for a measurement.
final class CommandEngine: Sendable {
  /// The states that the chip has reported.
  struct ChipState {
    var device: DeviceState?
    /// The number of READY reports; a reset waits for one more.
    var readyCount = 0
    /// `readyCount` when the last response arrived.
    var readyAtResponse = 0
    /// Last reported state of each session, by token.
    var sessions: [UInt32: SessionStatusNotification] = [:]
    /// A session that has stopped, and whose streams have not ended yet.
    var ending: UInt32?
    /// The number of reports about the controlees of each session, and the last one.
    var multicast: [UInt32: (count: Int, last: MulticastListNotification)] = [:]
    /// The state of data transfer of ranging sessions, by token.
    var data: [UInt32: DataState] = [:]

    /// Returns whether a session no longer ranges and its streams have ended. The session can then
    /// be started again.
    func hasStopped(_ token: UInt32) -> Bool {
      sessions[token]?.state != .active && ending != token
    }
  }

  /// The chip's reports about the data of a session.
  struct DataState {
    /// Whether one segment may be sent. A session has one credit when it begins to range.
    var hasCredit = true
    /// The last reports, oldest first.
    var reports: [DataTransferStatusNotification] = []

    mutating func add(_ report: DataTransferStatusNotification) {
      if reports.count == 16 { reports.removeFirst() }
      reports.append(report)
    }
  }

  /// The greatest number of sessions with stored states. Chips have fewer sessions, and the limit
  /// protects the memory from reports with invented tokens.
  static let sessionLimit = 64

  /// The sender of a command. Only the recovery may send while a device is being recovered.
  enum Sender { case caller, recovery }

  enum Outcome: Sendable {
    case answer([UInt8])
    case timeout
    case failure(DriverError)
  }

  struct Outstanding {
    var id: UInt64
    var request: Request
    var resends = 0
    var continuation: CheckedContinuation<Outcome, Never>
    /// The timer of the wait. Completing the command releases and thereby cancels it.
    var timer: OneShotTimer?
  }

  struct Waiter {
    var condition: @Sendable (ChipState) -> Bool
    var continuation: CheckedContinuation<Result<ChipState?, DriverError>, Never>
    /// The timer of the wait. Completing the wait releases and thereby cancels it.
    var timer: OneShotTimer?
  }

  struct State {
    var nextID: UInt64 = 0
    var chip = ChipState()
    var outstanding: Outstanding?
    var waiters: [UInt64: Waiter] = [:]
    /// The last data segment, while the chip may still request it again, and the number of resends.
    var segment: (packet: [UInt8], resends: Int)?
    var end: DriverError?
    /// The cause while the device is being recovered.
    var interruption: DriverError?
    var profile = DeviceProfile.generic
    var dialect = Dialect.assumed
    var link: Link?
    /// The statistics of earlier links.
    var statistics = LinkStatistics.none
    /// Whether a reset is in progress, during which the chip may report any state.
    var isResetting = false
    var responses = OutstandingResponses()
  }

  let logger: Logger
  let state: Locked<State>
  /// Mutexes that serialise commands and data messages: nothing may be sent between the segments of
  /// a message.
  let commandMutex = AsyncMutex()
  let dataMutex = AsyncMutex()
  let clock: AlarmClock
  let tap: UWBDevice.PacketTap?
  let report: @Sendable (DeviceEvent) -> Void
  let callbacks: Callbacks

  /// Events that the engine detects first, and that other parts handle. Called on the reader
  /// thread.
  struct Callbacks: Sendable {
    /// The chip has lost its sessions.
    var deviceLost: @Sendable (DriverError) -> Void = { _ in }
    /// The chip may have lost its sessions, which a query would find out.
    var stateSuspect: @Sendable () -> Void = {}
    var dataReceived: @Sendable (DataMessageReceived) -> Void = { _ in }
  }

  init(
    link: Link, logger: Logger, clock: AlarmClock = .system, tap: UWBDevice.PacketTap? = nil,
    callbacks: Callbacks = Callbacks(), report: @escaping @Sendable (DeviceEvent) -> Void
  ) {
    state = Locked(State(link: link))
    self.logger = logger
    self.clock = clock
    self.tap = tap
    self.callbacks = callbacks
    self.report = report
  }

  var chip: ChipState { state.withLock { $0.chip } }
  var dialect: Dialect { state.withLock { $0.dialect } }
  var profile: DeviceProfile { state.withLock { $0.profile } }

  func adopt(_ profile: DeviceProfile, _ dialect: Dialect) {
    state.withLock {
      $0.profile = profile
      $0.dialect = dialect
    }
  }

  func newID() -> UInt64 {
    state.withLock {
      $0.nextID += 1
      return $0.nextID
    }
  }

  // MARK: links

  var statistics: LinkStatistics {
    state.withLock { state in
      state.link.map { state.statistics + $0.statistics } ?? state.statistics
    }
  }

  var hasLink: Bool { state.withLock { $0.link != nil } }

  /// Continues with another link, or without one for now. Responses that are outstanding on the old
  /// link never arrive.
  func attach(_ link: Link?) {
    state.withLock { state in
      if let old = state.link { state.statistics = state.statistics + old.statistics }
      state.link = state.end == nil ? link : nil
      state.responses = OutstandingResponses()
      state.chip.device = nil
    }
  }

  // MARK: interruptions and the end

  /// Fails all waiting calls, and all later calls until `resume`. Discards the reported states.
  func interrupt(_ error: DriverError) {
    let (outstanding, waiters) = state.withLock { state in
      state.interruption = error
      state.chip.sessions = [:]
      state.chip.multicast = [:]
      state.chip.data = [:]
      state.segment = nil
      return Self.takeAll(&state)
    }
    Self.fail(outstanding, waiters, error)
  }

  /// The reason why callers may not send for now; nil if they may.
  var interruption: DriverError? { state.withLock { $0.interruption } }

  /// The reason why nothing can be sent any more; nil if sending is possible.
  var ended: DriverError? { state.withLock { $0.end } }

  /// Allows callers to send again.
  func resume() { state.withLock { $0.interruption = nil } }

  /// Fails all waiting calls, and all later calls.
  func end(_ error: DriverError) {
    let (outstanding, waiters) = state.withLock { state in
      state.end = state.end ?? error
      return Self.takeAll(&state)
    }
    Self.fail(outstanding, waiters, error)
  }

  private static func takeAll(_ state: inout State) -> (Outstanding?, [Waiter]) {
    defer { state.waiters = [:] }
    if let outstanding = state.outstanding { state.responses.add(outstanding.request.opcode) }
    return (state.outstanding.take(), Array(state.waiters.values))
  }

  private static func fail(_ outstanding: Outstanding?, _ waiters: [Waiter], _ error: DriverError) {
    outstanding?.continuation.resume(returning: .failure(error))
    for waiter in waiters { waiter.continuation.resume(returning: .failure(error)) }
  }
}

// The reported states of the chip and its sessions, and waiting for a state.
extension CommandEngine {
  /// Returns whether the chip last reported that a session ranges.
  func isActive(_ token: UInt32) -> Bool {
    state.withLock { $0.chip.sessions[token]?.state == .active }
  }

  /// Returns whether the chip has reported the session and has not reported its end.
  func knows(_ token: UInt32) -> Bool { state.withLock { $0.chip.sessions[token] != nil } }

  func update(_ change: (inout ChipState) -> Void) {
    let (chip, ready) = state.withLock { state in
      change(&state.chip)
      let chip = state.chip
      let ids = state.waiters.filter { $0.value.condition(chip) }.keys
      return (chip, ids.compactMap { state.waiters.removeValue(forKey: $0) })
    }
    for waiter in ready { waiter.continuation.resume(returning: .success(chip)) }
  }

  /// Waits until the chip's states meet a condition. Returns nil after `milliseconds`.
  func wait(
    milliseconds: Int, until condition: @escaping @Sendable (ChipState) -> Bool
  ) async throws(DriverError) -> ChipState? {
    let id = newID()
    let result = await withCheckedContinuation {
      (continuation: CheckedContinuation<Result<ChipState?, DriverError>, Never>) in
      let now: Result<ChipState?, DriverError>? = state.withLock { state in
        if let end = state.end { return .failure(end) }
        if condition(state.chip) { return .success(state.chip) }
        state.waiters[id] = Waiter(condition: condition, continuation: continuation)
        return nil
      }
      if let now {
        continuation.resume(returning: now)
        return
      }
      let timer = clock.timer(.milliseconds(milliseconds)) { [weak self] in
        let waiter = self?.state.withLock { $0.waiters.removeValue(forKey: id) }
        waiter?.continuation.resume(returning: .success(nil))
      }
      state.withLock { $0.waiters[id]?.timer = timer }
    }
    return try result.get()
  }

  /// Removes a session whose end was reported, so that the dictionary does not grow.
  func forget(_ token: UInt32) {
    state.withLock {
      $0.chip.sessions[token] = nil
      $0.chip.multicast[token] = nil
      $0.chip.data[token] = nil
    }
  }

  /// Discards the reason of the session's previous end, which would also be taken for its next end.
  func forgetCause(_ token: UInt32) {
    state.withLock { $0.chip.sessions[token]?.reason = .managementCommand }
  }

  /// Marks the beginning or the end of an expected reset, during which READY and lost sessions are
  /// not reported.
  func expectReset(_ isResetting: Bool) { state.withLock { $0.isResetting = isResetting } }
}
