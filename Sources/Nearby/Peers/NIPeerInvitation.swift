// SPDX-License-Identifier: Apache-2.0
internal import Channels
internal import System

/// An invitation from a peer. Not part of Apple's API.
public final class NIPeerInvitation: Sendable {
  /// The announced name. Any program can announce any name.
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

  /// Accepts the invitation, and exchanges tokens.
  package func accept(as identity: PeerIdentity) async throws -> NIPeerConnection {
    guard markAnswered() else { throw NIPeerError.closed }
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

  /// Refuses the invitation, and notifies the peer.
  public func refuse() async {
    if markAnswered() { await wire.refuse() }
  }

  /// Marks the invitation as answered. Returns whether this is the first answer.
  private func markAnswered() -> Bool {
    let isFirst = isAnswered.withLock { isAnswered in
      defer { isAnswered = true }
      return !isAnswered
    }
    answer.finish()
    return isFirst
  }

  /// Refuses the invitation if it has no answer, without waiting.
  func end() { answer.finish() }

  /// Waits for the answer, and refuses the invitation after the limit.
  func wait(_ limit: Duration) async {
    let timer = limits.timer(limit) { [answer] in answer.finish() }
    defer { timer.cancel() }
    for await _ in answered {}
    await refuse()
  }
}
