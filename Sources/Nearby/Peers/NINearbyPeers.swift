// SPDX-License-Identifier: Apache-2.0
internal import AccessoryProtocol
internal import Dispatch
internal import System
internal import UWB

/// Beyond Apple: finds programs on other Linux machines, in the local network or over Bluetooth LE, and
/// exchanges discovery tokens with them; what MultipeerConnectivity does for apps on phones.
///
/// ```swift
/// let nearby = try await NINearbyPeers(service: "my-app", name: "Alice")
/// for await event in nearby.events {
///   let connection: NIPeerConnection
///   switch event {
///   case .found(let peer) where nearby.isToInvite(peer):
///     connection = try await nearby.invite(peer, to: session)
///   case .invited(let invitation): connection = try await invitation.accept(session)
///   default: continue
///   }
///   print("Does the other machine show \(connection.code), too?")
///   session.run(NINearbyPeerConfiguration(peerToken: try await connection.confirm()))
/// }
/// ```
///
/// Programs announce themselves and their names to everybody in their networks, or in range. Neither that
/// nor what they exchange is encrypted, and nothing in it is secret. Whoever is found may be anybody: people
/// have to compare the codes. Where they are equal, nobody stands between the two machines, except with a
/// probability of one in a million.
public final class NINearbyPeers: Sendable {
  /// A program that has been found.
  public struct Peer: Sendable, Hashable, CustomStringConvertible {
    /// What it calls itself; anybody can take any name.
    public let name: String
    let id: UInt64
    /// The name.
    public var description: String { name }
  }

  /// What happens. Later versions may add cases, so a `switch` needs a default.
  public enum Event: Sendable {
    /// A peer of the same service is there.
    case found(Peer)
    /// It has left, or was not heard for five seconds, over Bluetooth LE for thirty.
    case lost(Peer)
    /// A peer wants to range.
    case invited(NIPeerInvitation)
  }

  /// The time limits of an exchange.
  package struct Limits: Sendable {
    /// For each message that no person has to think about.
    var message = Duration.seconds(10)
    /// For a person.
    var person = Duration.seconds(120)
    /// From one announcement to the next.
    var announcement = Duration.seconds(1)

    package init() {}
  }

  /// What happens, for one consumer. If it is too slow, it loses the oldest events beyond 256.
  public let events: AsyncStream<Event>
  /// Whether this machine has a network besides the one of its own programs; always over Bluetooth LE.
  public var hasNetwork: Bool { transport.hasNetwork }

  private struct State {
    var peers: [UInt64: Peer] = [:]
    var pending = 0
  }

  /// Invitations that can wait for an answer.
  private static let capacity = 8

  /// Connections whose invitation has not come, or not been answered.
  var pending: Int { state.withLock { $0.pending } }

  let transport: any PeerTransport
  private let name: String
  private let limits: Limits
  private let state: Locked<State>
  private let sink: AsyncStream<Event>.Continuation
  private let serving = Locked<Task<Void, Never>?>(nil)

  /// Begins to be found, and to find others.
  ///
  /// - Parameters:
  ///   - service: the same in all programs that are to find each other: 1 to 15 lower-case letters, digits
  ///     and hyphens.
  ///   - name: what people at the other machine see, 1 to 63 bytes of UTF-8; over Bluetooth LE 1 to 29.
  ///   - transport: how they find each other.
  /// - Throws: `NIPeerError`.
  public convenience init(
    service: String, name: String, over transport: Transport = .network
  ) async throws {
    try await self.init(service: service, name: name, over: transport, limits: Limits())
  }

  /// - Parameter bus: for Bluetooth, as D-Bus writes addresses; nil: the system's.
  package init(
    service: String, name: String, over transport: Transport = .network, limits: Limits,
    bus: String? = nil
  ) async throws(NIPeerError) {
    guard PeerAnnouncement.isService(service), PeerAnnouncement.name(name.utf8) != nil,
      transport == .network || name.utf8.count <= Self.longestBluetoothName
    else { throw .invalidName }
    (self.name, self.limits) = (name, limits)
    let (events, sink) = AsyncStream<Event>.makeStream(bufferingPolicy: .bufferingNewest(256))
    (self.events, self.sink) = (events, sink)
    let state = Locked(State())
    self.state = state
    @Sendable func tell(_ sighting: PeerSighting) {
      state.withLock { state in
        switch sighting {
        case .found(let id, let name):
          let peer = Peer(name: name, id: id)
          state.peers[id] = peer
          sink.yield(.found(peer))
        case .lost(let id):
          if let peer = state.peers.removeValue(forKey: id) { sink.yield(.lost(peer)) }
        }
      }
    }
    switch transport {
    case .network:
      self.transport = try await NetworkTransport(
        service: service, name: name, every: limits.announcement, tell: tell)
    case .bluetooth(let adapter):
      self.transport = try await BluetoothTransport(
        service: service, name: name, adapter: adapter, bus: bus, tell: tell)
    }
    let task = Task { [weak self, channels = self.transport.channels] in
      await withDiscardingTaskGroup { group in
        for await channel in channels {
          group.addTask { [weak self] in await self?.serve(channel) }
        }
        group.cancelAll()
      }
    }
    serving.withLock { $0 = task }
  }

  deinit { close() }

  /// Is not found any more, and refuses invitations that have not been answered. Connections stay.
  public func close() {
    transport.close()
    serving.withLock { $0.take() }?.cancel()
    sink.finish()
  }

  /// Closes this. Over Bluetooth LE it ends the connections as well, and returns when they have ended, which
  /// takes two seconds: bluetoothd keeps those of a program that just exits until the other one ends them.
  public func end() async {
    close()
    await transport.end()
  }

  /// What fits beside the rest into an advertisement.
  package static let longestBluetoothName = 29

  /// Whether this end is the one to invite, where both programs want to range with whomever they find;
  /// the other one waits for the invitation.
  public func isToInvite(_ peer: Peer) -> Bool { transport.id < peer.id }

  /// Invites a peer, and exchanges tokens when somebody has accepted there.
  package func invite(
    _ peer: Peer, as identity: PeerIdentity
  ) async throws -> NIPeerConnection {
    let wire = PeerWire(try await transport.connect(to: peer.id), transport)
    do {
      let own = PeerOpening(identity)
      try await wire.send(.invitation(commitment: own.commitment, name: name))
      // A person decides there.
      let answer = try await wire.next(within: limits.person + limits.message)
      if answer == .refusal { throw NIPeerError.refused }
      guard case .answer(let token, let nonce, let other) = answer else {
        throw NIPeerError.damaged
      }
      try await wire.send(.reveal(token: own.token, nonce: own.nonce))
      let theirs = PeerOpening(token: token, nonce: nonce)
      return try NIPeerConnection(
        wire, named: other, PeerTranscript(own, named: name, theirs, named: other), isA: true,
        identity, theirs, limits)
    } catch {
      wire.channel.close()
      throw error
    }
  }

  /// Waits for an invitation, and then for its answer.
  private func serve(_ channel: any DataChannel) async {
    let isAccepted = state.withLock { state in
      guard state.pending < Self.capacity else { return false }
      state.pending += 1
      return true
    }
    guard isAccepted else { return channel.close() }
    defer { state.withLock { $0.pending -= 1 } }
    let wire = PeerWire(channel, transport)
    let first = try? await wire.next(within: limits.message)
    guard case .invitation(let commitment, let other)? = first else { return channel.close() }
    let invitation = NIPeerInvitation(
      wire, from: other, commitment: commitment, to: name, limits)
    sink.yield(.invited(invitation))
    await invitation.wait(limits.person)
  }
}

/// Beyond Apple: the wish of a peer to range.
public final class NIPeerInvitation: Sendable {
  /// What the peer calls itself; anybody can take any name.
  public let name: String

  private let wire: PeerWire
  private let commitment: [UInt8]
  private let ownName: String
  private let limits: NINearbyPeers.Limits
  private let answered: AsyncStream<Void>
  private let answer: AsyncStream<Void>.Continuation
  private let isAnswered = Locked(false)

  init(
    _ wire: PeerWire, from name: String, commitment: [UInt8], to ownName: String,
    _ limits: NINearbyPeers.Limits
  ) {
    (self.wire, self.name, self.commitment) = (wire, name, commitment)
    (self.ownName, self.limits) = (ownName, limits)
    (answered, answer) = AsyncStream.makeStream()
  }

  /// Accepts, and exchanges tokens.
  package func accept(as identity: PeerIdentity) async throws -> NIPeerConnection {
    guard take() else { throw NIPeerError.closed }
    do {
      let own = PeerOpening(identity)
      try await wire.send(.answer(token: own.token, nonce: own.nonce, name: ownName))
      guard case .reveal(let token, let nonce) = try await wire.next(within: limits.message) else {
        throw NIPeerError.damaged
      }
      let theirs = PeerOpening(token: token, nonce: nonce)
      guard theirs.commitment == commitment else { throw NIPeerError.damaged }
      return try NIPeerConnection(
        wire, named: name, PeerTranscript(theirs, named: name, own, named: ownName), isA: false,
        identity, theirs, limits)
    } catch {
      wire.channel.close()
      throw error
    }
  }

  /// Refuses, which the peer is told.
  public func refuse() async {
    if take() { await wire.refuse() }
  }

  /// Whether this is the answer: the first one.
  private func take() -> Bool {
    let isFirst = isAnswered.withLock { isAnswered in
      defer { isAnswered = true }
      return !isAnswered
    }
    answer.finish()
    return isFirst
  }

  /// Waits for the answer, and refuses where none comes.
  func wait(_ limit: Duration) async {
    let timer = OneShotTimer(after: limit) { [answer] in answer.finish() }
    defer { timer.cancel() }
    for await _ in answered {}
    await refuse()
  }
}

/// Beyond Apple: a connection to a peer with which tokens were exchanged. Nobody knows yet whether it is
/// the right one.
public final class NIPeerConnection: Sendable {
  /// What the peer calls itself; anybody can take any name.
  public let name: String
  /// Six digits, such as `042 117`. People compare them with those at the other machine.
  public let code: String

  private struct State {
    var isConfirmed = false
    var end: NIPeerError?
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let wire: PeerWire
  private let peer: PeerToken
  private let proof: [UInt8]
  private let limits: NINearbyPeers.Limits
  private let state = Locked(State())
  private let reading = Locked<Task<Void, Never>?>(nil)

  init(
    _ wire: PeerWire, named name: String, _ transcript: PeerTranscript, isA: Bool,
    _ identity: PeerIdentity, _ theirs: PeerOpening, _ limits: NINearbyPeers.Limits
  ) throws(NIPeerError) {
    (self.wire, self.name, self.limits) = (wire, name, limits)
    let expected: [UInt8]
    do throws(PeerTokenError) {
      peer = try PeerToken(theirs.token)
      // What could not range is not worth a comparison.
      _ = try identity.session(with: peer)
      proof = try transcript.proof(ofA: isA, identity, peer)
      expected = try transcript.proof(ofA: !isA, identity, peer)
    } catch { throw NIPeerError(error) }
    code = transcript.code
    let task = Task { [weak self] in
      do throws(NIPeerError) {
        while true {
          switch try await wire.next() {
          case .confirmation(let proof) where proof.isEqual(to: expected): self?.peerConfirmed()
          case .refusal: throw .refused
          default: throw .damaged
          }
        }
      } catch {
        wire.channel.close()
        self?.end(error)
      }
    }
    reading.withLock { $0 = task }
  }

  deinit { reading.withLock { $0 }?.cancel() }

  /// Says that the codes are equal, and waits until the people at the other machine have said so, too.
  package func confirmed() async throws -> PeerToken {
    // Where it cannot be sent any more, what came before the end says why.
    try? await wire.send(.confirmation(proof: proof))
    let timer = OneShotTimer(after: limits.person) { [weak self] in self?.fail(.silent) }
    defer { timer.cancel() }
    await withTaskCancellationHandler {
      await wait { $0.isConfirmed || $0.end != nil }
    } onCancel: {
      fail(.closed)
    }
    let (isConfirmed, end) = state.withLock { ($0.isConfirmed, $0.end) }
    guard isConfirmed else { throw end ?? .closed }
    return peer
  }

  /// Says that the codes differ, and ends the connection.
  public func refuse() async {
    end(.closed)
    await wire.refuse()
  }

  /// Ends the connection. Ranging does not depend on it.
  public func close() { fail(.closed) }

  /// Waits until the connection has ended.
  ///
  /// - Returns: why; nil: the task was cancelled.
  public func ended() async -> NIPeerError? {
    await withTaskCancellationHandler {
      await wait { $0.end != nil }
    } onCancel: {
      wake()
    }
    return state.withLock { $0.end }
  }

  private func fail(_ error: NIPeerError) {
    end(error)
    wire.channel.close()
  }

  private func peerConfirmed() {
    state.withLock { if $0.end == nil { $0.isConfirmed = true } }
    wake()
  }

  /// Only the first end counts. What was refused or closed here cannot be confirmed any more.
  private func end(_ error: NIPeerError) {
    state.withLock { state in
      state.end = state.end ?? error
      if error == .closed { state.isConfirmed = false }
    }
    wake()
  }

  private func wake() {
    let waiting = state.withLock { state in
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  private func wait(_ isOver: @Sendable (State) -> Bool) async {
    while !Task.isCancelled {
      let isReady = state.withLock { isOver($0) }
      if isReady { return }
      await withCheckedContinuation { continuation in
        let isReady = state.withLock { state in
          if isOver(state) || Task.isCancelled { return true }
          state.waiting.append(continuation)
          return false
        }
        if isReady { continuation.resume() }
      }
    }
  }
}

extension [UInt8] {
  /// In a time that does not depend on the bytes.
  fileprivate func isEqual(to other: [UInt8]) -> Bool {
    count == other.count && zip(self, other).reduce(0) { $0 | $1.0 ^ $1.1 } == 0
  }
}
