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
    /// A peer of the same service was found.
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

    package init() {}
  }

  /// The events, for one consumer. A slow consumer loses the oldest events beyond 256.
  public let events: AsyncStream<Event>
  /// Whether this machine has a network besides the loopback; always true over Bluetooth LE.
  public var hasNetwork: Bool { transport.hasNetwork }

  private struct State {
    var peers: [UInt64: Peer] = [:]
    var pending = 0
  }

  /// The number of invitations that can wait for an answer.
  private static let capacity = 8

  /// The number of connections whose invitation has not arrived or not been answered.
  var pending: Int { state.withLock { $0.pending } }

  let transport: any PeerTransport
  private let name: String
  private let limits: Limits
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
    @Sendable func report(_ sighting: PeerSighting) {
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
        service: service, name: name, every: limits.announcement, report: report)
    case .bluetooth(let adapter):
      self.transport = try await BluetoothTransport(
        service: service, name: name, adapter: adapter, bus: bus, report: report)
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

  /// Stops announcing this program, and refuses invitations without an answer. Connections stay
  /// open.
  public func close() {
    transport.close()
    serving.withLock { $0.take() }?.cancel()
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

  /// Invites a peer, and exchanges tokens after its user has accepted.
  package func invite(
    _ peer: Peer, as identity: PeerIdentity
  ) async throws -> NIPeerConnection {
    let wire = PeerWire(try await transport.connect(to: peer.id), transport)
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

  /// Waits for an invitation, and then for the answer to it.
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
