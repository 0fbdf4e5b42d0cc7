// SPDX-License-Identifier: Apache-2.0
internal import SystemPackage
internal import UWBLink

/// Whether this process may use the chip.
enum Authorization {
  /// Why it may not; nil where it may, or where only an attempt can tell.
  static func problem(with device: String?) -> NIError? {
    if case .denied(let error) = status(of: device) { error } else { nil }
  }

  static func status(of device: String?) -> NISession.AuthorizationStatus {
    guard case .success(let endpoint) = DeviceChoice.endpoint(named: device),
      let path = path(of: endpoint), let access = DeviceAccess(of: path)
    else { return .notDetermined }
    return access.isAllowed ? .authorized : .denied(denial(path, access))
  }

  private static func path(of endpoint: LinkEndpoint) -> FilePath? {
    if case .usb(let serial, let interface, _, _) = endpoint {
      return try? Discovery().port(serial: serial, interface: interface).path
    }
    return endpoint.path
  }

  static func denial(_ path: FilePath, _ access: DeviceAccess) -> NIError {
    let recovery =
      if access.needsNewLogin {
        "The user is in the group \(access.group) already: log in again."
      } else if let group = access.joinableGroup {
        "Install udev/60-uwb.rules and plug the device in again, or join the group: "
          + "sudo usermod -aG \(group) $USER, then log in again."
      } else {
        "Install udev/60-uwb.rules and plug the device in again."
      }
    return NIError(
      .userDidNotAllow,
      reason: "This user may not open \(path.string) (\(access)).", recovery: recovery)
  }
}

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
