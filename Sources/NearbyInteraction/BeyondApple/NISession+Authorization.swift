// SPDX-License-Identifier: Apache-2.0

extension NISession {
  /// Beyond Apple: whether this process may use the chip, which on Linux is the permission to open its
  /// device node; no user is asked.
  public enum AuthorizationStatus: Sendable, Equatable {
    /// There is no device, or its permissions are not known in advance, as with `tcp:`.
    case notDetermined
    /// A session would end with this error, which has a recovery suggestion.
    case denied(NIError)
    /// The device may be opened.
    case authorized
  }

  /// Beyond Apple: whether this process may use the default device. Opens nothing.
  public class var authorizationStatus: AuthorizationStatus { Authorization.status(of: device) }

  /// Beyond Apple: whether this process may use the device of this session. Opens nothing.
  public var authorizationStatus: AuthorizationStatus {
    Authorization.status(of: device ?? Self.device)
  }
}
