// SPDX-License-Identifier: Apache-2.0
@_exported public import Peers

extension NINearbyPeers {
  /// Invites a peer, and exchanges tokens when somebody has accepted there.
  ///
  /// - Parameters:
  ///   - peer: who is invited.
  ///   - session: ranges with this peer only. Its chip is asked what it supports.
  /// - Returns: a connection whose code is to be compared.
  /// - Throws: `NIPeerError`.
  public func invite(_ peer: Peer, to session: NISession) async throws -> NIPeerConnection {
    try await invite(peer, as: await session.preparedIdentity())
  }
}

extension NIPeerInvitation {
  /// Accepts, and exchanges tokens.
  ///
  /// - Parameter session: ranges with this peer only. Its chip is asked what it supports.
  /// - Returns: a connection whose code is to be compared.
  /// - Throws: `NIPeerError`; `.closed` for an invitation that was answered, or not answered for two
  ///   minutes.
  public func accept(_ session: NISession) async throws -> NIPeerConnection {
    try await accept(as: await session.preparedIdentity())
  }
}

extension NIPeerConnection {
  /// Says that the codes are equal, and waits until the people at the other machine have said so, too.
  ///
  /// - Returns: the peer's token, for `NINearbyPeerConfiguration`.
  /// - Throws: `NIPeerError`.
  public func confirm() async throws -> NIDiscoveryToken {
    NIDiscoveryToken(.peer, try await confirmed().bytes)
  }
}

extension NISession {
  /// This end of a session with a peer, with what the chip supports.
  fileprivate func preparedIdentity() async throws(NIPeerError) -> PeerIdentity {
    await NISession.prepare(device)
    do throws(PeerTokenError) {
      return try identity
    } catch {
      throw NIPeerError(error)
    }
  }
}
