// SPDX-License-Identifier: Apache-2.0

/// Names a parameter of a session (SESSION_SET_APP_CONFIG, SESSION_GET_APP_CONFIG).
///
/// An open type: identifiers that are not named here can be used as they are. What is known of a
/// parameter is in `parameter(in:)`.
public struct AppConfigID: RawRepresentable, Hashable, Sendable {
  /// The byte on the wire.
  public let rawValue: UInt8
  /// Creates an identifier from its byte.
  @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }
}

extension AppConfigID {
  /// Key material or an initialisation vector in some dialect, which does not belong into logs.
  public var isSecret: Bool { Self.secrets.contains(self) }

  private static let secrets: Set<AppConfigID> = [
    .staticSTSIV, .sessionKey, .subSessionKey, .cccHopModeKey, .qorvoURSK,
  ]
}

extension TLV {
  /// A parameter of a session with its value as it goes on the wire.
  public init(_ id: AppConfigID, _ value: [UInt8]) {
    self.init(id.rawValue, value)
  }
}
