// SPDX-License-Identifier: Apache-2.0
import Glibc
import Logging
import UCI
import System
import Varlink

/// A connected client. Its calls are answered one at a time, in order.
@ServiceActor final class Client {
  nonisolated let number: Int
  nonisolated let user: PeerCredentials
  /// The sessions that the client owns.
  var held: [SharedSession] = []
  /// The chips that the client borrows.
  var borrowed: [SharedChip] = []

  private let service: Service
  private let socket: Int32
  private var framing = VarlinkFraming()
  /// The bytes to send, and the number already sent.
  private var output: [UInt8] = []
  private var sent = 0
  /// The time since which the client has accepted no bytes; nil while it accepts them.
  private var blockedSince: ContinuousClock.Instant?
  /// The call that still needs its reply.
  private var call: VarlinkCall?
  private(set) var monitor: Monitor?
  /// The virtual chip after `Attach`; nil while the connection speaks varlink.
  private(set) var chip: VirtualChip?
  private var isTakingCalls = false
  private var isAtEnd = false
  /// Whether a further turn is already scheduled.
  private var goesOnLater = false
  private(set) var isClosed = false
  /// Whether the connection closes once all output is sent.
  private var closesSoon = false
  /// Whether the watch reports when the socket is writable.
  private var waitsForRoom = false

  /// The time for which a client may accept no bytes while measurements are lost.
  private static let patience = Duration.seconds(120)

  /// The limits of one turn, so that other clients get theirs.
  private static let (mostCalls, mostReads, mostBytes) = (16, 4, 4_096)

  /// Creates a client, and begins to watch its socket.
  ///
  /// - Parameter descriptor: A non-blocking socket, which the client closes.
  init(_ descriptor: Int32, number: Int, _ user: PeerCredentials, _ service: Service) {
    (self.number, self.user, self.service) = (number, user, service)
    socket = descriptor
    service.watch.add(descriptor, as: number)
  }

  /// Closes the connection, and releases the client's sessions and chips.
  ///
  /// - Parameter release: The way in which sessions are released.
  func close(_ release: SharedSession.Release = .gone) {
    guard !isClosed else { return }
    isClosed = true
    // Closing the socket also removes it from the watch.
    Glibc.close(socket)
    (monitor, output) = (nil, [])
    chip?.end()
    chip = nil
    service.closed(self, release)
  }

  // MARK: calls

  /// Handles an event of the socket.
  func isReady() {
    takeCalls()
    if !goesOnLater { readable() }
    if waitsForRoom { goOn() }
  }

  /// Reads available bytes, up to the limit of a turn.
  private func readable() {
    var buffer = [UInt8](repeating: 0, count: Self.mostBytes)
    var reads = 0
    while !isClosed, !isAtEnd {
      // The watch does not report the remaining bytes again.
      guard reads < Self.mostReads else { return goOnLater() }
      reads += 1
      let count = read(socket, &buffer, buffer.count)
      if count > 0 {
        if let chip {
          chip.receive(buffer[..<count])
          continue
        }
        framing.append(buffer[..<count])
        takeCalls()
        if goesOnLater { return }
        // Closes a connection that sends too many calls without waiting for replies.
        if framing.count > 2 * framing.limit { return close() }
      } else if count == 0 {
        isAtEnd = true
      } else if errno == EAGAIN {
        return
      } else if errno != EINTR {
        return close()
      }
    }
    // A client that has shut down only its sending direction still gets its reply.
    guard isAtEnd else { return }
    if monitor != nil || hasHungUp { return close() }
    if chip != nil { closeSoon() } else { takeCalls() }
  }

  /// Whether the client has closed both directions.
  private var hasHungUp: Bool {
    var state = pollfd(fd: socket, events: 0, revents: 0)
    return poll(&state, 1, 0) == 1 && state.revents & Int16(POLLHUP) != 0
  }

  private func goOnLater() {
    guard !goesOnLater else { return }
    goesOnLater = true
    ServiceQueue.shared.later { [weak self] in
      self?.goesOnLater = false
      self?.isReady()
    }
  }

  private func takeCalls() {
    // `answer(_:)` calls this function again for a call with an immediate reply.
    guard !isTakingCalls else { return }
    isTakingCalls = true
    defer { isTakingCalls = false }
    var calls = 0
    while !isClosed, call == nil, chip == nil, output.isEmpty, !closesSoon {
      calls += 1
      guard calls <= Self.mostCalls else { return goOnLater() }
      do throws(VarlinkMessageError) {
        guard let message = try framing.next() else {
          if isAtEnd { closeSoon() }
          return
        }
        let call = try VarlinkCall(message)
        self.call = call
        switch service.varlink.answer(call) {
        case .reply(let reply): answer(reply.bytes)
        case .accepted(_, let method): service.perform(method, call, for: self)
        }
      } catch {
        closesSoon = true
        send(Refusal.invalidMessage(error).bytes)
      }
    }
  }

  /// Sends the reply to the current call.
  func answer(_ reply: [UInt8]) {
    guard let call else { return }
    self.call = nil
    if !call.oneway { send(reply) }
    takeCalls()
  }

  // MARK: UCI

  /// Sends the reply, after which the connection carries UCI.
  func attach(_ chip: VirtualChip, _ reply: [UInt8]) {
    // A client must not send more before it has the reply.
    guard framing.count == 0 else { return close() }
    self.chip = chip
    answer(reply)
    chip.start()
  }

  /// The number of unsent bytes.
  var backlog: Int { output.count - sent }

  /// Disconnects a client that has accepted no bytes for too long; returns whether it did.
  func isStuck() -> Bool {
    guard let blockedSince, ContinuousClock.now - blockedSince > Self.patience else { return false }
    service.logger.notice(
      "disconnected a client that accepts no data",
      metadata: JournalMessage.clientStuck.metadata(["pid": "\(user.pid)"]))
    close()
    return true
  }

  /// Sends a packet after the bytes that already wait.
  func send(packet: [UInt8]) {
    guard !isClosed else { return }
    if sent > 0 {
      output.removeFirst(sent)
      sent = 0
    }
    output += packet
    if blockedSince == nil { flush() }
  }

  private func send(_ bytes: [UInt8]) {
    guard !isClosed else { return }
    output += bytes
    flush()
  }

  private func flush() {
    while !isClosed {
      if sent == output.count {
        (output, sent, blockedSince) = ([], 0, nil)
        guard let bytes = nextReplies() else { break }
        output = bytes
      }
      let count = output.withUnsafeBytes {
        Glibc.send(
          socket, $0.baseAddress! + sent, output.count - sent, Int32(MSG_NOSIGNAL))
      }
      if count >= 0 {
        sent += count
      } else if errno == EAGAIN {
        blockedSince = blockedSince ?? .now
        return waitForRoom(true)
      } else if errno != EINTR {
        return close()
      }
    }
    waitForRoom(false)
    closeIfDone()
  }

  /// Sends waiting bytes, then handles the next calls.
  private func goOn() {
    flush()
    takeCalls()
  }

  private func closeSoon() {
    closesSoon = true
    closeIfDone()
  }

  private func closeIfDone() {
    if closesSoon, output.isEmpty { close() }
  }

  private func waitForRoom(_ waits: Bool) {
    guard !isClosed, waits != waitsForRoom else { return }
    waitsForRoom = waits
    service.watch.change(socket, as: number, waitsForRoom: waits)
  }

  // MARK: measurements

  /// The filter and the queue of a call of `Monitor`.
  struct Monitor {
    /// The chip, or nil for all chips.
    var chip: String?
    var sessionID: UInt32?
    var peer: String?
    var queue: MeasurementQueue
    /// The time for which measurements are collected before they are sent together.
    var pause: Duration = .zero
    /// Whether measurements are being collected.
    var isPausing = false
    /// The error that follows the last measurement.
    var end: Refusal?
  }

  func listen(_ monitor: Monitor) {
    self.monitor = monitor
    if isAtEnd { close() }
  }

  /// Queues a measurement if the client monitors it.
  func offer(_ measurement: PublishedMeasurement) {
    guard var monitor, monitor.chip ?? measurement.chip == measurement.chip,
      monitor.sessionID ?? measurement.sessionID == measurement.sessionID,
      monitor.peer ?? measurement.peer.description == measurement.peer.description
    else { return }
    self.monitor = nil
    monitor.queue.add(measurement)
    self.monitor = monitor
    if monitor.pause > .zero { sendSoon() } else { sendMeasurements() }
  }

  /// Sends queued measurements, unless the client accepts no bytes.
  private func sendMeasurements() {
    if blockedSince == nil { goOn() } else if let monitor, monitor.queue.lost > 0 { _ = isStuck() }
  }

  private func sendSoon() {
    guard let monitor, !monitor.isPausing else { return }
    self.monitor?.isPausing = true
    ServiceQueue.shared.later(after: monitor.pause) { [weak self] in
      guard let self, self.monitor != nil else { return }
      self.monitor?.isPausing = false
      sendMeasurements()
    }
  }

  /// Handles the end of a session.
  func ended(_ session: SharedSession, _ reason: Refusal) {
    held.removeAll { $0 === session }
    chip?.ended(session)
    guard let monitor, monitor.sessionID == session.id, monitor.chip ?? session.chip == session.chip
    else { return }
    self.monitor?.end = reason
    if blockedSince == nil { goOn() }
  }

  /// Encodes queued replies of a monitoring client, up to about 32 KiB.
  private func nextReplies() -> [UInt8]? {
    guard let call, var monitor, !monitor.isPausing || monitor.end != nil else { return nil }
    self.monitor = nil
    var replies: [UInt8] = []
    while replies.count < 32_768, let (measurement, lost) = monitor.queue.next() {
      replies += VarlinkReply.bytes(
        "{\(measurement.members),\"lost\":\(lost)}", continues: call.more)
      if !call.more { break }
    }
    self.monitor = monitor
    if !replies.isEmpty {
      if !call.more { finishListening() }
      return replies
    }
    guard let end = monitor.end else { return nil }
    finishListening()
    return end.bytes
  }

  private func finishListening() { (call, monitor) = (nil, nil) }
}
