// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import System
import Logging
import UCI
import UWB
import UWBLab
import UWBLink

/// A chip that the service owns, for as long as it runs: opened when it is there, and again when it was
/// lost.
@ServiceActor final class SharedChip {
  /// As on the command line.
  nonisolated let name: String
  private let endpoint: LinkEndpoint
  private let options: UWBDevice.Options
  private let port: (store: PortStore, name: String)?
  private(set) var phase = Phase.closed {
    didSet { phaseChanged(from: oldValue) }
  }
  var sessions: [UInt32: SharedSession] = [:]
  /// Where it is: the path of its device without symbolic links, or its name; nil: it was not there
  /// yet.
  private(set) var place: String?
  /// Takes what the chip says of a session, packet by packet, and whether a message begins with it.
  var relays: (([UInt8], SharedSession, Bool) -> Void)?
  /// Disconnects the programs that speak UCI with the chip, which cannot answer them any more.
  var disconnects: (() -> Void)?
  /// Lets the service itself hold a session, if it does not yet.
  var startsOwn: ((SessionProfile) async throws(Refusal) -> Void)?
  /// The sessions that the service itself holds, as they are in files.
  private var own: [(file: String, text: [UInt8])] = []
  var files: [String] { own.map(\.file) }
  /// What has been said of these files.
  private var problems: [String: String] = [:]
  private var needsOwn = false
  private var starting: Task<Void, Never>?
  /// The virtual chips in front of it.
  let watchers = Locked(0)
  /// The message of which more segments follow.
  private var unfinished: (opcode: Opcode, token: UInt32)?
  private var run: Task<Void, Never>?
  /// Calls that wait while the chip is being opened.
  private var waiting: [CheckedContinuation<Void, Never>] = []
  private var patience: Task<Void, Never>?
  private let logger: Logger

  /// Where a chip is in its life.
  enum Phase {
    /// The service has not started yet, or has stopped.
    case closed
    /// An attempt to open the chip is on its way; the cause why the one before failed.
    case opening(DriverError?)
    case open(UWBDevice)
    /// The device waits for the chip to return, to continue with its sessions.
    case lost(UWBDevice, DriverError)
    /// Another attempt follows.
    case failed(DriverError)
    /// The service has closed the chip for a program.
    case lent(Borrower)
  }

  /// Pauses between attempts to open it, the last of them again and again.
  private static let pauses: [Duration] = [
    .milliseconds(20), .milliseconds(100), .milliseconds(500), .seconds(1), .seconds(2),
    .seconds(4),
  ]
  /// How long calls wait for a chip that is being opened.
  private static let longestWait = Duration.seconds(10)
  /// How long sessions of programs that were disconnected stay after the chip is back.
  private static let returnTime = Duration.seconds(10)

  /// - Parameter port: keeps its port open if the service crashes.
  init(
    _ endpoint: LinkEndpoint, name: String, port: (store: PortStore, name: String)?, logger: Logger
  ) {
    (self.endpoint, self.name, self.port) = (endpoint, name, port)
    var logger = logger
    logger[metadataKey: "chip"] = "\(printable(name))"
    self.logger = logger
    var options = UWBDevice.Options(logger: logger, recovery: RecoveryPolicy())
    // It is the service.
    options.usesService = false
    self.options = options
  }

  /// A program that has a chip to itself.
  struct Borrower {
    var user: PeerCredentials
    /// What for.
    var reason: String
    /// CLOCK_REALTIME in nanoseconds.
    var since = nanoseconds(of: CLOCK_REALTIME)

    var json: JSONLine {
      ["user": user.json, "reason": reason, "since_us": Int64(since / 1_000)]
    }
  }

  /// Ends its sessions, and closes it for a program that wants it to itself.
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

  /// Opens it again.
  func takeBack() {
    if case .lent = phase { start() }
  }

  /// Opens it, and keeps it open until `stop`.
  func start() {
    phase = .opening(nil)
    var options = options
    options.tap = { [weak self, watchers] direction, packet, _ in
      guard direction == .inbound, watchers.withLock({ $0 > 0 }), let self else { return }
      let bytes = packet.withUnsafeBytes { Array($0) }
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
          // Lent and stopped chips are still there.
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

  /// Ends its sessions, and closes it.
  func stop() async {
    phase = .closed
    own = []
    starting?.cancel()
    run?.cancel()
    await run?.value
  }

  /// The device that is open, or waits for the chip to return.
  private var device: UWBDevice? {
    switch phase {
    case .open(let device), .lost(let device, _): device
    case .closed, .opening, .failed, .lent: nil
    }
  }

  /// The program that has the chip to itself.
  var borrower: Borrower? {
    if case .lent(let borrower) = phase { borrower } else { nil }
  }

  /// Why it cannot be used now; nil: it can, is being opened for the first time, or is lent.
  var problem: DriverError? {
    switch phase {
    case .opening(let cause): cause
    case .lost(_, let cause), .failed(let cause): cause
    case .closed, .open, .lent: nil
    }
  }

  /// Why it cannot be used now, in the interface; nil: it can.
  var problemText: String? {
    switch phase {
    case .open: nil
    case .closed: "The service is stopping."
    case .opening, .lost, .failed: problem?.description ?? "It is being opened."
    case .lent(let borrower): "A program has it to itself: \(borrower.reason)"
    }
  }

  /// Waits while the chip is being opened, for 10 s after the first attempt at most.
  func waitWhileOpening() async {
    guard case .opening = phase, patience != nil else { return }
    await withCheckedContinuation { waiting.append($0) }
  }

  private func phaseChanged(from before: Phase) {
    if case .open = before { disconnects?() }
    if case .opening = phase {
      if case .opening = before { return }
      patience?.cancel()
      patience = Task {
        if (try? await Task.sleep(for: Self.longestWait)) != nil { endWaiting() }
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

  /// Returns when the thread that reads from it has done what it was asked before.
  func waitForReader() async {
    guard let device else { return }
    await Task(executorPreference: device.executor) {}.value
  }

  /// Until it is lost for good, or this task is cancelled.
  private func use(_ device: UWBDevice) async {
    await keepPort()
    if !Task.isCancelled {
      phase = .open(device)
      logger.notice(
        "open", metadata: JournalMessage.chipOpened.metadata(["family": "\(device.profile.name)"]))
      keepOwn()
    }
    for await event in device.events {
      switch event {
      case .lost(let cause), .notRecovered(let cause): noteProblem(cause)
      case .recovered:
        await keepPort()
        if !Task.isCancelled { phase = .open(device) }
        for session in sessions.values { session.awaitOwners(for: Self.returnTime) }
        logger.notice("back, with its sessions", metadata: JournalMessage.chipBack.metadata())
        keepOwn()
      default: break
      }
    }
    if !Task.isCancelled { phase = .opening(nil) }
    let limit = Task {
      if (try? await Task.sleep(for: .seconds(5))) != nil { await device.close(within: .zero) }
    }
    // Closing the device does not wait for sessions that others are closing.
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

  /// Notes where it is, if it is there: programs may call it by its path.
  private func findPlace() async {
    place = try? await runBlocking { [endpoint] in endpoint.place }
  }

  /// Notes where it is now, and has its port kept.
  private func keepPort() async {
    await findPlace()
    guard let port, let place else { return }
    try? await runBlocking { port.store.keep(place, as: port.name) }
  }

  // MARK: sessions of the service

  /// Holds these sessions from now on, and lets go of those that it held and that are not among them.
  func hold(_ profiles: [(file: String, text: [UInt8])]) {
    own = profiles
    problems = [:]
    keepOwn()
  }

  /// Starts the sessions of the service that are not there: at once, and as long as one of them is
  /// refused, every few seconds.
  func keepOwn() {
    needsOwn = true
    guard starting == nil else { return }
    starting = Task {
      while needsOwn, !Task.isCancelled {
        needsOwn = false
        guard await startOwn() else { continue }
        try? await Task.sleep(for: Self.pauses[2])
        needsOwn = true
      }
      starting = nil
    }
  }

  /// - Returns: whether one of them is refused.
  private func startOwn() async -> Bool {
    guard case .open(let device) = phase else { return false }
    var wanted: [(file: String, profile: SessionProfile)] = []
    for (file, text) in own {
      do throws(ProfileError) {
        let profile = try SessionProfile(text, for: device.dialect.generation)
        if let other = wanted.first(where: { $0.profile.sessionID == profile.sessionID }) {
          note("\(other.file) has a session with the same id.", of: file)
        } else {
          wanted.append((file, profile))
        }
      } catch { note("\(error)", of: file) }
    }
    for session in sessions.values
    where !wanted.contains(where: { session.isEqual(to: $0.profile) }) {
      session.release(SharedSession.service, .asked)
    }
    var isRefused = false
    for (file, profile) in wanted {
      do throws(Refusal) {
        try await startsOwn?(profile)
        problems[file] = nil
      } catch {
        note(error.text, of: file)
        isRefused = true
      }
    }
    return isRefused
  }

  /// Says it once.
  private func note(_ text: String, of file: String) {
    if problems[file] != text {
      logger.error("\(printable(text))", metadata: ["file": "\(printable(file))"])
    }
    problems[file] = text
  }

  // MARK: UCI

  /// What is said of a session goes to who has started it through a virtual chip, under its id.
  private func relay(_ packet: [UInt8]) {
    guard let header = try? PacketHeader(parsing: packet.span.bytes), header.type == .notification
    else { return }
    var packet = packet
    let token: UInt32
    let begins = unfinished?.opcode != header.opcode
    if !begins, let unfinished {
      token = unfinished.token
    } else {
      // Behind the sequence number.
      guard
        let offset = [Opcode.sessionInfo: 4, .sessionUpdateMulticastList: 0][header.opcode],
        packet.count >= PacketHeader.length + offset + 4
      else { return }
      let place = PacketHeader.length + offset..<PacketHeader.length + offset + 4
      token = packet[place].reversed().reduce(0) { $0 << 8 | UInt32($1) }
      if let id = sessions.values.first(where: { $0.token == token })?.id {
        packet.replaceSubrange(
          place, with: (0..<4).map { UInt8(truncatingIfNeeded: id >> (8 * $0)) })
      }
    }
    unfinished = header.moreFollows ? (header.opcode, token) : nil
    guard let session = sessions.values.first(where: { $0.token == token }) else { return }
    relays?(packet, session, begins)
  }

  /// Notes why the chip cannot be used, and logs each cause once.
  private func noteProblem(_ cause: DriverError) {
    // The chip was lent or closed since, and may be on its way back in another task.
    guard !Task.isCancelled else { return }
    let before = problem
    switch phase {
    case .closed, .lent: return
    case .open(let device), .lost(let device, _): phase = .lost(device, cause)
    case .opening:
      // A program that has just closed the chip may still be exiting.
      let mayPass = cause.linkError?.code == .busy && patience != nil
      phase = mayPass ? .opening(cause) : .failed(cause)
    case .failed: phase = .failed(cause)
    }
    guard before != cause else { return }
    logger.warning(
      "\(printable(cause.description))", metadata: JournalMessage.chipLost.metadata())
  }
}
