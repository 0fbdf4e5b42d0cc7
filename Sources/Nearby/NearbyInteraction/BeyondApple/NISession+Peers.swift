// SPDX-License-Identifier: Apache-2.0
@_exported public import Peers

extension NINearbyPeers {
  /// Invites a peer, and exchanges tokens after its user has accepted.
  ///
  /// - Parameters:
  ///   - peer: the peer to invite.
  ///   - session: the session, for this peer only. Its chip is opened to read its capabilities.
  /// - Returns: a connection, which has the code to compare.
  /// - Throws: `NIPeerError`.
  public func invite(_ peer: Peer, to session: NISession) async throws -> NIPeerConnection {
    try await invite(peer, as: await session.preparedIdentity())
  }
}

extension NIPeerInvitation {
  /// Accepts the invitation, and exchanges tokens.
  ///
  /// - Parameter session: the session, for this peer only. Its chip is opened to read its
  ///   capabilities.
  /// - Returns: a connection, which has the code to compare.
  /// - Throws: `NIPeerError`; `.closed` if the invitation has an answer, or had none for two
  ///   minutes.
  public func accept(_ session: NISession) async throws -> NIPeerConnection {
    try await accept(as: await session.preparedIdentity())
  }
}

extension NIPeerConnection {
  /// Confirms that the codes are equal, and waits for the confirmation of the other machine.
  ///
  /// - Returns: the peer's token, for `NINearbyPeerConfiguration`.
  /// - Throws: `NIPeerError`.
  public func confirm() async throws -> NIDiscoveryToken {
    NIDiscoveryToken(.peer, try await confirmed().bytes)
  }
}

extension NISession {
  /// Returns this end of a session with a peer, with the capabilities of the chip.
  fileprivate func preparedIdentity() async throws(NIPeerError) -> PeerIdentity {
    await NISession.prepare(device)
    do throws(PeerTokenError) {
      return try identity
    } catch {
      throw NIPeerError(error)
    }
  }
}
