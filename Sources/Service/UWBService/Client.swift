// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Glibc
import Logging
import UCI
import System
import Varlink

/// A program that is connected. Its calls are answered in their order, one after the other.
@ServiceActor final class Client {
  nonisolated let number: Int
  nonisolated let user: PeerCredentials
  /// The sessions that it holds.
  var held: [SharedSession] = []
  /// The chips that it has to itself.
  var borrowed: [SharedChip] = []

  private let service: Service
  private let socket: Int32
  private var framing = VarlinkFraming()
  /// What is being sent, and how many bytes of it are.
  private var output: [UInt8] = []
  private var sent = 0
  /// Since when it takes nothing; nil: it does.
  private var blockedSince: ContinuousClock.Instant?
  /// A call that is carried out, and still has to be answered.
  private var call: VarlinkCall?
  private(set) var monitor: Monitor?
  /// What the program speaks UCI with; nil: it speaks varlink.
  private(set) var chip: VirtualChip?
  private var isTakingCalls = false
  private var isAtEnd = false
  /// Whether it will be read from without being told.
  private var goesOnLater = false
  private(set) var isClosed = false
  /// After what is being sent.
  private var closesSoon = false
  /// Whether it hears when the socket takes more.
  private var waitsForRoom = false

  /// For how long a client may take nothing while measurements are lost.
  private static let patience = Duration.seconds(120)

  /// Calls of a turn, and what is read in it: others have theirs next.
  private static let (mostCalls, mostReads, mostBytes) = (16, 4, 4_096)

  /// - Parameter descriptor: of a socket that does not block; closed at the end.
  init(_ descriptor: Int32, number: Int, _ user: PeerCredentials, _ service: Service) {
    (self.number, self.user, self.service) = (number, user, service)
    socket = descriptor
    service.watch.add(descriptor, as: number)
  }

  /// Ends the connection, and lets go of what it holds.
  ///
  /// - Parameter release: why its sessions are released.
  func close(_ release: SharedSession.Release = .gone) {
    guard !isClosed else { return }
    isClosed = true
    // The watch lets go of it by that.
    Glibc.close(socket)
    (monitor, output) = (nil, [])
    chip?.end()
    chip = nil
    service.closed(self, release)
  }

  // MARK: calls

  /// Something has happened to the socket.
  func isReady() {
    takeCalls()
    if !goesOnLater { readable() }
    if waitsForRoom { goOn() }
  }

  /// Reads what is available.
  private func readable() {
    var buffer = [UInt8](repeating: 0, count: Self.mostBytes)
    var reads = 0
    while !isClosed, !isAtEnd {
      // Nothing else would tell of what is left.
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
        // Calls that wait for the one before them.
        if framing.count > 2 * framing.limit { return close() }
      } else if count == 0 {
        isAtEnd = true
      } else if errno == EAGAIN {
        return
      } else if errno != EINTR {
        return close()
      }
    }
    // A program that has closed its half only still gets its answer.
    guard isAtEnd else { return }
    if monitor != nil || hasHungUp { return close() }
    if call == nil {
      closesSoon = true
      closeIfDone()
    }
  }

  /// Whether the program has closed both directions: it has exited, or abandoned its call.
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
    // A call that is answered at once leads here again.
    guard !isTakingCalls else { return }
    isTakingCalls = true
    defer { isTakingCalls = false }
    var calls = 0
    while !isClosed, call == nil, chip == nil, output.isEmpty, !closesSoon {
      calls += 1
      guard calls <= Self.mostCalls else { return goOnLater() }
      do throws(VarlinkMessageError) {
        guard let message = try framing.next() else { return }
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

  /// Answers the call that is being carried out.
  func answer(_ reply: [UInt8]) {
    guard let call else { return }
    self.call = nil
    if isAtEnd { closesSoon = true }
    if call.oneway { closeIfDone() } else { send(reply) }
    takeCalls()
  }

  // MARK: UCI

  /// Answers the call, after which the connection carries UCI.
  func attach(_ chip: VirtualChip, _ reply: [UInt8]) {
    // Nothing follows a call before its answer.
    guard framing.count == 0 else { return close() }
    self.chip = chip
    answer(reply)
    chip.start()
  }

  /// Bytes that wait to be sent.
  var backlog: Int { output.count - sent }

  /// Whether it has taken nothing for so long that it is disconnected.
  func isStuck() -> Bool {
    guard let blockedSince, ContinuousClock.now - blockedSince > Self.patience else { return false }
    service.logger.notice(
      "a client that takes nothing is disconnected",
      metadata: JournalMessage.clientStuck.metadata(["pid": "\(user.pid)"]))
    close()
    return true
  }

  /// Sends a packet after what waits.
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

  /// Sends what waits, and takes the calls after that.
  private func goOn() {
    flush()
    takeCalls()
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

  /// What a client listens to.
  struct Monitor {
    /// nil: any.
    var chip: String?
    var sessionID: UInt32?
    var peer: String?
    var queue: MeasurementQueue
    /// How long measurements wait for others, to be sent together.
    var pause: Duration = .zero
    /// Whether they do.
    var isPausing = false
    /// Follows the measurements that wait.
    var end: Refusal?
  }

  func listen(_ monitor: Monitor) { self.monitor = monitor }

  /// A session has measured something.
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

  /// Sends what waits, unless the client takes nothing.
  private func sendMeasurements() {
    if blockedSince == nil { goOn() } else if let monitor, monitor.queue.lost > 0 { _ = isStuck() }
  }

  private func sendSoon() {
    guard let monitor, !monitor.isPausing else { return }
    self.monitor?.isPausing = true
    let pause = DispatchTimeInterval.milliseconds(Int(monitor.pause / .milliseconds(1)))
    ServiceQueue.shared.queue.asyncAfter(deadline: .now() + pause) { [weak self] in
      ServiceQueue.shared.handle {
        guard let self, self.monitor != nil else { return }
        self.monitor?.isPausing = false
        self.sendMeasurements()
      }
    }
  }

  /// A session has ended.
  func ended(_ session: SharedSession, _ reason: Refusal) {
    held.removeAll { $0 === session }
    chip?.ended(session)
    guard let monitor, monitor.sessionID == session.id, monitor.chip ?? session.chip == session.chip
    else { return }
    self.monitor?.end = reason
    if blockedSince == nil { goOn() }
  }

  /// As many replies as wait for a client that listens, and are sent at once.
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
