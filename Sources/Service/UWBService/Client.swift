// SPDX-License-Identifier: Apache-2.0
import ChipSharing
import Glibc
import Logging
import System
import UCI
import UWB
import Varlink

/// A connected client. Its calls are answered one at a time, in order.
@ServiceActor final class Client {
  nonisolated let number: Int
  nonisolated let user: PeerCredentials
  /// The sessions that the client owns.
  var held: [SharedSession] = []
  /// The chips that the client borrows.
  var borrowed: [SharedChip] = []

  private enum Phase {
    /// The next call is read.
    case idle
    /// The call needs its reply.
    case answering(VarlinkCall)
    /// Measurements are the replies: one, or with `more` all.
    case monitoring(Monitor, more: Bool)
    /// The connection carries UCI.
    case attached(VirtualChip)
    /// No call is read. The connection closes when all output is sent.
    case closing
    case closed
  }

  private let service: Service
  private let socket: Int32
  private var phase = Phase.idle
  private var framing = VarlinkFraming()
  /// Whether the client has shut down its sending direction.
  private var inputHasEnded = false
  private var output = OutputBuffer()
  /// Whether a further turn is already scheduled.
  private var turnIsScheduled = false

  /// The time for which a client may accept no bytes while measurements are lost.
  private static let patience = Duration.seconds(120)

  /// The limits of one turn, so that other clients get theirs.
  private static let (mostCalls, mostReads, mostBytes) = (16, 4, 4_096)
  /// The bytes of measurements that are encoded for one call of send(2).
  private static let mostEncoded = 32_768

  /// Creates a client, and begins to watch its socket.
  ///
  /// - Parameter descriptor: A non-blocking socket, which the client closes.
  init(_ descriptor: Int32, number: Int, _ user: PeerCredentials, _ service: Service) {
    (self.number, self.user, self.service) = (number, user, service)
    socket = descriptor
    service.watch.add(descriptor, as: number)
  }

  var isClosed: Bool { if case .closed = phase { true } else { false } }
  var isMonitoring: Bool { if case .monitoring = phase { true } else { false } }

  /// Whether the program has closed its socket. Calls that it sent before may be unread.
  var hasHungUp: Bool {
    var polled = pollfd(fd: socket, events: 0, revents: 0)
    return poll(&polled, 1, 0) > 0 && polled.revents & Int16(POLLHUP) != 0
  }

  /// Closes the connection, and releases the client's sessions and chips.
  ///
  /// - Parameter release: The way in which sessions are released.
  func close(_ release: SharedSession.Release = .gone) {
    guard !isClosed else { return }
    if case .attached(let chip) = phase { chip.end() }
    phase = .closed
    // Closing the socket also removes it from the watch.
    Glibc.close(socket)
    output = OutputBuffer()
    service.closed(self, release)
  }

  /// Starts a session for the client, or adds the client to an equal session.
  func start(
    _ profile: SessionProfile, on chip: SharedChip, _ share: Chips.Share, linger: Duration
  ) async throws(Refusal) -> (session: SharedSession, joined: Bool) {
    let started = try await chip.start(
      profile, share, user, linger: linger, as: number, isWanted: { !isClosed },
      added: { session in if !held.contains(where: { $0 === session }) { held.append(session) } })
    // The client may have disconnected during the start.
    if isClosed { started.session.release(number, .gone) }
    return started
  }

  /// Removes the client's hold on a session; the session ends with its last owner.
  func release(_ session: SharedSession) {
    held.removeAll { $0 === session }
    session.release(number, .asked)
  }

  private func closeSoon() {
    if case .attached(let chip) = phase { chip.end() }
    phase = .closing
    closeIfDone()
    // An attached program gets no notification any more, which would notice that it is stuck.
    guard !isClosed else { return }
    ServiceQueue.shared.later(after: Self.patience + .seconds(1)) { [weak self] in
      self?.closeIfStuck()
    }
  }

  private func closeIfDone() {
    if case .closing = phase, output.isEmpty { close() }
  }

  // MARK: calls

  /// Handles an event of the socket.
  func isReady() {
    takeCalls()
    if !turnIsScheduled { readable() }
    if output.blockedSince != nil { goOn() }
  }

  /// Reads available bytes, up to the limit of a turn.
  private func readable() {
    var buffer = [UInt8](repeating: 0, count: Self.mostBytes)
    var reads = 0
    while !isClosed, !inputHasEnded {
      // The watch does not report the remaining bytes again.
      guard reads < Self.mostReads else { return goOnLater() }
      reads += 1
      let count = read(socket, &buffer, buffer.count)
      if count > 0 {
        receive(buffer[..<count])
        if turnIsScheduled { return }
      } else if count == 0 {
        inputHasEnded = true
      } else if errno == EAGAIN {
        return
      } else if errno != EINTR {
        return close()
      }
    }
    if inputHasEnded, !isClosed { inputEnded() }
  }

  private func receive(_ bytes: ArraySlice<UInt8>) {
    if case .attached(let chip) = phase { return chip.receive(bytes) }
    framing.append(bytes)
    takeCalls()
    // Closes a connection that sends too many calls without waiting for replies.
    if !turnIsScheduled, framing.count > 2 * framing.limit { close() }
  }

  /// Closes the connection, unless the client has shut down only its sending direction and still
  /// gets replies.
  private func inputEnded() {
    switch phase {
    case .monitoring: close()
    case _ where hasHungUp: close()
    case .attached: closeSoon()
    default: takeCalls()
    }
  }

  private func goOnLater() {
    guard !turnIsScheduled else { return }
    turnIsScheduled = true
    ServiceQueue.shared.later { [weak self] in
      self?.turnIsScheduled = false
      self?.isReady()
    }
  }

  private func takeCalls() {
    var calls = 0
    while case .idle = phase, output.isEmpty {
      calls += 1
      guard calls <= Self.mostCalls else { return goOnLater() }
      do throws(VarlinkMessageError) {
        guard let message = try framing.next() else {
          if inputHasEnded { closeSoon() }
          return
        }
        let call = try VarlinkCall(message)
        phase = .answering(call)
        switch service.varlink.answer(call) {
        case .reply(let reply): finish(.reply(reply.bytes))
        case .accepted(_, let method): finish(service.perform(method, call, for: self))
        }
      } catch {
        phase = .closing
        send(ServiceError.invalidMessage("\(error)").reply.bytes)
      }
    }
  }

  /// The result of a call.
  enum Outcome {
    case reply([UInt8])
    /// Measurements are the replies.
    case monitor(Monitor)
    /// The connection carries UCI after the reply.
    case attach(VirtualChip, reply: [UInt8])
    /// `answer(_:)` follows.
    case later
  }

  /// Finishes a call whose outcome was `later`, and handles the next calls.
  func answer(_ outcome: Outcome) {
    finish(outcome)
    takeCalls()
  }

  private func finish(_ outcome: Outcome) {
    guard case .answering(let call) = phase else { return }
    switch outcome {
    case .later: break
    case .reply(let reply):
      phase = .idle
      if !call.oneway { send(reply) }
    case .monitor(let monitor):
      phase = .monitoring(monitor, more: call.more)
      if inputHasEnded { close() }
    case .attach(let chip, let reply):
      // A client must not send more before it has the reply.
      guard framing.count == 0 else { return close() }
      phase = .attached(chip)
      if !call.oneway { send(reply) }
      chip.start()
    }
  }

  // MARK: output

  /// The number of unsent bytes.
  var backlog: Int { output.count }

  /// Disconnects a client that has accepted no bytes for too long.
  func closeIfStuck() {
    guard let since = output.blockedSince, ContinuousClock.now - since > Self.patience else {
      return
    }
    service.logger.notice(
      "disconnected a client that accepts no data",
      metadata: JournalMessage.clientStuck.metadata(["pid": "\(user.pid)"]))
    close()
  }

  /// Sends bytes after the ones that already wait.
  func send(_ bytes: [UInt8]) {
    guard !isClosed else { return }
    output.append(bytes)
    if output.blockedSince == nil { flush() }
  }

  private func flush() {
    let wasBlocked = output.blockedSince != nil
    sending: while !isClosed {
      if output.isEmpty, !encodeMeasurements() { break }
      switch output.send(to: socket) {
      case .accepted: continue
      case .blocked: break sending
      case .failed: return close()
      }
    }
    guard !isClosed else { return }
    let isBlocked = output.blockedSince != nil
    if isBlocked != wasBlocked {
      service.watch.change(socket, as: number, waitsForRoom: isBlocked)
    }
    closeIfDone()
  }

  /// Sends waiting bytes, then handles the next calls.
  private func goOn() {
    flush()
    takeCalls()
  }

  // MARK: events of chips

  func handle(_ event: ChipEvent) {
    switch event {
    case .measured(let measurement): offer(measurement)
    case .notified(let session, let packet, let begins):
      if case .attached(let chip) = phase { chip.relay(packet, of: session, begins: begins) }
    case .ended(let session, let reason): ended(session, reason)
    case .unusable(let chip):
      if case .attached(let virtual) = phase, virtual.chip === chip { close(.interrupted) }
    }
  }

  private func ended(_ session: SharedSession, _ reason: ServiceError) {
    held.removeAll { $0 === session }
    if case .attached(let chip) = phase { chip.ended(session) }
    guard case .monitoring(let monitor, _) = phase, monitor.wanted.sessionID == session.id,
      monitor.wanted.chip ?? session.chip == session.chip
    else { return }
    change { $0.state = .ending(reason) }
    if output.blockedSince == nil { goOn() }
  }

  /// The measurements that a client wants and that wait for it.
  struct Monitor {
    /// The filter. A chip has its name in the list.
    let wanted: ChipCall.Monitor
    var queue: MeasurementQueue
    var state = State.sending

    enum State {
      case sending
      /// Measurements are collected until the pause is over.
      case collecting
      /// The error follows the last measurement.
      case ending(ServiceError)
    }

    init(_ wanted: ChipCall.Monitor) {
      self.wanted = wanted
      queue = MeasurementQueue(wanted.keep, limit: wanted.queue)
    }

    func includes(_ measurement: PublishedMeasurement) -> Bool {
      wanted.chip ?? measurement.chip == measurement.chip
        && wanted.sessionID ?? measurement.sessionID == measurement.sessionID
        && wanted.peer.map { $0 == measurement.peer.description } ?? true
    }
  }

  /// Changes the monitor in place, if there is one.
  private func change(_ body: (inout Monitor) -> Void) {
    guard case .monitoring(var monitor, let more) = phase else { return }
    // Releases the other reference, so that the queue is not copied.
    phase = .idle
    body(&monitor)
    phase = .monitoring(monitor, more: more)
  }

  /// Queues a measurement if the client monitors it, and sends it if the client accepts bytes.
  private func offer(_ measurement: PublishedMeasurement) {
    guard measurement.audience.includes(user) else { return }
    var (isReady, pause) = (false, Duration.zero)
    change { monitor in
      guard monitor.includes(measurement) else { return }
      monitor.queue.add(measurement)
      guard case .sending = monitor.state else { return }
      (isReady, pause) = (true, monitor.wanted.pause)
      if pause > .zero { monitor.state = .collecting }
    }
    guard isReady else { return }
    if pause > .zero { sendMeasurements(after: pause) } else { sendMeasurements() }
  }

  private func sendMeasurements() {
    if output.blockedSince == nil { return goOn() }
    if case .monitoring(let monitor, _) = phase, monitor.queue.lost > 0 { closeIfStuck() }
  }

  private func sendMeasurements(after pause: Duration) {
    ServiceQueue.shared.later(after: pause) { [weak self] in
      guard let self else { return }
      change { if case .collecting = $0.state { $0.state = .sending } }
      if isMonitoring { sendMeasurements() }
    }
  }

  /// Encodes queued measurements of a monitoring client, and its last error.
  ///
  /// - Returns: Whether there were any.
  private func encodeMeasurements() -> Bool {
    guard case .monitoring(var monitor, let more) = phase else { return false }
    if case .collecting = monitor.state { return false }
    phase = .idle
    while output.count < Self.mostEncoded, let (measurement, lost) = monitor.queue.next() {
      output.encode { measurement.reply.append(to: &$0, lost: lost, continues: more) }
      // The one reply of a call without `more` finishes it.
      if !more { return true }
    }
    if output.isEmpty, case .ending(let error) = monitor.state {
      output.append(error.reply.bytes)
      return true
    }
    phase = .monitoring(monitor, more: more)
    return !output.isEmpty
  }
}
