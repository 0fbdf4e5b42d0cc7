// SPDX-License-Identifier: Apache-2.0
import Channels
import System
import Testing
import UWBTestSupport

@testable import NearbyInteraction
@testable import Peers

/// Peers that connect, invite or announce themselves, and then fall silent. Time is virtual.
@Suite(.timeLimit(.minutes(10))) struct HostilePeerTests {
  /// One end of a channel in memory.
  private final class End: DataChannel {
    let messages: AsyncStream<[UInt8]>
    private let own: AsyncStream<[UInt8]>.Continuation
    private let peer: AsyncStream<[UInt8]>.Continuation
    var failure: ChannelError? { nil }

    private init(
      _ messages: AsyncStream<[UInt8]>, _ own: AsyncStream<[UInt8]>.Continuation,
      _ peer: AsyncStream<[UInt8]>.Continuation
    ) {
      (self.messages, self.own, self.peer) = (messages, own, peer)
    }

    static func pair() -> (End, End) {
      let (a, toA) = AsyncStream<[UInt8]>.makeStream()
      let (b, toB) = AsyncStream<[UInt8]>.makeStream()
      return (End(a, toA, toB), End(b, toB, toA))
    }

    func send(_ message: [UInt8]) async throws(ChannelError) {
      guard case .enqueued = peer.yield(message) else { throw .closed }
    }

    func close() {
      own.finish()
      peer.finish()
    }
  }

  /// The network of one program. Other programs have any address and any behaviour.
  private final class Network: PeerTransport {
    let id: UInt64 = 100
    let hasNetwork = true
    let arrivals: AsyncStream<PeerArrival>
    let arrival: AsyncStream<PeerArrival>.Continuation
    let report: @Sendable (PeerSighting) -> Void
    /// The other ends of invitations; nil refuses the connection.
    private let answer: @Sendable (UInt64) -> End?

    init(
      _ report: @escaping @Sendable (PeerSighting) -> Void,
      _ answer: @escaping @Sendable (UInt64) -> End?
    ) {
      (arrivals, arrival) = AsyncStream.makeStream()
      (self.report, self.answer) = (report, answer)
    }

    func connect(to id: UInt64) async throws(NIPeerError) -> any DataChannel {
      guard let end = answer(id) else { throw .unreachable("it refuses.") }
      return end
    }
    func close() { arrival.finish() }
    func end() async { close() }

    /// Connects to the program.
    func connect(from address: String) -> End {
      let (own, other) = End.pair()
      arrival.yield(PeerArrival(channel: other, address: address))
      return own
    }
  }

  private struct Stage {
    let time = VirtualTime()
    let nearby: NINearbyPeers
    let network: Network

    init(_ answer: @escaping @Sendable (UInt64) -> End? = { _ in nil }) async throws {
      var limits = NINearbyPeers.Limits()
      limits.timer = time.clock.timer
      nearby = try await NINearbyPeers(name: "Alice", limits: limits) { report in
        Network(report, answer)
      }
      network = try #require(nearby.transport as? Network)
    }

    func wire(_ end: End) -> PeerWire { PeerWire(end, network) }
  }

  private static func identity() throws -> PeerIdentity {
    try PeerIdentity(capabilities: [.controller, .controlee])
  }

  /// Invites as an honest program does, up to its token.
  private static func invite(_ wire: PeerWire, as name: String) async throws {
    let own = PeerOpening(try identity())
    try await wire.send(.invitation(commitment: own.commitment, name: name))
    guard case .answer = try await wire.next() else { throw NIPeerError.damaged }
    try await wire.send(.reveal(token: own.token, nonce: own.nonce))
  }

  private static func isClosed(_ end: End) async -> Bool {
    var messages = end.messages.makeAsyncIterator()
    return await messages.next() == nil
  }

  // MARK: silent connections

  /// The address of the silent connections, and of the honest program.
  @Test(arguments: ["eve", "bob"])
  func silentConnectionsDoNotKeepOthersAway(_ address: String) async throws {
    let stage = try await Stage()
    let silent = (0..<20).map { _ in stage.network.connect(from: address) }
    let bob = stage.network.connect(from: "bob")
    async let invited: Void = Self.invite(stage.wire(bob), as: "Bob")
    let connection = try #require(await stage.nearby.meet(as: Self.identity()))
    try await invited
    #expect(connection.name == "Bob")
    // The oldest connections were replaced at once.
    for end in silent.prefix(12) { #expect(await Self.isClosed(end)) }
    stage.nearby.close()
  }

  @Test func silentConnectionsEnd() async throws {
    let stage = try await Stage()
    let silent = (0..<8).map { _ in stage.network.connect(from: "eve") }
    // Each connection has its timer before the clock advances.
    await stage.time.timers(8)
    stage.time.advance(.seconds(10))
    for end in silent { #expect(await Self.isClosed(end)) }
    while stage.nearby.pending > 0 { await Task.yield() }
    stage.nearby.close()
  }

  @Test func connectionsAreCountedByAddress() {
    var pending = PendingConnections()
    func add(_ address: String) -> (id: Int?, replaced: Int?) {
      let (id, replaced) = pending.add(from: address) {}
      return (id, replaced?.id)
    }
    for id in 1...8 { #expect(add("eve") == (id, nil)) }
    pending.invites(1) {}
    // The connection that is replaced is the oldest connection without an invitation.
    #expect(add("eve") == (9, 2))
    #expect(add("bob") == (10, nil))
    for id in 3...9 { pending.invites(id) {} }
    #expect(add("eve") == (11, 1))
    pending.remove(10)
    #expect(pending.entries.count == 8)
    // All places are taken: the address with the most connections makes room.
    for address in 1...7 { for _ in 0..<8 { _ = add("eve \(address)") } }
    #expect(pending.entries.count == 64)
    for count in 1...7 {
      #expect(add("bob").id != nil)
      #expect(pending.entries.count { $0.address == "bob" } == count)
      #expect(pending.entries.count == 64)
    }
    #expect(add("bob").id == nil)
  }

  // MARK: failures

  @Test func aPeerIsInvitedAgain() async throws {
    let ends = Locked<[End]>([])
    let (dialled, dial) = AsyncStream<UInt64>.makeStream()
    let stage = try await Stage { id in
      dial.yield(id)
      return ends.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    }
    let (ours, theirs) = End.pair()
    stage.network.report(.found(id: 200, name: "Bob"))
    async let connection = stage.nearby.meet(as: Self.identity())
    var calls = dialled.makeAsyncIterator()
    let pauses = [1, 2, 4, 8, 16, 32, 32]
    for (index, pause) in pauses.enumerated() {
      #expect(await calls.next() == 200)
      await stage.time.timers(1)
      stage.time.advance(.seconds(pause) - .milliseconds(1))
      #expect(stage.time.pending == 1)
      if index == pauses.count - 1 { ends.withLock { $0 = [ours] } }
      stage.time.advance(.milliseconds(1))
    }
    let wire = stage.wire(theirs)
    guard case .invitation = try await wire.next() else {
      Issue.record("no invitation")
      return
    }
    let own = PeerOpening(try Self.identity())
    try await wire.send(.answer(token: own.token, nonce: own.nonce, name: "Bob"))
    #expect(try await connection?.name == "Bob")
    stage.nearby.close()
  }

  @Test func aPeerThatRefusesIsNotInvitedAgain() async throws {
    let (ours, theirs) = End.pair()
    let stage = try await Stage { _ in ours }
    stage.network.report(.found(id: 200, name: "Bob"))
    var events = stage.nearby.events.makeAsyncIterator()
    guard case .found(let peer)? = await events.next() else {
      Issue.record("not found")
      return
    }
    try await theirs.send(PeerMessage.refusal.bytes)
    await #expect(throws: NIPeerError.refused) {
      try await stage.nearby.invite(peer, as: Self.identity())
    }
    #expect(stage.time.pending == 0)
    stage.nearby.close()
  }

  /// Peers that accept the connection, or invite, and then send nothing.
  @Test(arguments: [true, false])
  func aSilentPeerDoesNotHoldUpOthers(_ isFound: Bool) async throws {
    let (ours, theirs) = End.pair()
    let stage = try await Stage { _ in ours }
    var silent: [PeerWire] = []
    if isFound {
      stage.network.report(.found(id: 200, name: "Eve"))
    } else {
      for _ in 0..<3 {
        let wire = stage.wire(stage.network.connect(from: "eve"))
        try await wire.send(.invitation(commitment: [UInt8](repeating: 1, count: 32), name: "Eve"))
        silent.append(wire)
      }
    }
    let (inviters, met) = AsyncStream<String>.makeStream()
    async let connection = stage.nearby.meet(as: Self.identity()) { step in
      if case .invited(let name) = step { met.yield(name) }
    }
    if isFound {
      guard case .invitation = try await stage.wire(theirs).next() else {
        Issue.record("no invitation")
        return
      }
    } else {
      var names = inviters.makeAsyncIterator()
      for _ in 0..<3 { #expect(await names.next() == "Eve") }
    }
    let bob = stage.network.connect(from: "bob")
    async let invited: Void = Self.invite(stage.wire(bob), as: "Bob")
    // Each silent inviter has one second, in the order in which the invitations were received.
    let (answers, answered) = AsyncStream<Bool>.makeStream()
    for wire in silent {
      Task {
        if case .answer? = try? await wire.next() {
          answered.yield(true)
        } else {
          answered.yield(false)
        }
      }
    }
    var each = answers.makeAsyncIterator()
    for _ in silent {
      #expect(await each.next() == true)
      stage.time.advance(.seconds(1))
    }
    #expect(try await connection?.name == "Bob")
    try await invited
    stage.nearby.close()
  }
}
