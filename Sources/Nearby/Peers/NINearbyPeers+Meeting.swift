// SPDX-License-Identifier: Apache-2.0
internal import System

extension NINearbyPeers {
  /// A step before the connection.
  package enum MeetingStep: Sendable {
    case found(Peer)
    case invited(String)
    case failed(NIPeerError)
  }

  /// Connects to the first peer with which the exchange of tokens succeeds.
  ///
  /// Invites each peer for which `isToInvite` is true, and accepts each invitation. A silent peer
  /// does not delay the others, and a peer is invited again after a failure.
  ///
  /// - Parameter name: The name of the peer; nil for any.
  /// - Returns: The connection; nil if the task was cancelled, or the search was closed.
  package func meet(
    as identity: PeerIdentity, named name: String? = nil, _ report: (MeetingStep) -> Void = { _ in }
  ) async -> NIPeerConnection? {
    let (steps, sink) = AsyncStream<Meeting.Step>.makeStream()
    let listening = Task { [events] in
      for await event in events { sink.yield(.event(event)) }
      sink.finish()
    }
    var meeting = Meeting(nearby: self, identity: identity, timer: limits.timer, sink: sink)
    defer {
      listening.cancel()
      meeting.end()
    }
    var known: Set<Peer> = []
    for await step in steps {
      switch step {
      case .event(.found(let peer)) where name == nil || peer.name == name:
        if known.insert(peer).inserted { report(.found(peer)) }
        if isToInvite(peer) { meeting.invite(peer) }
      case .event(.invited(let invitation)) where name == nil || invitation.name == name:
        report(.invited(invitation.name))
        meeting.accept(invitation)
      case .event(.invited(let invitation)): await invitation.refuse()
      case .event(.lost(let peer)): known.remove(peer)
      case .event: break
      case .connected(let connection): return connection
      case .failed(let id, let error):
        if error != .closed { report(.failed(error)) }
        meeting.failed(id)
      case .turnOver(let id): meeting.turnOver(id)
      }
    }
    return nil
  }
}

/// The attempts to connect, each in a task of its own.
private struct Meeting {
  enum Step: Sendable {
    case event(NINearbyPeers.Event)
    case connected(NIPeerConnection)
    case failed(Int, NIPeerError)
    /// The time of an accepted invitation is over.
    case turnOver(Int)
  }

  let nearby: NINearbyPeers
  let identity: PeerIdentity
  let timer: NINearbyPeers.Limits.Timer
  let sink: AsyncStream<Step>.Continuation
  private var attempts: [Int: Task<Void, Never>] = [:]
  private var last = 0
  /// The invitations to accept, one after the other. An inviter that has sent its token relies on
  /// the connection, so only one inviter at a time may send its token.
  private var waiting: [NIPeerInvitation] = []
  private var turn: (id: Int, timer: OneShotTimer)?

  init(
    nearby: NINearbyPeers, identity: PeerIdentity,
    timer: @escaping NINearbyPeers.Limits.Timer, sink: AsyncStream<Step>.Continuation
  ) {
    (self.nearby, self.identity, self.timer, self.sink) = (nearby, identity, timer, sink)
  }

  mutating func invite(_ peer: NINearbyPeers.Peer) {
    attempt { [nearby, identity] in try await nearby.invite(peer, as: identity) }
  }

  mutating func accept(_ invitation: NIPeerInvitation) {
    waiting.append(invitation)
    acceptNext()
  }

  mutating func failed(_ id: Int) {
    attempts[id] = nil
    turnOver(id)
  }

  mutating func turnOver(_ id: Int) {
    guard turn?.id == id else { return }
    turn = nil
    acceptNext()
  }

  mutating func end() {
    for attempt in attempts.values { attempt.cancel() }
    sink.finish()
  }

  private mutating func acceptNext() {
    guard turn == nil, !waiting.isEmpty else { return }
    let (invitation, id) = (waiting.removeFirst(), last + 1)
    turn = (id, timer(nearby.limits.turn) { [sink] in sink.yield(.turnOver(id)) })
    attempt { [identity] in try await invitation.accept(as: identity) }
  }

  private mutating func attempt(
    _ connect: @escaping @Sendable () async throws -> NIPeerConnection
  ) {
    last += 1
    attempts[last] = Task { [sink, last] in
      do {
        let connection = try await connect()
        // Another attempt may have succeeded first.
        if case .terminated = sink.yield(.connected(connection)) { connection.close() }
      } catch {
        sink.yield(.failed(last, error as? NIPeerError ?? .vanished))
      }
    }
  }
}
