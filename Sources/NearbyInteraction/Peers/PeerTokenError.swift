// SPDX-License-Identifier: Apache-2.0

/// Why a token is of no use.
public enum PeerTokenError: Error, Sendable, Hashable {
  /// The bytes are no token, or a damaged one: which field is wrong, and why.
  case malformed(field: String, reason: String)
  /// A token of another version than this software knows.
  case unknownVersion(UInt8)
  /// The token of this very session.
  case ownToken
  /// A public key with which no secret can be agreed on.
  case unusableKey
  /// The two chips have nothing in common with which they could range.
  case incompatible(reason: String)
}

extension PeerTokenError: CustomStringConvertible {
  /// One sentence with the cause.
  public var description: String {
    switch self {
    case .malformed(let field, let reason): "The peer's token is damaged: \(field) \(reason)."
    case .unknownVersion(let version):
      "The peer's token has version \(version), which this software does not know."
    case .ownToken: "The peer's token is this session's own."
    case .unusableKey: "The public key in the peer's token is unusable."
    case .incompatible(let reason): "The two chips cannot range: \(reason)."
    }
  }

  /// What to try next.
  public var suggestion: String {
    switch self {
    case .malformed: "Send the bytes of the token as they are, all of them."
    case .unknownVersion: "Bring both ends to the same version of the software."
    case .ownToken: "Exchange the tokens: each end needs the other's."
    case .unusableKey: "Let the peer begin a new session and send its new token."
    case .incompatible: "Use chips that share a channel, and of which one can be the controller."
    }
  }
}
