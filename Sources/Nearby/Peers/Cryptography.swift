// SPDX-License-Identifier: Apache-2.0
internal import Glibc

/// X25519 (RFC 7748), SHA-256 and HKDF (RFC 5869) of OpenSSL's libcrypto.
///
/// The library is loaded when the first token is created or parsed, because only peers need it.
/// Building a library of this size from source would take longer than building the rest of
/// `uwbctl`.
@safe struct Cryptography: Sendable {
  // Safe because all members are addresses of functions, which never change.
  private typealias Key = OpaquePointer
  private typealias Context = OpaquePointer
  private typealias Bytes = UnsafePointer<UInt8>
  private typealias Output = UnsafeMutablePointer<UInt8>
  private typealias Length = UnsafeMutablePointer<Int>

  // Functions of openssl/evp.h and openssl/sha.h, unchanged since 1.1.1.
  private let privateKey: @convention(c) (CInt, OpaquePointer?, Bytes, Int) -> Key?
  private let publicKey: @convention(c) (CInt, OpaquePointer?, Bytes, Int) -> Key?
  private let rawPublicKey: @convention(c) (Key, Output, Length) -> CInt
  private let freeKey: @convention(c) (Key) -> Void
  private let context: @convention(c) (Key, OpaquePointer?) -> Context?
  private let freeContext: @convention(c) (Context) -> Void
  private let begin: @convention(c) (Context) -> CInt
  private let setPeer: @convention(c) (Context, Key) -> CInt
  private let derive: @convention(c) (Context, Output, Length) -> CInt
  private let sha256: @convention(c) (Bytes, Int, Output) -> Output?
  private let sha256Algorithm: @convention(c) () -> OpaquePointer?
  private let hmac:
    @convention(c) (
      OpaquePointer?, Bytes, CInt, Bytes, Int, Output, UnsafeMutablePointer<CUnsignedInt>
    ) -> Output?

  /// The library that this machine has.
  private static let shared = Result { () throws(PeerTokenError) in
    try Cryptography(["libcrypto.so.3", "libcrypto.so.1.1"])
  }

  /// Loads the library that this machine has.
  ///
  /// - Throws: `PeerTokenError.noCryptography`.
  static func load() throws(PeerTokenError) -> Cryptography { try shared.get() }

  /// The library, for code that has a token. Without the library there are no tokens.
  static var loaded: Cryptography {
    guard case .success(let library) = shared else { fatalError("a token without libcrypto") }
    return library
  }

  /// Loads the first library that exists. It stays loaded.
  init(_ names: [String]) throws(PeerTokenError) {
    var reasons: [String] = []
    for name in names {
      if let library = unsafe dlopen(name, RTLD_NOW | RTLD_LOCAL) {
        unsafe try self.init(library, name)
        return
      }
      unsafe reasons.append(dlerror().map { unsafe String(cString: $0) } ?? name)
    }
    throw .noCryptography(reason: reasons.joined(separator: "; "))
  }

  private init(_ library: UnsafeMutableRawPointer, _ file: String) throws(PeerTokenError) {
    func symbol<F>(_ name: String) throws(PeerTokenError) -> F {
      guard let address = unsafe dlsym(library, name) else {
        throw .noCryptography(reason: "\(file) has no \(name)")
      }
      // `address` points to a C function of type `F`.
      return unsafe unsafeBitCast(address, to: F.self)
    }
    unsafe privateKey = try symbol("EVP_PKEY_new_raw_private_key")
    unsafe publicKey = try symbol("EVP_PKEY_new_raw_public_key")
    unsafe rawPublicKey = try symbol("EVP_PKEY_get_raw_public_key")
    unsafe freeKey = try symbol("EVP_PKEY_free")
    unsafe context = try symbol("EVP_PKEY_CTX_new")
    unsafe freeContext = try symbol("EVP_PKEY_CTX_free")
    unsafe begin = try symbol("EVP_PKEY_derive_init")
    unsafe setPeer = try symbol("EVP_PKEY_derive_set_peer")
    unsafe derive = try symbol("EVP_PKEY_derive")
    unsafe sha256 = try symbol("SHA256")
    unsafe sha256Algorithm = try symbol("EVP_sha256")
    unsafe hmac = try symbol("HMAC")
  }
}

extension Cryptography {
  /// The value of EVP_PKEY_X25519 in openssl/evp.h.
  private static let x25519: CInt = 1_034
  static let keyLength = 32
  private static let digestLength = 32

  /// Returns a new private key.
  static func makePrivateKey() -> [UInt8] {
    var source = SystemRandomNumberGenerator()
    return (0..<keyLength).map { _ in source.next() }
  }

  /// Returns the public key of a private key.
  ///
  /// - Throws: `PeerTokenError.noCryptography` if the library has no X25519, as in its FIPS mode.
  func publicKey(of own: [UInt8]) throws(PeerTokenError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: Self.keyLength)
    var count = bytes.count
    guard let key = unsafe privateKey(Self.x25519, nil, own, own.count) else { throw .noX25519 }
    defer { unsafe freeKey(key) }
    guard unsafe rawPublicKey(key, &bytes, &count) == 1, count == Self.keyLength else {
      throw .noX25519
    }
    return bytes
  }

  /// Returns the secret that two ends share.
  ///
  /// - Throws: `PeerTokenError.unusableKey` for a public key that leads every end to the same
  ///   secret.
  func secret(_ own: [UInt8], _ peer: [UInt8]) throws(PeerTokenError) -> [UInt8] {
    guard let own = unsafe privateKey(Self.x25519, nil, own, own.count) else { throw .noX25519 }
    defer { unsafe freeKey(own) }
    guard let peer = unsafe publicKey(Self.x25519, nil, peer, peer.count) else {
      throw .unusableKey
    }
    defer { unsafe freeKey(peer) }
    guard let context = unsafe context(own, nil) else { throw .noX25519 }
    defer { unsafe freeContext(context) }
    var bytes = [UInt8](repeating: 0, count: Self.keyLength)
    var count = bytes.count
    guard unsafe begin(context) == 1, unsafe setPeer(context, peer) == 1,
      unsafe derive(context, &bytes, &count) == 1,
      // RFC 7748, section 6.1: points of small order give zeros, which some versions accept.
      count == Self.keyLength, bytes.contains(where: { $0 != 0 })
    else { throw .unusableKey }
    return bytes
  }

  /// Returns the SHA-256 digest of `bytes`.
  func digest(_ bytes: [UInt8]) -> [UInt8] {
    var digest = [UInt8](repeating: 0, count: Self.digestLength)
    _ = unsafe sha256(bytes, bytes.count, &digest)
    return digest
  }

  /// Returns `count` bytes of HKDF with SHA-256, at most 8,160.
  func derive(_ secret: [UInt8], salt: [UInt8], info: [UInt8], count: Int) -> [UInt8] {
    // RFC 5869, 2.2 and 2.3.
    let key = authenticate(secret, salt.isEmpty ? .init(repeating: 0, count: 32) : salt)
    var (bytes, block): ([UInt8], [UInt8]) = ([], [])
    for number in 1...UInt8((count + Self.digestLength - 1) / Self.digestLength) {
      block = authenticate(block + info + [number], key)
      bytes += block
    }
    return Array(bytes.prefix(count))
  }

  private func authenticate(_ bytes: [UInt8], _ key: [UInt8]) -> [UInt8] {
    var code = [UInt8](repeating: 0, count: Self.digestLength)
    var count: CUnsignedInt = 0
    _ = unsafe hmac(sha256Algorithm(), key, CInt(key.count), bytes, bytes.count, &code, &count)
    return code
  }
}

extension PeerTokenError {
  fileprivate static let noX25519 = noCryptography(reason: "it does not offer X25519")
}
