// SPDX-License-Identifier: Apache-2.0
internal import FoundationEssentials

/// Why a peer's token cannot be used.
package enum PeerTokenError: LocalizedError, Sendable, Hashable {
  /// The bytes are not a token, or a damaged one.
  case malformed(field: String, reason: String)
  /// A token of an unknown version.
  case unknownVersion(UInt8)
  /// The token of the session itself.
  case ownToken
  /// A public key that allows no shared secret.
  case unusableKey
  /// The two chips have no common way to range.
  case incompatible(reason: String)
}

extension PeerTokenError: CustomStringConvertible {
  /// The cause in one sentence.
  package var description: String {
    switch self {
    case .malformed(let field, let reason): "The peer's token is damaged: \(field) \(reason)."
    case .unknownVersion(let version):
      "The peer's token has the unknown version \(version)."
    case .ownToken: "The peer's token is this session's own."
    case .unusableKey: "The public key in the peer's token is unusable."
    case .incompatible(let reason): "The two chips cannot range: \(reason)."
    }
  }

  package var errorDescription: String? { description }

  /// What to try next.
  package var recoverySuggestion: String? {
    switch self {
    case .malformed: "Transfer the token completely and unchanged."
    case .unknownVersion: "Bring both ends to the same version of the software."
    case .ownToken: "Exchange the tokens: each end needs the other's."
    case .unusableKey: "Start a new session at the peer and send its new token."
    case .incompatible: "Use chips that share a channel, and of which one can be the controller."
    }
  }
}
