// SPDX-License-Identifier: Apache-2.0
internal import System
internal import Logging
internal import UCI
internal import UWBLink

/// Sends commands, one at a time in the order of the calls, and keeps what the chip reports of its
/// states.
///
/// A thread of the link's writes; `receive` runs on the reader thread and resumes the callers. The
/// lock is taken for control messages only, never for a measurement.
final class CommandEngine: Sendable {
  /// What the chip has said about its states so far.
  struct ChipState {
    var device: DeviceState?
    /// How often READY was reported; a reset waits for one more.
    var readyCount = 0
    /// `readyCount` when the last response arrived.
    var readyAtResponse = 0
    /// Last reported state of each session, by token.
    var sessions: [UInt32: SessionStatusNotification] = [:]
    /// Those that range no longer, while their streams are being told: who has stopped one may start it
    /// again only then.
    var endingSessions: Set<UInt32> = []
    /// How often the controlees of a session were reported on, and the last report.
    var multicast: [UInt32: (count: Int, last: MulticastListNotification)] = [:]
    /// What is known of the data of sessions that range, by token.
    var data: [UInt32: DataState] = [:]
  }

  /// What the chip has said about the data of a session.
  struct DataState {
    /// One segment may be sent. One credit is there as soon as a session ranges.
    var hasCredit = true
    /// The last reports, oldest first.
    var reports: [DataTransferStatusNotification] = []

    mutating func add(_ report: DataTransferStatusNotification) {
      if reports.count == 16 { reports.removeFirst() }
      reports.append(report)
    }
  }

  /// Sessions of which states are kept: more than any chip has, and no more than a chip that makes
  /// tokens up can fill memory with.
  static let sessionLimit = 64

  /// Who sends: while a device is being recovered, only the recovery may.
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
  }

  struct Waiter {
    var condition: @Sendable (ChipState) -> Bool
    var continuation: CheckedContinuation<Result<ChipState?, DriverError>, Never>
  }

  struct State {
    var nextID: UInt64 = 0
    var chip = ChipState()
    var outstanding: Outstanding?
    var waiters: [UInt64: Waiter] = [:]
    /// The data segment sent last, while the chip may still ask for it again, and how often it did.
    var segment: (packet: [UInt8], resends: Int)?
    var end: DriverError?
    /// Set while the device is being recovered.
    var interruption: DriverError?
    var profile = DeviceProfile.generic
    var dialect = Dialect.assumed
    var link: Link?
    /// Of the links before this one.
    var statistics = LinkStatistics.none
    /// A reset is under way: the chip may report whatever states it likes.
    var isResetting = false
    var responses = OutstandingResponses()
  }

  let logger: Logger
  let state: Locked<State>
  /// One command at a time, and one data message, whose segments nothing else may come between.
  let commandMutex = AsyncMutex()
  let dataMutex = AsyncMutex()
  let tap: UWBDevice.PacketTap?
  let report: @Sendable (DeviceEvent) -> Void
  let callbacks: Callbacks

  /// What the engine sees first and others have to act on. Called on the reader thread.
  struct Callbacks: Sendable {
    /// The chip has lost its sessions.
    var deviceLost: @Sendable (DriverError) -> Void = { _ in }
    /// The chip may have lost its sessions; asking would tell.
    var stateSuspect: @Sendable () -> Void = {}
    var dataReceived: @Sendable (DataMessageReceived) -> Void = { _ in }
  }

  init(
    link: Link, logger: Logger, tap: UWBDevice.PacketTap? = nil, callbacks: Callbacks = Callbacks(),
    report: @escaping @Sendable (DeviceEvent) -> Void
  ) {
    state = Locked(State(link: link))
    self.logger = logger
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

  /// Continues with another link, or with none for now. Responses that were outstanding on the old one never come.
  func attach(_ link: Link?) {
    state.withLock { state in
      if let old = state.link { state.statistics = state.statistics + old.statistics }
      state.link = state.end == nil ? link : nil
      state.responses = OutstandingResponses()
      state.chip.device = nil
    }
  }

  // MARK: interruptions and the end

  /// Fails everything that waits, and whatever callers ask until `resume`; forgets what the chip
  /// has said.
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

  /// Why callers may not send for now; nil: they may.
  var interruption: DriverError? { state.withLock { $0.interruption } }

  /// Why nothing can be sent any more; nil: it can.
  var ended: DriverError? { state.withLock { $0.end } }

  /// Callers may send again.
  func resume() { state.withLock { $0.interruption = nil } }

  /// Fails everything that waits, now and later.
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

// The states of the chip and its sessions, as it reports them, and waiting for one.
extension CommandEngine {
  /// Whether the chip last reported that a session ranges.
  func isActive(_ token: UInt32) -> Bool {
    state.withLock { $0.chip.sessions[token]?.state == .active }
  }

  /// Whether the chip has reported that session, and not its end.
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

  /// Waits until the chip's states meet a condition; nil after `milliseconds`.
  func wait(
    milliseconds: Int, until condition: @escaping @Sendable (ChipState) -> Bool
  ) async throws(DriverError) -> ChipState? {
    let id = newID()
    var stopTimer: (@Sendable () -> Void)?
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
      stopTimer = OneShotTimer.start(.milliseconds(milliseconds)) { [weak self] in
        let waiter = self?.state.withLock { $0.waiters.removeValue(forKey: id) }
        waiter?.continuation.resume(returning: .success(nil))
      }
    }
    stopTimer?()
    return try result.get()
  }

  /// Forgets a session whose end was seen, so that the map does not grow.
  func forget(_ token: UInt32) {
    state.withLock {
      $0.chip.sessions[token] = nil
      $0.chip.multicast[token] = nil
      $0.chip.data[token] = nil
    }
  }

  /// Why a session ended last says nothing of what comes now.
  func forgetCause(_ token: UInt32) {
    state.withLock { $0.chip.sessions[token]?.reason = .managementCommand }
  }

  /// The chip may report READY and lose its sessions without that being news, until the next call.
  func expectReset(_ isResetting: Bool) { state.withLock { $0.isResetting = isResetting } }
}
