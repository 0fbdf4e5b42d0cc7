// SPDX-License-Identifier: Apache-2.0
internal import Crypto
internal import FoundationEssentials

/// X25519 (RFC 7748) and HKDF with SHA-256 (RFC 5869).
enum KeyAgreement {
  /// Returns the secret that two ends share.
  ///
  /// - Throws: `PeerTokenError.unusableKey` for a public key that leads to the same secret for everybody.
  static func secret(
    _ own: Curve25519.KeyAgreement.PrivateKey, _ peer: [UInt8]
  ) throws(PeerTokenError) -> SharedSecret {
    guard let key = try? Curve25519.KeyAgreement.PublicKey(rawRepresentation: peer),
      let secret = try? own.sharedSecretFromKeyAgreement(with: key),
      // RFC 7748, section 6.1: points of small order lead to zeros, which the library does not always
      // reject.
      secret.withUnsafeBytes({ $0.contains { $0 != 0 } })
    else { throw .unusableKey }
    return secret
  }

  /// Derives bytes from a secret.
  static func derive(
    _ secret: some ContiguousBytes, salt: [UInt8], info: [UInt8], count: Int
  ) -> [UInt8] {
    let key = HKDF<SHA256>.deriveKey(
      inputKeyMaterial: SymmetricKey(data: secret), salt: salt, info: info, outputByteCount: count)
    return key.withUnsafeBytes { Array($0) }
  }
}
