// SPDX-License-Identifier: Apache-2.0
import ChipSharing
import Formats
import Glibc
import Logging
import System
import UCI
import UWB
import UWBLink
import Varlink

/// A chip that the service owns for its whole life. The service opens the chip when the chip is
/// present, and again after a loss.
@ServiceActor final class SharedChip {
  /// The name of the chip, as on the command line.
  nonisolated let name: String
  private let endpoint: LinkEndpoint
  private let options: UWBDevice.Options
  private let port: (store: any PortKeeper, name: String)?
  let calibration: ChipCalibration?
  private(set) var phase = Phase.closed {
    didSet { phaseChanged(from: oldValue) }
  }
  var sessions: [UInt32: SharedSession] = [:]
  /// Nil until the chip has been present.
  private(set) var identity: ChipIdentity?
  /// The path of the device without symbolic links, or the endpoint's name.
  var place: String? { identity?.place }
  /// The family of the chip; nil until it has been open.
  private(set) var model: String?
  private weak var observer: (any ChipObserver)?
  /// The profiles of the sessions that the service holds for itself.
  var own: [(file: String, text: [UInt8])] = []
  var files: [String] { own.map(\.file) }
  /// The problems last logged, by file.
  var problems: [String: String] = [:]
  var needsOwn = false
  var starting: Task<Void, Never>?
  /// The gate for notifications to the clients that speak UCI with the chip.
  private let gate = Locked(NotificationGate())
  /// The notification whose next segment is still to come.
  private var unfinished: (opcode: Opcode, token: UInt32)?
  private var run: Task<Void, Never>?
  /// The calls that wait until the chip is open.
  private var waiting: [CheckedContinuation<Void, Never>] = []
  private var patience: Task<Void, Never>?
  let logger: Logger
  /// The clock of all time limits. Only pauses between attempts follow the real time.
  let clock: AlarmClock

  /// The connection state of a chip.
  enum Phase {
    /// The service has not started or has stopped.
    case closed
    /// The service is opening the chip. The value is the error of the previous attempt.
    case opening(DriverError?)
    case open(UWBDevice)
    /// The chip was lost. The device waits for its return to resume the sessions.
    case lost(UWBDevice, DriverError)
    /// The attempt to open the chip failed; another one follows.
    case failed(DriverError)
    /// The service has closed the chip for a client that borrows it.
    case lent(Borrower)
  }

  /// The pauses between attempts to open the chip; the last one repeats.
  static let pauses: [Duration] = [
    .milliseconds(20), .milliseconds(100), .milliseconds(500), .seconds(1), .seconds(2),
    .seconds(4),
  ]
  /// The longest time that calls wait for a chip that is being opened.
  private static let longestWait = Duration.seconds(10)
  /// The time for which sessions wait for disconnected clients after the chip has returned.
  private static let returnTime = Duration.seconds(10)

  /// Creates a closed chip.
  ///
  /// - Parameters:
  ///   - port: The store that keeps the chip's port open if the service crashes.
  ///   - observer: Receives the chip's events. The chip does not keep it alive.
  init(
    _ endpoint: LinkEndpoint, name: String, port: (store: any PortKeeper, name: String)?,
    calibration: ChipCalibration? = nil, _ observer: (any ChipObserver)?,
    clock: AlarmClock = .system, logger: Logger
  ) {
    (self.endpoint, self.name, self.port) = (endpoint, name, port)
    self.calibration = calibration
    (self.observer, self.clock) = (observer, clock)
    var logger = logger
    logger[metadataKey: "chip"] = "\(printable(name))"
    self.logger = logger
    var options = UWBDevice.Options(logger: logger, recovery: RecoveryPolicy())
    // Only programs other than the service open the chip through a service.
    options.usesService = false
    self.options = options
  }

  /// A client with exclusive use of a chip.
  struct Borrower {
    var user: PeerCredentials
    /// The purpose of the loan, for users.
    var reason: String
    /// The start of the loan in nanoseconds of CLOCK_REALTIME.
    var since = nanoseconds(of: CLOCK_REALTIME)

    /// The loan as clients see it.
    var shown: Chips.Borrower {
      Chips.Borrower(user.shown, reason: reason, since: Int64(since / 1_000))
    }
  }

  /// Ends the chip's sessions, and closes the chip for a client that borrows it.
  func lend(to borrower: Borrower) {
    phase = .lent(borrower)
    logger.notice(
      "lent",
      metadata: JournalMessage.chipLent.metadata([
        "pid": "\(borrower.user.pid)", "for": "\(printable(borrower.reason))",
      ]))
    run?.cancel()
  }

  func waitUntilClosed() async { await run?.value }

  /// Opens the chip again after a loan.
  func takeBack() {
    if case .lent = phase { start() }
  }

  /// Opens the chip, and keeps it open until `stop` or a loan.
  func start() {
    phase = .opening(nil)
    var options = options
    options.tap = { [weak self, gate] direction, packet, _ in
      guard direction == .inbound, gate.withLock({ $0.passes(packet) }), let self else { return }
      let bytes = unsafe packet.withUnsafeBytes { unsafe Array($0) }
      ServiceActor.atOnceOrLater { self.relay(bytes) }
    }
    run = Task { [options, endpoint, before = run] in
      await before?.value
      await self.findPlace()
      var attempts = 0
      while !Task.isCancelled {
        do throws(DriverError) {
          let device = try await UWBDevice.open(endpoint, options: options)
          attempts = 0
          await use(device)
          // A chip that disappeared is reported as gone, unlike a lent or stopped one.
          if !endpoint.canReturn, !Task.isCancelled {
            throw .link(LinkError(.deviceGone, endpoint: name))
          }
        } catch {
          noteProblem(error)
          let isGone = [.notFound, .deviceGone].contains(error.linkError?.code)
          if isGone, !endpoint.canReturn { return }
        }
        try? await Task.sleep(for: Self.pauses[min(attempts, Self.pauses.count - 1)])
        attempts += 1
      }
    }
  }

  /// Ends the chip's sessions, and closes the chip.
  func stop() async {
    phase = .closed
    own = []
    starting?.cancel()
    run?.cancel()
    await run?.value
  }

  /// The device, if it is open or waits for the chip to return.
  private var device: UWBDevice? {
    switch phase {
    case .open(let device), .lost(let device, _): device
    case .closed, .opening, .failed, .lent: nil
    }
  }

  /// The client that borrows the chip.
  var borrower: Borrower? {
    if case .lent(let borrower) = phase { borrower } else { nil }
  }

  /// The error that keeps the chip from being used. Nil while it works, is lent or is being opened
  /// for the first time.
  var problem: DriverError? {
    switch phase {
    case .opening(let cause): cause
    case .lost(_, let cause), .failed(let cause): cause
    case .closed, .open, .lent: nil
    }
  }

  /// The reason why the chip cannot be used, for the reply of `List`; nil while it works.
  var problemText: String? {
    switch phase {
    case .open: nil
    case .closed: "The service is stopping."
    case .opening, .lost, .failed: problem?.description ?? "It is being opened."
    case .lent(let borrower): "A program has borrowed it: \(borrower.reason)"
    }
  }

  /// Waits while the service opens the chip, for at most 10 s after the first attempt.
  func waitWhileOpening() async {
    await withCheckedContinuation { call in
      // The opening may have ended before this job runs.
      if isOpening { waiting.append(call) } else { call.resume() }
    }
  }

  /// Whether the chip is being opened, so that calls wait for it.
  var isOpening: Bool {
    if case .opening = phase { patience != nil } else { false }
  }

  private func phaseChanged(from before: Phase) {
    if let event = event(after: before) { observer?.record(event) }
    if case .open = before {
      for session in sessions.values { session.awaitOwners(for: SharedSession.longestOutage) }
      observer?.handle(.unusable(self))
    }
    if case .opening = phase {
      if case .opening = before { return }
      patience?.cancel()
      patience = Task {
        await clock.sleep(for: Self.longestWait)
        if !Task.isCancelled { endWaiting() }
      }
    } else {
      endWaiting()
    }
  }

  private func endWaiting() {
    patience?.cancel()
    patience = nil
    for call in waiting { call.resume() }
    waiting = []
  }

  /// Returns when the chip's reader thread has finished its earlier jobs.
  func waitForReader() async {
    guard let device else { return }
    await Task(executorPreference: device.executor) {}.value
  }

  /// Serves the device until it is lost for good or the task is cancelled.
  private func use(_ device: UWBDevice) async {
    await keepPort()
    if !Task.isCancelled {
      model = device.profile.name
      phase = .open(device)
      logger.notice(
        "open", metadata: JournalMessage.chipOpened.metadata(["family": "\(device.profile.name)"]))
      keepOwn()
    }
    for await event in device.events {
      switch event {
      case .lost(let cause), .notRecovered(let cause): noteProblem(cause)
      case .recovered:
        // The phase changes before anything is awaited, because measurements follow.
        if !Task.isCancelled { phase = .open(device) }
        for session in sessions.values { session.awaitOwners(for: Self.returnTime) }
        logger.notice("back; sessions resumed", metadata: JournalMessage.chipBack.metadata())
        keepOwn()
        await keepPort()
        for session in sessions.values { session.identityChanged() }
      default: break
      }
    }
    if !Task.isCancelled { phase = .opening(nil) }
    let limit = Task {
      await clock.sleep(for: .seconds(5))
      if !Task.isCancelled { await device.close(within: .zero) }
    }
    // Sessions end first, because closing the device does not wait for sessions that other tasks
    // are closing.
    for session in sessions.values {
      session.end("The service closes the chip.")
      await session.waitUntilEnded()
    }
    limit.cancel()
    await device.close(within: .seconds(5))
    if let port { port.store.drop(port.name) }
    if let cause = device.remainingSession {
      logger.error("The chip may still have a session.", metadata: ["cause": "\(cause)"])
    }
  }

  /// Updates the identity if the chip is present, so that calls may name the chip by its path.
  private func findPlace() async {
    guard var found = try? await runBlocking({ [endpoint] in ChipIdentity(of: endpoint) }) else {
      return
    }
    // A chip that was unplugged keeps its names.
    found.device = found.device ?? identity?.device
    found.serial = found.serial ?? identity?.serial
    identity = found
  }

  /// Updates `place`, and stores the port's descriptor with systemd.
  private func keepPort() async {
    await findPlace()
    guard let port, let place else { return }
    try? await runBlocking { port.store.keep(place, as: port.name) }
  }

  // MARK: UCI

  /// Changes the number of clients that speak UCI with the chip.
  func addWatchers(_ count: Int) { gate.withLock { $0.watchers += count } }

  /// Forwards a session's notifications to the client that started the session over UCI. Replaces
  /// the session token with the session ID.
  private func relay(_ packet: [UInt8]) {
    guard let header = try? unsafe PacketHeader(parsing: packet.span.bytes) else { return }
    var packet = packet
    let token: UInt32
    let begins = unfinished?.opcode != header.opcode
    if !begins, let unfinished {
      token = unfinished.token
    } else {
      // Session information begins with a sequence number of four bytes.
      guard
        let offset = [Opcode.sessionInfo: 4, .sessionUpdateMulticastList: 0][header.opcode],
        packet.count >= PacketHeader.length + offset + 4
      else { return }
      let place = PacketHeader.length + offset..<PacketHeader.length + offset + 4
      token = UInt32(littleEndianBytes: packet[place])
      if let id = sessions.values.first(where: { $0.token == token })?.id {
        packet.replaceSubrange(place, with: id.littleEndianBytes)
      }
    }
    unfinished = header.moreFollows ? (header.opcode, token) : nil
    guard let session = sessions.values.first(where: { $0.token == token }) else { return }
    observer?.handle(.notified(session, packet: packet, begins: begins))
  }

  // MARK: events

  /// Returns the event for a change of the phase; nil if clients need not see the change.
  private func event(after before: Phase) -> Chips.Event? {
    switch (before, phase) {
    case (.open, .open): return nil
    case (.lost, .open): return Chips.Event(.chipBack, chip: name)
    case (_, .open): return Chips.Event(.chipOpened, chip: name)
    case (.lost(_, let last), .lost(_, let cause)), (.failed(let last), .failed(let cause)),
      (.opening(.some(let last)), .failed(let cause)):
      guard last != cause else { return nil }
      return Chips.Event(.chipLost, chip: name, reason: cause.description)
    case (_, .lost(_, let cause)), (_, .failed(let cause)):
      return Chips.Event(.chipLost, chip: name, reason: cause.description)
    case (_, .lent(let borrower)):
      return Chips.Event(
        .chipBorrowed, chip: name, user: borrower.user.shown, reason: borrower.reason)
    case (.lent, .opening): return Chips.Event(.chipReturned, chip: name)
    case (_, .opening), (_, .closed): return nil
    }
  }

  var listeners: Listeners { observer?.listeners ?? Listeners() }
  /// The number of the last event of the service.
  var lastEvent: Int { observer?.history.last ?? 0 }

  func record(_ event: Chips.Event) { observer?.record(event) }

  /// Returns the origin of the measurements of a session.
  func origin(address: String?) -> Chips.Identity? {
    (observer?.history).map {
      Chips.Identity(run: $0.run, host: $0.host, shown, address: address)
    }
  }

  func publish(_ measurement: PublishedMeasurement) { observer?.handle(.measured(measurement)) }

  func shareChanged(_ session: SharedSession) { observer?.handle(.shareChanged(session)) }

  func sessionEnded(_ session: SharedSession, _ reason: ServiceError) {
    if sessions[session.id] === session { sessions[session.id] = nil }
    record(
      session.event(
        session.token == nil ? .sessionFailed : .sessionEnded, reason: reason.reason,
        counters: session.counters))
    observer?.handle(.ended(session, reason))
    keepOwn()
  }

  /// Records why the chip cannot be used, and logs each new cause.
  private func noteProblem(_ cause: DriverError) {
    // A cancelled task is out of date: the chip was lent or closed, and another task may be opening
    // it.
    guard !Task.isCancelled else { return }
    let before = problem
    switch phase {
    case .closed, .lent: return
    case .open(let device), .lost(let device, _): phase = .lost(device, cause)
    case .opening:
      // A program that has just closed the chip may still hold it while it exits.
      let mayPass = cause.linkError?.code == .busy && patience != nil
      phase = mayPass ? .opening(cause) : .failed(cause)
    case .failed: phase = .failed(cause)
    }
    guard before != cause else { return }
    logger.warning(
      "\(printable(cause.description))", metadata: JournalMessage.chipLost.metadata())
  }
}

/// Decides which packets are passed to the clients that speak UCI with a chip. Runs on the chip's
/// thread.
private struct NotificationGate {
  /// The number of clients that speak UCI with the chip.
  var watchers = 0
  /// The notification whose next segment is still to come.
  private var unfinished: Opcode?
  private var drops = false

  /// Returns whether a packet from the chip is passed. While the service is overloaded, whole
  /// notifications are dropped.
  mutating func passes(_ packet: RawSpan) -> Bool {
    guard watchers > 0, let header = try? PacketHeader(parsing: packet),
      header.type == .notification
    else { return false }
    if unfinished != header.opcode { drops = ServiceActor.isFull }
    unfinished = header.moreFollows ? header.opcode : nil
    return !drops
  }
}
