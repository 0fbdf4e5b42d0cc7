// SPDX-License-Identifier: Apache-2.0
internal import Glibc
internal import System

/// Performs the calls of connections.
@ServiceActor package protocol VarlinkHandler: AnyObject {
  /// Performs a call whose parameters have the types of the interface.
  ///
  /// - Parameter method: The name without its interface.
  func perform(
    _ method: String, _ call: VarlinkCall, over connection: VarlinkConnection
  ) -> VarlinkConnection.Outcome

  /// The reply to the first call of a connection that is refused and then ends; nil if calls are
  /// performed.
  var refusal: VarlinkReply? { get }

  /// Returns the last reply of a connection that has sent no call.
  func rejection(of error: VarlinkMessageError) -> VarlinkReply

  /// Handles the end of a connection that has accepted no bytes for too long.
  func isStuck(_ connection: VarlinkConnection)

  /// Handles the end of a connection.
  func closed(_ connection: VarlinkConnection)
}

extension VarlinkHandler {
  package var refusal: VarlinkReply? { nil }
  package func isStuck(_ connection: VarlinkConnection) {}
  package func closed(_ connection: VarlinkConnection) {}
}

/// The replies to one call: one, or with `more` all.
@ServiceActor package protocol VarlinkStream: AnyObject {
  /// Appends the replies that are ready, up to about 32 KiB. Without `more`, the first one is the
  /// last.
  ///
  /// - Returns: Whether the last one is among them.
  func appendReplies(to output: inout OutputBuffer, more: Bool) -> Bool
}

/// The protocol of a connection that has left varlink.
@ServiceActor package protocol VarlinkUpgrade: AnyObject {
  /// Starts the protocol, after the reply to the call was sent.
  func start()
  func receive(_ bytes: ArraySlice<UInt8>)
  /// Ends, because the other end has disconnected.
  func end()
}

/// A connection of a client. Its calls are answered one at a time, in order.
@ServiceActor package final class VarlinkConnection {
  package nonisolated let number: Int
  nonisolated let user: UInt32
  package var handler: (any VarlinkHandler)?

  private enum Phase {
    /// The next call is read.
    case idle
    /// The client waits for the reply to this call.
    case answering(VarlinkCall)
    case streaming(any VarlinkStream, more: Bool)
    case upgraded(any VarlinkUpgrade)
    /// No call is read. The connection closes when all output is sent.
    case closing
    case closed
  }

  private let server: VarlinkServer
  private let socket: Int32
  private var phase = Phase.idle
  private var framing = VarlinkFraming()
  /// Whether no further bytes are read, for example because the client has shut down its sending
  /// direction.
  private var inputHasEnded = false
  private var output = OutputBuffer()
  /// Whether a further turn is already scheduled.
  private var turnIsScheduled = false

  /// The time for which a client may accept no bytes while replies are lost.
  private static let patience = Duration.seconds(120)

  /// The limits of one turn, so that other clients get theirs.
  private static let (mostCalls, mostReads, mostBytes) = (4, 4, 4_096)

  /// - Parameter descriptor: A non-blocking socket, which the connection closes.
  init(_ descriptor: Int32, number: Int, of user: UInt32, _ server: VarlinkServer) {
    (socket, self.number, self.user, self.server) = (descriptor, number, user, server)
  }

  package var isClosed: Bool { if case .closed = phase { true } else { false } }

  /// The replies that the connection sends now.
  package var stream: (any VarlinkStream)? {
    if case .streaming(let stream, _) = phase { stream } else { nil }
  }

  /// The protocol that the connection carries now; nil for varlink.
  package var upgrade: (any VarlinkUpgrade)? {
    if case .upgraded(let upgrade) = phase { upgrade } else { nil }
  }

  /// Whether the program has closed its socket. Calls that it sent before may be unread.
  package var hasHungUp: Bool { Varlink.hasHungUp(socket) }

  /// Whether a program that has closed its socket has sent no further call.
  var hasNoCalls: Bool {
    var byte: UInt8 = 0
    guard case .idle = phase, framing.count == 0 else { return false }
    return unsafe recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) == 0
  }

  package func close() {
    guard !isClosed else { return }
    upgrade?.end()
    phase = .closed
    // Closing the socket also removes it from the watch.
    Glibc.close(socket)
    output = OutputBuffer()
    server.connections[number] = nil
    handler.take()?.closed(self)
  }

  /// Closes the connection when the calls that it has sent are answered.
  func finish() {
    isReady()
    inputHasEnded = true
    takeCalls()
  }

  private func closeSoon() {
    upgrade?.end()
    phase = .closing
    closeIfDone()
    // A connection that has left varlink sends no more, which would notice that it is stuck.
    closeOnceStuck()
  }

  /// Checks until it has closed whether the other end accepts bytes.
  private func closeOnceStuck() {
    guard !isClosed else { return }
    ServiceQueue.shared.later(after: Self.patience + .seconds(1)) { [weak self] in
      self?.closeIfStuck()
      self?.closeOnceStuck()
    }
  }

  private func closeIfDone() {
    if case .closing = phase, output.isEmpty { close() }
  }

  // MARK: calls

  /// Handles an event of the socket.
  package func isReady() {
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
      let count = unsafe read(socket, &buffer, buffer.count)
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
    if let upgrade { return upgrade.receive(bytes) }
    framing.append(bytes)
    takeCalls()
    // Closes a connection that sends too many calls without waiting for replies.
    if !turnIsScheduled, framing.count > 2 * framing.limit { close() }
  }

  /// Closes the connection, unless the client has shut down only its sending direction and still
  /// gets replies.
  private func inputEnded() {
    switch phase {
    case .streaming: close()
    case _ where hasHungUp: close()
    case .upgraded: closeSoon()
    default: takeCalls()
    }
  }

  /// Goes on when it is the turn of the user.
  func goOnLater() {
    guard !turnIsScheduled else { return }
    turnIsScheduled = true
    server.scheduleTurn(of: self)
  }

  func takeTurn() {
    turnIsScheduled = false
    isReady()
  }

  private func takeCalls() {
    var calls = 0
    while case .idle = phase, output.isEmpty, let handler {
      calls += 1
      guard calls <= Self.mostCalls else { return goOnLater() }
      do throws(VarlinkMessageError) {
        guard let message = try framing.next() else {
          if inputHasEnded { closeSoon() }
          return
        }
        let call = try VarlinkCall(message)
        if let refusal = handler.refusal {
          phase = .closing
          return send(refusal.bytes)
        }
        phase = .answering(call)
        switch server.service.answer(call) {
        case .reply(let reply): finish(.reply(reply.bytes))
        case .accepted(_, let method): finish(handler.perform(method, call, over: self))
        }
      } catch {
        phase = .closing
        send(handler.rejection(of: error).bytes)
      }
    }
  }

  /// The result of a call.
  package enum Outcome {
    case reply([UInt8])
    case stream(any VarlinkStream)
    /// The connection leaves varlink after the reply.
    case upgrade(any VarlinkUpgrade, reply: [UInt8])
    /// `answer(_:)` follows.
    case later
  }

  /// Finishes a call whose outcome was `later`. The next calls have to wait for their turn.
  package func answer(_ outcome: Outcome) {
    finish(outcome)
    goOnLater()
  }

  private func finish(_ outcome: Outcome) {
    guard case .answering(let call) = phase else { return }
    switch outcome {
    case .later: break
    case .reply(let reply):
      phase = .idle
      if !call.oneway { send(reply) }
    case .stream(let stream):
      phase = .streaming(stream, more: call.more)
      if inputHasEnded { close() } else { flush() }
    case .upgrade(let upgrade, let reply):
      // A client must not send more before it has the reply.
      guard framing.count == 0 else { return close() }
      phase = .upgraded(upgrade)
      if !call.oneway { send(reply) }
      upgrade.start()
    }
  }

  // MARK: output

  /// The number of unsent bytes.
  package var backlog: Int { output.count }

  /// Disconnects a client that has accepted no bytes for too long.
  package func closeIfStuck() {
    guard let since = output.blockedSince, ContinuousClock.now - since > Self.patience else {
      return
    }
    handler?.isStuck(self)
    close()
  }

  /// Sends bytes after the ones that already wait.
  package func send(_ bytes: [UInt8]) {
    guard !isClosed else { return }
    output.append(bytes)
    if output.blockedSince == nil { flush() }
  }

  /// Sends the replies of the stream that are ready, unless the client accepts no bytes now.
  package func sendReplies() {
    if output.blockedSince == nil { goOn() }
  }

  private func flush() {
    let wasBlocked = output.blockedSince != nil
    sending: while !isClosed {
      if output.isEmpty, !takeReplies() { break }
      switch output.send(to: socket) {
      case .accepted: continue
      case .blocked: break sending
      case .failed: return close()
      }
    }
    guard !isClosed else { return }
    let isBlocked = output.blockedSince != nil
    if isBlocked != wasBlocked {
      server.watch.change(socket, as: number, waitsForRoom: isBlocked)
    }
    closeIfDone()
  }

  /// - Returns: Whether the stream has appended replies.
  private func takeReplies() -> Bool {
    guard case .streaming(let stream, let more) = phase else { return false }
    if stream.appendReplies(to: &output, more: more) { phase = .idle }
    return !output.isEmpty
  }

  /// Sends waiting bytes, then handles the next calls.
  private func goOn() {
    flush()
    takeCalls()
  }
}
