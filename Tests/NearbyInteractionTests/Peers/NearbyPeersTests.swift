// SPDX-License-Identifier: Apache-2.0
import Channels
import Testing

@testable import NearbyInteraction
@testable import Peers

/// Peers that find each other in the network of this machine, and the failures of that search.
@Suite(.timeLimit(.minutes(10))) struct NearbyPeersTests {
  /// Without a chip, the token contains the values that every chip supports.
  private static func session() -> NISession {
    let session = NISession()
    session.device = "/dev/null/no-device"
    return session
  }

  private static func peers(
    _ name: String, in service: String? = nil, limits: NINearbyPeers.Limits = .init()
  ) async throws -> NINearbyPeers {
    var limits = limits
    limits.announcement = .milliseconds(50)
    return try await NINearbyPeers(
      service: service ?? "t-" + String(UInt32.random(in: 0 ... .max), radix: 36), name: name,
      limits: limits)
  }

  /// Connects to the first peer.
  private static func meet(
    _ nearby: NINearbyPeers, _ session: NISession
  ) async throws -> NIPeerConnection {
    for await event in nearby.events {
      switch event {
      case .found(let peer) where nearby.isToInvite(peer):
        return try await nearby.invite(peer, to: session)
      case .invited(let invitation): return try await invitation.accept(session)
      default: break
      }
    }
    throw NIPeerError.closed
  }

  /// Two peers with a connection that neither user has confirmed.
  private struct Pair {
    let nearby: [NINearbyPeers]
    let sessions: [NISession]
    let ends: [NIPeerConnection]

    init(limits: NINearbyPeers.Limits = .init()) async throws {
      let service = "t-" + String(UInt32.random(in: 0 ... .max), radix: 36)
      let nearby = [
        try await peers("Alice", in: service, limits: limits),
        try await peers("Bob", in: service, limits: limits),
      ]
      let sessions = [session(), session()]
      async let first = meet(nearby[0], sessions[0])
      async let second = meet(nearby[1], sessions[1])
      ends = try await [first, second]
      (self.nearby, self.sessions) = (nearby, sessions)
    }

    func end() { for peers in nearby { peers.close() } }
  }

  @Test func tokensAreExchanged() async throws {
    let pair = try await Pair()
    #expect(pair.ends[0].code == pair.ends[1].code)
    #expect(pair.ends.map(\.name) == ["Bob", "Alice"])
    async let first = pair.ends[0].confirm()
    async let second = pair.ends[1].confirm()
    let tokens = try await [first, second]
    #expect(tokens == pair.sessions.reversed().map(\.discoveryToken))
    // Each end receives the other's announcement that it ends.
    pair.ends[0].close()
    #expect(await pair.ends[1].ended() == .vanished)
    pair.end()
  }

  @Test(arguments: [0, 1])
  func aRefusedCodeIsRefusedForBoth(_ who: Int) async throws {
    let pair = try await Pair()
    let confirmed = Task { try await pair.ends[1 - who].confirm() }
    await pair.ends[who].refuse()
    await #expect(throws: NIPeerError.refused) { try await confirmed.value }
    await #expect(throws: NIPeerError.self) { try await pair.ends[who].confirm() }
    pair.end()
  }

  /// The peer's confirmation arrived first.
  @Test func aRefusalHoldsAfterThePeersConfirmation() async throws {
    var limits = NINearbyPeers.Limits()
    limits.person = .seconds(2)
    let pair = try await Pair(limits: limits)
    await #expect(throws: NIPeerError.silent) { try await pair.ends[0].confirm() }
    #expect(await pair.ends[1].ended() == .vanished)
    await pair.ends[1].refuse()
    await #expect(throws: NIPeerError.self) { try await pair.ends[1].confirm() }
    pair.end()
  }

  @Test func aPeerThatVanishesAfterItsConfirmationIsNoticed() async throws {
    let pair = try await Pair()
    let confirmed = Task { try await pair.ends[0].confirm() }
    pair.ends[1].close()
    await #expect(throws: NIPeerError.vanished) { try await confirmed.value }
    pair.end()
  }

  @Test func peopleWhoDoNotAnswerAreNotWaitedForForever() async throws {
    var limits = NINearbyPeers.Limits()
    limits.person = .seconds(2)
    let pair = try await Pair(limits: limits)
    await #expect(throws: NIPeerError.silent) { try await pair.ends[0].confirm() }
    pair.end()
  }

  @Test func anInvitationIsRefusedOrRunsOut() async throws {
    for isRefused in [true, false] {
      var limits = NINearbyPeers.Limits()
      if !isRefused { limits.person = .milliseconds(200) }
      let nearby = try await Self.peers("Bob", limits: limits)
      let wire = try await Self.connect(to: nearby)
      try await wire.send(.invitation(commitment: [UInt8](repeating: 1, count: 32), name: "Eve"))
      let invitation = try #require(await Self.invitation(at: nearby))
      #expect(invitation.name == "Eve")
      if isRefused { await invitation.refuse() }
      #expect(try await wire.next(within: .seconds(300)) == .refusal)
      await #expect(throws: NIPeerError.closed) { try await invitation.accept(Self.session()) }
      nearby.close()
    }
  }

  @Test func peersComeAndGo() async throws {
    let service = "t-" + String(UInt32.random(in: 0 ... .max), radix: 36)
    let alice = try await Self.peers("Alice", in: service)
    let bob = try await Self.peers("Bob", in: service)
    var seen: [String] = []
    for await event in alice.events {
      switch event {
      case .found(let peer):
        seen.append("found \(peer)")
        bob.close()
      case .lost(let peer): seen.append("lost \(peer)")
      default: break
      }
      if seen.count == 2 { break }
    }
    #expect(seen == ["found Bob", "lost Bob"])
    alice.close()
    for (service, name) in [("", "a"), ("ABC", "a"), ("a", ""), ("a", "\n"), ("a b", "a")] {
      await #expect(throws: NIPeerError.invalidName) {
        try await NINearbyPeers(service: service, name: name)
      }
    }
  }

  @Test func inviteAfterThePeerHasLeftFails() async throws {
    let service = "t-" + String(UInt32.random(in: 0 ... .max), radix: 36)
    let alice = try await Self.peers("Alice", in: service)
    let bob = try await Self.peers("Bob", in: service)
    for await case .found(let peer) in alice.events {
      bob.close()
      for await case .lost in alice.events { break }
      let error = await #expect(throws: NIPeerError.self) {
        try await alice.invite(peer, to: Self.session())
      }
      #expect(error?.code == .unreachable && error?.recoverySuggestion != nil)
      break
    }
    alice.close()
  }

  // MARK: a third program

  /// Returns a connection that any program can open.
  private static func connect(to nearby: NINearbyPeers) async throws -> PeerWire {
    guard let transport = nearby.transport as? NetworkTransport,
      case .tcp(_, let port) = transport.listener.endpoint
    else { throw NIPeerError.closed }
    return PeerWire(
      try await SocketChannel.connect(to: .tcp(host: "127.0.0.1", port: port)), transport)
  }

  private static func invitation(at nearby: NINearbyPeers) async -> NIPeerInvitation? {
    for await case .invited(let invitation) in nearby.events { return invitation }
    return nil
  }

  /// The first message of a program with a chip.
  private struct Stranger {
    let identity: PeerIdentity
    let opening: PeerOpening

    init() throws {
      identity = try PeerIdentity(capabilities: [.controller, .controlee])
      opening = PeerOpening(identity)
    }
  }

  /// The possible messages of a stranger at the step at which its token is due.
  enum Reveal: CaseIterable {
    case vanishes, isSilent, garbage, otherToken, otherNonce, ownToken, noToken, refusal, wrongStep
  }

  @Test(arguments: Reveal.allCases)
  func aBadInviterIsNoticed(_ how: Reveal) async throws {
    var limits = NINearbyPeers.Limits()
    if how == .isSilent { limits.message = .seconds(1) }
    let nearby = try await Self.peers("Bob", limits: limits)
    let wire = try await Self.connect(to: nearby)
    let session = Self.session()
    let (eve, other) = (try Stranger(), try Stranger())
    let noToken = PeerOpening(
      token: [UInt8](repeating: 0x55, count: 50), nonce: eve.opening.nonce)
    let own = PeerOpening(token: try session.identity.token.bytes, nonce: eve.opening.nonce)
    let shown =
      switch how {
      case .noToken: noToken
      case .ownToken: own
      default: eve.opening
      }
    try await wire.send(.invitation(commitment: shown.commitment, name: "Eve"))
    let invitation = try #require(await Self.invitation(at: nearby))
    let accepted = Task { try await invitation.accept(session) }
    guard case .answer = try await wire.next(within: .seconds(300)) else {
      Issue.record("no answer")
      return
    }
    switch how {
    case .vanishes: wire.channel.close()
    case .isSilent: break
    case .garbage: try await wire.channel.send([0xFF, 1, 2, 3])
    case .otherToken:
      try await wire.send(.reveal(token: other.opening.token, nonce: eve.opening.nonce))
    case .otherNonce:
      try await wire.send(.reveal(token: eve.opening.token, nonce: other.opening.nonce))
    case .ownToken, .noToken:
      try await wire.send(.reveal(token: shown.token, nonce: shown.nonce))
    case .refusal: try await wire.send(.refusal)
    case .wrongStep: try await wire.send(.confirmation(proof: eve.opening.nonce))
    }
    let expected: NIPeerError =
      switch how {
      case .vanishes: .vanished
      case .isSilent: .silent
      default: .damaged
      }
    await #expect(throws: expected) { try await accepted.value }
    nearby.close()
  }

  @Test func proofsAreComparedInEachByte() {
    let proof: [UInt8] = [1, 0, 0x80, 7]
    #expect(proof.isEqual(to: proof))
    #expect(!proof.isEqual(to: [1, 0, 0x80]))
    // Differences of two bytes must not cancel.
    #expect(!proof.isEqual(to: [0, 1, 0x80, 7]))
    for index in proof.indices {
      for bit in 0..<8 {
        var other = proof
        other[index] ^= 1 << bit
        #expect(!proof.isEqual(to: other))
        other[(index + 1) % 4] = 0xFF
        #expect(!proof.isEqual(to: other))
      }
    }
  }

  /// A program between the two peers uses its own token with both, and the codes of the peers then
  /// differ.
  @Test func whoeverStandsBetweenIsSeenInTheCodes() async throws {
    let (alice, bob) = (try await Self.peers("Alice"), try await Self.peers("Bob"))
    let (toAlice, toBob) = (try await Self.connect(to: alice), try await Self.connect(to: bob))
    let eve = try Stranger()
    var codes: [String] = []
    for (nearby, wire) in [(alice, toAlice), (bob, toBob)] {
      try await wire.send(.invitation(commitment: eve.opening.commitment, name: "Eve"))
      let invitation = try #require(await Self.invitation(at: nearby))
      let accepted = Task { try await invitation.accept(Self.session()) }
      guard case .answer = try await wire.next(within: .seconds(300)) else { continue }
      try await wire.send(.reveal(token: eve.opening.token, nonce: eve.opening.nonce))
      let connection = try await accepted.value
      codes.append(connection.code)
      // The peer rejects a proof that does not belong to the sender.
      let confirmed = Task { try await connection.confirm() }
      try await wire.send(.confirmation(proof: eve.opening.nonce))
      await #expect(throws: NIPeerError.damaged) { try await confirmed.value }
    }
    #expect(codes.count == 2 && codes[0] != codes[1])
    alice.close()
    bob.close()
  }

  /// Many connections send nothing or garbage. When they have ended, the other programs are served
  /// at once.
  @Test func aFloodOfConnectionsIsSurvived() async throws {
    let service = "t-" + String(UInt32.random(in: 0 ... .max), radix: 36)
    var limits = NINearbyPeers.Limits()
    limits.message = .seconds(1)
    let bob = try await Self.peers("Bob", in: service, limits: limits)
    var wires: [PeerWire] = []
    for index in 0..<50 {
      let wire = try await Self.connect(to: bob)
      if index % 2 == 0 { try? await wire.channel.send([UInt8](repeating: 0xA5, count: 1_000)) }
      wires.append(wire)
    }
    // The other end closes all of them.
    for wire in wires {
      await #expect(throws: NIPeerError.self) { try await wire.next(within: .seconds(300)) }
    }
    while bob.pending > 0 { await Task.yield() }
    let last = try await Self.connect(to: bob)
    try await last.send(.invitation(commitment: [UInt8](repeating: 1, count: 32), name: "Eve"))
    #expect(await Self.invitation(at: bob)?.name == "Eve")
    bob.close()
  }
}
