// SPDX-License-Identifier: Apache-2.0
internal import UCI
package import UWB

extension PeerIdentity {
  /// The text before both tokens in the derivation. Each version has its own text.
  static let info: [UInt8] = Array("swift-uwb peer session 1".utf8)

  /// Returns the session with a peer, ready for `UWBDevice.makeSession`.
  ///
  /// The peer derives the other end of the same session.
  ///
  /// ## Derivation, version 1
  ///
  /// The tokens are ordered by their public keys, byte by byte; "first" and "second" refer to that
  /// order. Both ends compute X25519 of their own private key and the peer's public key.
  ///
  /// HKDF with SHA-256, without salt, derives 29 bytes from the result. Its information is
  /// `swift-uwb peer session 1`, the first token and the second token (50 bytes each):
  ///
  /// | offset | bytes | what |
  /// |---|---|---|
  /// | 0 | 4 | session id, little-endian; 1 instead of 0 |
  /// | 4 | 16 | SESSION_KEY, where both chips take keys for a provisioned STS |
  /// | 20 | 8 | otherwise VENDOR_ID and STATIC_STS_IV, in the order of the wire |
  /// | 28 | 1 | preamble code: 9 and the lowest two bits |
  ///
  /// The first end is the controller and initiator, unless only the second can be.
  ///
  /// Each end has the address of its token. If the addresses are equal, the second is one lower, or
  /// 2 instead of 1. The channel is the first of 9, 5, 8, 6, 10, 12, 13, 14 that both ends support.
  ///
  /// A slot has the length that both ends need, at least 2400 RSTU, and a round has 6 slots. A
  /// block has the longer requested interval, at least a round. The session is double-sided two-way
  /// ranging with deferred results, SP3 frames and no hopping.
  ///
  /// - Throws: `PeerTokenError`.
  package func session(with peer: PeerToken) throws(PeerTokenError) -> SessionConfiguration {
    guard peer.publicKey != token.publicKey else { throw .ownToken }
    let isFirst = token.publicKey.lexicographicallyPrecedes(peer.publicKey)
    let (first, second) = isFirst ? (token, peer) : (peer, token)
    let firstControls = try Self.firstControls(first, second)
    let channel = try Self.channel(first, second)
    let library = Cryptography.loaded
    let derived = library.derive(
      try library.secret(key, peer.publicKey), salt: [],
      info: Self.info + first.bytes + second.bytes, count: 29)
    var addresses = [first.address, second.address]
    if addresses[0] == addresses[1] { addresses[1] = addresses[1] == 1 ? 2 : addresses[1] - 1 }
    if !isFirst { addresses.reverse() }
    let id = UInt32(littleEndianBytes: derived)
    var session = SessionConfiguration(
      role: firstControls == isFirst ? .controller : .controlee, sessionID: max(1, id),
      address: MACAddress(addresses[0]), peers: [MACAddress(addresses[1])])
    session.channel = UInt8(channel)
    session.preambleCode = 9 + derived[28] & 3
    session.slotDuration = max(2_400, first.minimumSlot, second.minimumSlot)
    session.slotsPerRound = 6
    let round = (UInt32(session.slotsPerRound) * UInt32(session.slotDuration) + 1_199) / 1_200
    session.interval = max(UInt32(max(first.interval, second.interval)), round)
    let isProvisioned =
      first.capabilities.contains(.provisionedSTS) && second.capabilities.contains(.provisionedSTS)
    session.sts =
      isProvisioned
      ? .provisioned(.init(Array(derived[4..<20])))
      : .fixed(.init(vendorID: Array(derived[20..<22]), iv: Array(derived[22..<28])))
    session.wantsAngles = !token.capabilities.isDisjoint(with: [.direction, .elevation])
    // The report is the same at both ends, whatever their capabilities are.
    session.resultReport = .timeOfFlight
    return session
  }

  private static func firstControls(
    _ first: PeerToken, _ second: PeerToken
  ) throws(PeerTokenError) -> Bool {
    let (a, b) = (first.capabilities, second.capabilities)
    if a.contains(.controller), b.contains(.controlee) { return true }
    if b.contains(.controller), a.contains(.controlee) { return false }
    throw .incompatible(reason: "neither can be the controller of the other")
  }

  private static func channel(
    _ first: PeerToken, _ second: PeerToken
  ) throws(PeerTokenError) -> Int {
    let both = Set(first.channels).intersection(second.channels)
    guard let channel = [9, 5, 8, 6, 10, 12, 13, 14].first(where: both.contains) else {
      throw .incompatible(reason: "they have no common channel")
    }
    return channel
  }
}
