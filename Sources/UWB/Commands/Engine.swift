// SPDX-License-Identifier: Apache-2.0
internal import Locking
internal import Logging
internal import UCI
internal import UWBLink

/// Commands out, answers and states in: one command outstanding, in the order of asking.
///
/// Callers write from their own thread; `receive` runs on the reader's thread and resumes them. The
/// lock is taken for control messages only, never for a measurement.
final class Engine: Sendable {
  /// What the chip has said about its states so far.
  struct ChipState {
    var device: DeviceState?
    /// How often READY was reported; a reset waits for one more.
    var readyCount = 0
    /// `readyCount` when the last response arrived.
    var readyAtResponse = 0
    /// Last reported state of each session, by token.
    var sessions: [UInt32: SessionStatusNotification] = [:]
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

  /// Who sends: while a device is being recovered, nobody but the recovery may.
  enum Sender { case caller, recovery }

  /// What became of one attempt.
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
    var statistics = Link.Statistics.none
    /// A reset is under way: the chip may report whatever states it likes.
    var isResetting = false
    var debts = Debts()
  }

  let logger: Logger
  let state: Locked<State>
  /// One command at a time, and one data message, whose segments nothing else may come between.
  let commandTurns = Turnstile()
  let dataTurns = Turnstile()
  let tap: UWBDevice.PacketTap?
  let report: @Sendable (DeviceEvent) -> Void
  let alarm: Alarm

  /// What the engine sees first and others have to act on. Called on the reader's thread.
  struct Alarm: Sendable {
    /// The chip has lost its sessions.
    var lost: @Sendable (DriverError) -> Void = { _ in }
    /// The chip may have lost its sessions; asking would tell.
    var doubtful: @Sendable () -> Void = {}
    /// Data has come from a peer.
    var data: @Sendable (DataMessageReceived) -> Void = { _ in }
  }

  init(
    link: Link, logger: Logger, tap: UWBDevice.PacketTap? = nil, alarm: Alarm = Alarm(),
    report: @escaping @Sendable (DeviceEvent) -> Void
  ) {
    state = Locked(State(link: link))
    self.logger = logger
    self.tap = tap
    self.alarm = alarm
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

  var statistics: Link.Statistics {
    state.withLock { state in
      state.link.map { state.statistics + $0.statistics } ?? state.statistics
    }
  }

  var hasLink: Bool { state.withLock { $0.link != nil } }

  /// Goes on with another link, or with none for now. What the chip owed on the old one is settled.
  func attach(_ link: Link?) {
    state.withLock { state in
      if let old = state.link { state.statistics = state.statistics + old.statistics }
      state.link = state.end == nil ? link : nil
      state.debts = Debts()
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
    if let outstanding = state.outstanding { state.debts.add(outstanding.request.opcode) }
    return (state.outstanding.take(), Array(state.waiters.values))
  }

  private static func fail(_ outstanding: Outstanding?, _ waiters: [Waiter], _ error: DriverError) {
    outstanding?.continuation.resume(returning: .failure(error))
    for waiter in waiters { waiter.continuation.resume(returning: .failure(error)) }
  }
}
