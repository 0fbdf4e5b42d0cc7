// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials
internal import UCI
internal import UCIReference

/// The token that one end of a session between two Linux machines sends to the other, by any
/// channel. It has the end's address, the capabilities of its chip, and a public key that is new
/// for each session.
///
/// A token contains no secrets, and does not suffice for ranging. The keys on the air are derived
/// from a private key that never leaves its process. So a reused token, or a token for another
/// session, leads to other keys and no distance.
///
/// ## Format, version 1: 50 bytes, numbers little-endian
///
/// | offset | bytes | field |
/// |---|---|---|
/// | 0 | 4 | `UWBP` in ASCII |
/// | 4 | 1 | version: 1 |
/// | 5 | 1 | channels: bits as in the UCI capability CHANNELS (5, 6, 8, 9, 10, 12, 13, 14) |
/// | 6 | 2 | capabilities: bits as in `Capabilities` |
/// | 8 | 2 | short address, 1…0xFFFD |
/// | 10 | 2 | requested ranging interval in milliseconds, at least 1 |
/// | 12 | 2 | shortest slot of the chip, in RSTU, at least 1 |
/// | 14 | 32 | X25519 public key (RFC 7748) |
/// | 46 | 4 | the first bytes of SHA-256 of all the bytes before |
///
/// `PeerIdentity.session(with:)` describes the session that both ends derive from two tokens.
package struct PeerToken: Sendable, Hashable {
  /// The capabilities of the chip and the software at this end, as bits. Unknown bits are kept.
  package struct Capabilities: OptionSet, Sendable, Hashable {
    package let rawValue: UInt16
    package init(rawValue: UInt16) { self.rawValue = rawValue }
    package static let preciseDistance = Self(rawValue: 1 << 0)
    package static let direction = Self(rawValue: 1 << 1)
    package static let elevation = Self(rawValue: 1 << 2)
    /// This end has a source of poses.
    package static let cameraAssistance = Self(rawValue: 1 << 3)
    /// This end measures distances beyond the usual range.
    package static let extendedDistance = Self(rawValue: 1 << 4)
    package static let downlinkTDoA = Self(rawValue: 1 << 5)
    /// This end measures distances by Bluetooth channel sounding.
    package static let channelSounding = Self(rawValue: 1 << 6)
    /// The chip accepts keys for a provisioned STS.
    package static let provisionedSTS = Self(rawValue: 1 << 7)
    /// The chip can be the controller and initiator.
    package static let controller = Self(rawValue: 1 << 8)
    /// The chip can be the controlee and responder.
    package static let controlee = Self(rawValue: 1 << 9)
  }

  /// The version of tokens that this software writes.
  package static let version: UInt8 = 1
  /// The length of a token of that version in bytes.
  package static let length = 50
  static let magic: [UInt8] = Array("UWBP".utf8)

  /// The channels of the chip, as bits in the order of the UCI capability.
  package let channelMask: UInt8
  package let capabilities: Capabilities
  package let address: UInt16
  /// The requested ranging interval in milliseconds. The longer request of both ends is used.
  package let interval: UInt16
  /// The shortest slot of the chip in RSTU.
  package let minimumSlot: UInt16
  /// The X25519 public key, 32 bytes.
  package let publicKey: [UInt8]
}

extension PeerToken {
  /// Decodes the bytes of the peer's token.
  ///
  /// - Throws: `PeerTokenError.malformed`, `.unknownVersion` or `.noCryptography`.
  package init(_ bytes: [UInt8]) throws(PeerTokenError) {
    guard bytes.starts(with: Self.magic) else {
      throw .malformed(field: "the beginning", reason: "is not UWBP")
    }
    guard bytes.count > 4 else { throw .malformed(field: "version", reason: "is missing") }
    guard bytes[4] == Self.version else { throw .unknownVersion(bytes[4]) }
    guard bytes.count == Self.length else {
      throw .malformed(field: "length", reason: "is \(bytes.count), not \(Self.length)")
    }
    _ = try Cryptography.load()
    guard Self.checksum(Array(bytes.dropLast(4))) == Array(bytes.suffix(4)) else {
      throw .malformed(field: "checksum", reason: "does not match")
    }
    func number(_ offset: Int) -> UInt16 { UInt16(littleEndianBytes: bytes[offset...]) }
    guard (1...0xFFFD).contains(number(8)) else {
      throw .malformed(field: "address", reason: "is \(number(8)), not 1 to 65533")
    }
    guard number(10) > 0 else { throw .malformed(field: "interval", reason: "is 0") }
    guard number(12) > 0 else { throw .malformed(field: "shortest slot", reason: "is 0") }
    self.init(
      channelMask: bytes[5], capabilities: Capabilities(rawValue: number(6)), address: number(8),
      interval: number(10), minimumSlot: number(12), publicKey: Array(bytes[14..<46]))
  }

  /// The bytes to send to the peer.
  package var bytes: [UInt8] {
    var writer = PayloadWriter()
    writer.bytes(Self.magic)
    writer.u8(Self.version)
    writer.u8(channelMask)
    writer.u16(capabilities.rawValue)
    writer.u16(address)
    writer.u16(interval)
    writer.u16(minimumSlot)
    writer.bytes(publicKey)
    return writer.bytes + Self.checksum(writer.bytes)
  }

  private static func checksum(_ bytes: [UInt8]) -> [UInt8] {
    Array(Cryptography.loaded.digest(bytes).prefix(4))
  }
}

/// An error of a peer's token.
package enum PeerTokenError: LocalizedError, CustomStringConvertible, Sendable, Hashable {
  /// The bytes are not a token, or the token is damaged.
  case malformed(field: String, reason: String)
  case unknownVersion(UInt8)
  case ownToken
  /// The public key allows no shared secret.
  case unusableKey
  /// The two chips have no common way to range.
  case incompatible(reason: String)
  /// OpenSSL's library is missing, or lacks functions that tokens need.
  case noCryptography(reason: String)

  package var description: String {
    switch self {
    case .malformed(let field, let reason): "The peer's token is damaged: \(field) \(reason)."
    case .unknownVersion(let version):
      "The peer's token has the unknown version \(version)."
    case .ownToken: "The peer's token is this session's own."
    case .unusableKey: "The public key in the peer's token is unusable."
    case .incompatible(let reason): "The two chips cannot range: \(reason)."
    case .noCryptography(let reason): "Tokens need OpenSSL's libcrypto: \(reason)."
    }
  }

  package var errorDescription: String? { description }

  package var recoverySuggestion: String? {
    switch self {
    case .malformed: "Transfer the token completely and unchanged."
    case .unknownVersion: "Install the same version of the software at both ends."
    case .ownToken: "Exchange the tokens: each end needs the other's."
    case .unusableKey: "Start a new session at the peer and send its new token."
    case .incompatible: "Use chips that share a channel, and of which one can be the controller."
    case .noCryptography: "Install OpenSSL 3 or 1.1.1: sudo apt install libssl3"
    }
  }
}
