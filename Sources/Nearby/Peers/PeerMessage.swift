// SPDX-License-Identifier: Apache-2.0

/// A message between two peers. Over TCP it is preceded by its length in two bytes, little-endian.
/// Over Bluetooth LE it is one write or notification.
///
/// ## Exchange, version 1
///
/// | | message | bytes after its identifier |
/// |---|---|---|
/// | 1 | A → B `invitation` (0x01) | version 1, commitment (32), name of A (1…63) |
/// | 2 | B → A `answer` (0x02) | token of B (50), nonce of B (16), name of B (1…63) |
/// | 3 | A → B `reveal` (0x03) | token of A (50), nonce of A (16) |
/// | 4 | both `confirmation` (0x04) | proof (16) |
/// | | either, at any time, `refusal` (0x05) | |
///
/// The commitment is SHA-256 of `swift-uwb peer commitment 1`, the token of A and the nonce of A.
///
/// The transcript is SHA-256 of `swift-uwb peer code 1`, both tokens, both nonces, the length of
/// A's name in one byte, and both names. A's part is always first. The code that users compare is
/// the first 8 bytes of the transcript, as a big-endian number, modulo 1000000.
///
/// A third party between the two has to choose its token and nonce for each side before it receives
/// the token of that side. So it cannot search for tokens that lead to equal codes. One attempt in
/// a million succeeds, and each attempt needs another comparison by users.
///
/// The proof is HKDF with SHA-256 of the X25519 secret of both tokens. Its information is
/// `swift-uwb peer confirmation 1`, the transcript and the sender (0x41 for A, 0x42 for B). So only
/// the owner of a token's private key can confirm.
package enum PeerMessage: Sendable, Hashable {
  case invitation(commitment: [UInt8], name: String)
  case answer(token: [UInt8], nonce: [UInt8], name: String)
  case reveal(token: [UInt8], nonce: [UInt8])
  case confirmation(proof: [UInt8])
  case refusal

  static let version: UInt8 = 1
  static let nonceLength = 16
  static let proofLength = 16

  /// Parses a message; nil for bytes that this version does not send.
  package init?(_ bytes: [UInt8]) {
    let opened = PeerToken.length + Self.nonceLength
    switch (bytes.first, bytes.count) {
    case (0x01, 35...97) where bytes[1] == Self.version:
      guard let name = PeerAnnouncement.name(bytes[34...]) else { return nil }
      self = .invitation(commitment: Array(bytes[2..<34]), name: name)
    case (0x02, opened + 2...opened + 64):
      guard let name = PeerAnnouncement.name(bytes[(opened + 1)...]) else { return nil }
      self = .answer(
        token: Array(bytes[1...PeerToken.length]),
        nonce: Array(bytes[(PeerToken.length + 1)...opened]), name: name)
    case (0x03, opened + 1):
      self = .reveal(
        token: Array(bytes[1...PeerToken.length]),
        nonce: Array(bytes[(PeerToken.length + 1)...opened]))
    case (0x04, Self.proofLength + 1): self = .confirmation(proof: Array(bytes[1...]))
    case (0x05, 1): self = .refusal
    default: return nil
    }
  }

  package var bytes: [UInt8] {
    switch self {
    case .invitation(let commitment, let name): [0x01, Self.version] + commitment + name.utf8
    case .answer(let token, let nonce, let name): [0x02] + token + nonce + name.utf8
    case .reveal(let token, let nonce): [0x03] + token + nonce
    case .confirmation(let proof): [0x04] + proof
    case .refusal: [0x05]
    }
  }
}

/// One side of an exchange: its token with a nonce.
struct PeerOpening: Sendable {
  let token: [UInt8]
  let nonce: [UInt8]

  init(token: [UInt8], nonce: [UInt8]) { (self.token, self.nonce) = (token, nonce) }

  /// Creates an opening with a new nonce.
  init(_ identity: PeerIdentity) {
    var source = SystemRandomNumberGenerator()
    self.init(
      token: identity.token.bytes, nonce: (0..<PeerMessage.nonceLength).map { _ in source.next() })
  }

  var commitment: [UInt8] {
    Cryptography.loaded.digest(Array("swift-uwb peer commitment 1".utf8) + token + nonce)
  }
}

/// The data that both sides have to agree on, A's part first.
struct PeerTranscript: Sendable {
  let digest: [UInt8]

  init(_ a: PeerOpening, named nameA: String, _ b: PeerOpening, named nameB: String) {
    var bytes = Array("swift-uwb peer code 1".utf8) + a.token + b.token + a.nonce + b.nonce
    bytes.append(UInt8(nameA.utf8.count))
    bytes += Array(nameA.utf8) + Array(nameB.utf8)
    digest = Cryptography.loaded.digest(bytes)
  }

  /// The code: six digits in two groups.
  var code: String {
    let number = digest[..<8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) } % 1_000_000
    let digits = String(String(1_000_000 + number).dropFirst())
    return digits.prefix(3) + " " + digits.suffix(3)
  }

  func proof(ofA isA: Bool, _ identity: PeerIdentity, _ peer: PeerToken) throws(PeerTokenError)
    -> [UInt8]
  {
    let library = Cryptography.loaded
    return library.derive(
      try library.secret(identity.key, peer.publicKey), salt: [],
      info: Array("swift-uwb peer confirmation 1".utf8) + digest + [isA ? 0x41 : 0x42],
      count: PeerMessage.proofLength)
  }
}
