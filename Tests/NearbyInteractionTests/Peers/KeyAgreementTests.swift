// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import NearbyInteraction
@testable import Peers

/// Bytes from hexadecimal digits; spaces are skipped.
func bytes(_ text: String) -> [UInt8] {
  let digits = text.filter { !$0.isWhitespace }
  precondition(digits.count.isMultiple(of: 2), "bytes have two digits each")
  return stride(from: 0, to: digits.count, by: 2).map { start in
    let first = digits.index(digits.startIndex, offsetBy: start)
    return UInt8(digits[first..<digits.index(first, offsetBy: 2)], radix: 16)!
  }
}

/// RFC 7748, section 6.1.
enum Published {
  static let alice = bytes("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a")
  static let alicePublic = bytes(
    "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a")
  static let bob = bytes("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb")
  static let bobPublic = bytes("de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f")
  static let secret = bytes("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742")
}

/// Published vectors, because two ends of this implementation could agree on errors.
@Suite struct KeyAgreementTests {
  @Test func x25519OfRFC7748() throws {
    let library = try Cryptography.load()
    #expect(try library.publicKey(of: Published.alice) == Published.alicePublic)
    #expect(try library.publicKey(of: Published.bob) == Published.bobPublic)
    #expect(try library.secret(Published.alice, Published.bobPublic) == Published.secret)
    #expect(try library.secret(Published.bob, Published.alicePublic) == Published.secret)
  }

  /// FIPS 180-2, appendix B.1.
  @Test func sha256() throws {
    #expect(
      try Cryptography.load().digest(Array("abc".utf8))
        == bytes("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"))
  }

  @Test func hkdfOfRFC5869() throws {
    let library = try Cryptography.load()
    // Test cases 1 and 3.
    #expect(
      library.derive(
        [UInt8](repeating: 0x0B, count: 22), salt: Array(0x00...0x0C), info: Array(0xF0...0xF9),
        count: 42)
        == bytes(
          "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"))
    #expect(
      library.derive(
        [UInt8](repeating: 0x0B, count: 22), salt: [], info: [], count: 42)
        == bytes(
          "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"))
  }

  @Test func smallOrderKeysAreRefused() throws {
    let library = try Cryptography.load()
    // Points of small order: 0 and 1.
    for low in [UInt8(0), 1] {
      let point = [low] + [UInt8](repeating: 0, count: 31)
      #expect(throws: PeerTokenError.unusableKey) { try library.secret(Published.alice, point) }
    }
    #expect(throws: PeerTokenError.unusableKey) { try library.secret(Published.alice, [1, 2, 3]) }
  }

  @Test func aMissingLibraryIsSaid() {
    let error = #expect(throws: PeerTokenError.self) {
      try Cryptography(["libcrypto.so.0"])
    }
    #expect(error?.description.contains("libcrypto.so.0") == true)
    let incomplete = #expect(throws: PeerTokenError.self) { try Cryptography(["libc.so.6"]) }
    #expect(incomplete?.description.contains("EVP_PKEY_new_raw_private_key") == true)
    #expect(incomplete.map { NIPeerError($0).code } == .noCryptography)
    #expect(incomplete.map { NIError($0).code } == .unsupportedPlatform)
  }
}
