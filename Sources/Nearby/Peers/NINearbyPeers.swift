// SPDX-License-Identifier: Apache-2.0
internal import Channels
internal import System

/// The search for programs on other Linux machines, and the exchange of discovery tokens with them.
/// Not part of Apple's API.
///
/// It works in the local network or over Bluetooth LE, as MultipeerConnectivity does for apps on
/// phones.
///
/// ```swift
/// let nearby = try await NINearbyPeers(service: "my-app", name: "Alice")
/// for await event in nearby.events {
///   do {
///     let connection: NIPeerConnection
///     switch event {
///     case .found(let peer) where nearby.isToInvite(peer):
///       connection = try await nearby.invite(peer, to: session)
///     case .invited(let invitation): connection = try await invitation.accept(session)
///     default: continue
///     }
///     print("Does the other machine show \(connection.code), too?")
///     session.run(NINearbyPeerConfiguration(peerToken: try await connection.confirm()))
///   } catch {
///     print(error)  // The peer is found again.
///   }
/// }
/// ```
///
/// Programs announce themselves and their names to every program in their networks, or in range.
/// Announcements and exchanged messages are not encrypted, and contain no secrets.
///
/// A found peer may be an impostor, so users have to compare the codes. If the codes are equal,
/// there is no third party between the two machines, except with a probability of one in a million.
public final class NINearbyPeers: Sendable {
  /// A program that has been found.
  public struct Peer: Sendable, Hashable, CustomStringConvertible {
    /// The announced name. Any program can announce any name.
    public let name: String
    let id: UInt64
    /// The name.
    public var description: String { name }
  }

  /// An event of the search for peers. Later versions may add cases, so a `switch` needs a default.
  public enum Event: Sendable {
    /// A peer of the same service was found. After a failed invitation, it is found again after a
    /// pause, unless it has refused.
    case found(Peer)
    /// A peer has closed, or was not received for five seconds, over Bluetooth LE for thirty.
    case lost(Peer)
    /// A peer has sent an invitation.
    case invited(NIPeerInvitation)
  }

  /// The time limits of an exchange.
  package struct Limits: Sendable {
    /// The limit for a message that needs no decision of a user.
    var message = Duration.seconds(10)
    /// The limit for a decision of a user.
    var person = Duration.seconds(120)
    /// The time between announcements.
    var announcement = Duration.seconds(1)
    /// The time before a peer is found again after a failed invitation. It doubles with each
    /// failure, up to 32 times.
    var pause = Duration.seconds(1)
    /// The time for the inviter of an accepted invitation to send its token, before the next
    /// invitation is accepted.
    var turn = Duration.seconds(1)
    /// Starts a timer. Tests have their own clock.
    var timer: Timer = OneShotTimer.init

    typealias Timer =
      @Sendable (Duration, @escaping @Sendable () -> Void) -> OneShotTimer

    package init() {}
  }

  /// The events, for one consumer. A slow consumer loses the oldest events beyond 256.
  public let events: AsyncStream<Event>
  /// Whether this machine has a network besides the loopback; always true over Bluetooth LE.
  public var hasNetwork: Bool { transport.hasNetwork }

  private struct State {
    var peers: [UInt64: Peer] = [:]
    var pending = PendingConnections()
    /// The failed invitations, and the timers after which their peers are found again.
    var failures: [UInt64: (count: Int, timer: OneShotTimer)] = [:]
  }

  /// The number of connections whose invitation has not arrived or not been answered.
  var pending: Int { state.withLock { $0.pending.entries.count } }

  let transport: any PeerTransport
  private let name: String
  let limits: Limits
  private let state: Locked<State>
  private let sink: AsyncStream<Event>.Continuation
  private let serving = Locked<Task<Void, Never>?>(nil)

  /// Starts to announce this program, and to look for others.
  ///
  /// - Parameters:
  ///   - service: the name that all programs that find each other have in common: 1 to 15
  ///     lower-case letters, digits and hyphens.
  ///   - name: the name that users at the other machine see: 1 to 63 bytes of UTF-8, over
  ///     Bluetooth LE 1 to 29.
  ///   - transport: the network or Bluetooth LE.
  /// - Throws: `NIPeerError`.
  public convenience init(
    service: String, name: String, over transport: Transport = .network
  ) async throws {
    try await self.init(service: service, name: name, over: transport, limits: Limits())
  }

  /// Starts to announce this program, with limits and a bus for tests.
  ///
  /// - Parameter bus: the D-Bus address of the bus for Bluetooth; nil for the system bus.
  package convenience init(
    service: String, name: String, over transport: Transport = .network, limits: Limits,
    bus: String? = nil
  ) async throws(NIPeerError) {
    guard PeerAnnouncement.isService(service), PeerAnnouncement.name(name.utf8) != nil,
      transport == .network || name.utf8.count <= Self.longestBluetoothName
    else { throw .invalidName }
    try await self.init(name: name, limits: limits) { report async throws(NIPeerError) in
      switch transport {
      case .network:
        try await NetworkTransport(
          service: service, name: name, every: limits.announcement, report: report)
      case .bluetooth(let adapter):
        try await BluetoothTransport(
          service: service, name: name, adapter: adapter, bus: bus, report: report)
      }
    }
  }

  /// Starts to look for others over any transport.
  ///
  /// - Parameter start: starts the transport, which reports the peers that it finds and loses.
  init(
    name: String, limits: Limits,
    over start: (@escaping @Sendable (PeerSighting) -> Void) async throws(NIPeerError) ->
      any PeerTransport
  ) async throws(NIPeerError) {
    (self.name, self.limits) = (name, limits)
    let (events, sink) = AsyncStream<Event>.makeStream(bufferingPolicy: .bufferingNewest(256))
    (self.events, self.sink) = (events, sink)
    let state = Locked(State())
    self.state = state
    @Sendable func report(_ sighting: PeerSighting) {
      state.withLock { state in
        switch sighting {
        case .found(let id, let name):
          let peer = Peer(name: name, id: id)
          state.peers[id] = peer
          sink.yield(.found(peer))
        case .lost(let id):
          state.failures[id] = nil
          if let peer = state.peers.removeValue(forKey: id) { sink.yield(.lost(peer)) }
        }
      }
    }
    transport = try await start(report)
    let task = Task { [weak self, arrivals = transport.arrivals] in
      await withDiscardingTaskGroup { group in
        for await arrival in arrivals {
          // Connections are admitted in the order of arrival, because a later connection may
          // replace an earlier one.
          guard let id = self?.admit(arrival) else { continue }
          group.addTask { [weak self] in await self?.serve(arrival.channel, id) }
        }
        group.cancelAll()
      }
    }
    serving.withLock { $0 = task }
  }

  deinit { close() }

  /// Stops announcing this program, and refuses invitations without an answer. Connections stay
  /// open.
  public func close() {
    transport.close()
    serving.withLock { $0.take() }?.cancel()
    state.withLock { $0.failures = [:] }
    sink.finish()
  }

  /// Stops announcing this program, and ends connections that would outlast it.
  ///
  /// Over Bluetooth LE the connections end, which takes two seconds. If a program only exits,
  /// bluetoothd keeps its connections until the other side ends them.
  public func end() async {
    close()
    await transport.end()
  }

  /// The longest name that Bluetooth LE can advertise, in bytes.
  package static let longestBluetoothName = 29

  /// Returns whether this end is to invite `peer`, if both programs range with every peer that they
  /// find. The other end waits for the invitation.
  public func isToInvite(_ peer: Peer) -> Bool { transport.id < peer.id }

  /// Invites a peer, and exchanges tokens after its user has accepted. After a failure, the peer is
  /// found again.
  package func invite(
    _ peer: Peer, as identity: PeerIdentity
  ) async throws -> NIPeerConnection {
    do {
      return try await exchange(with: peer, as: identity)
    } catch {
      if !Task.isCancelled { findAgain(peer, after: error) }
      throw error
    }
  }

  /// Reports a peer once more, unless it has refused or the two chips cannot range.
  private func findAgain(_ peer: Peer, after error: any Error) {
    guard let code = (error as? NIPeerError)?.code,
      [.unreachable, .silent, .vanished, .damaged].contains(code)
    else { return }
    state.withLock { state in
      guard state.peers[peer.id] != nil else { return }
      let before = state.failures[peer.id]?.count ?? 0
      let timer = limits.timer(limits.pause * (1 << min(before, 5))) { [weak self] in
        guard let self else { return }
        self.state.withLock { if let peer = $0.peers[peer.id] { sink.yield(.found(peer)) } }
      }
      state.failures[peer.id] = (before + 1, timer)
    }
  }

  private func exchange(
    with peer: Peer, as identity: PeerIdentity
  ) async throws -> NIPeerConnection {
    let wire = PeerWire(try await transport.connect(to: peer.id), transport, timer: limits.timer)
    do {
      let own = PeerOpening(identity)
      try await wire.send(.invitation(commitment: own.commitment, name: name))
      // The user of the peer decides.
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

  /// Returns the number of a new connection; nil if it was closed because there is no place for it.
  private func admit(_ arrival: PeerArrival) -> Int? {
    let (id, replaced) = state.withLock { state in
      state.pending.add(from: arrival.address) { arrival.channel.close() }
    }
    replaced?.end()
    if id == nil { arrival.channel.close() }
    return id
  }

  /// Waits for an invitation, and then for the answer to it.
  private func serve(_ channel: any DataChannel, _ id: Int) async {
    defer { state.withLock { $0.pending.remove(id) } }
    let wire = PeerWire(channel, transport, timer: limits.timer)
    let first = try? await wire.next(within: limits.message)
    guard case .invitation(let commitment, let other)? = first else { return channel.close() }
    let invitation = NIPeerInvitation(
      wire, from: other, commitment: commitment, to: name, limits)
    state.withLock { $0.pending.invites(id) { invitation.end() } }
    sink.yield(.invited(invitation))
    await invitation.wait(limits.person)
  }
}
