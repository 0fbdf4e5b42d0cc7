// SPDX-License-Identifier: Apache-2.0

extension NISession {
  /// Beyond Apple: whether this process may use the chip. On Linux that is whether it may open the
  /// device node; nobody is asked.
  public enum AuthorizationStatus: Sendable, Equatable {
    /// There is no device, or it is none whose permissions can be looked at, as with `tcp:`.
    case notDetermined
    /// A session would end with this error, whose recovery suggestion says what helps.
    case denied(NIError)
    /// The device may be opened.
    case authorized
  }

  /// Beyond Apple: whether this process may use the chip of all sessions. Nothing is opened.
  public class var authorizationStatus: AuthorizationStatus { Authorization.status(of: device) }

  /// Beyond Apple: whether this process may use the chip of this session. Nothing is opened.
  public var authorizationStatus: AuthorizationStatus {
    Authorization.status(of: device ?? Self.device)
  }
}
