// SPDX-License-Identifier: Apache-2.0
internal import SystemPackage
internal import UWBLink

/// The permission of this process to use the chip.
enum Authorization {
  /// Returns the error if this process may not use the device; nil if it may, or if only an attempt
  /// can show it.
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
  /// The permission of this process to use the chip. Not part of Apple's API.
  ///
  /// On Linux it is the permission to open the chip's device node; no user is asked.
  public enum AuthorizationStatus: Sendable, Equatable {
    /// There is no device, or its permissions are not known in advance, as with `tcp:`.
    case notDetermined
    /// A session would end with this error, which has a recovery suggestion.
    case denied(NIError)
    /// The device may be opened.
    case authorized
  }

  /// The permission of this process to use the default device. The device is not opened. Not part
  /// of Apple's API.
  public class var authorizationStatus: AuthorizationStatus { Authorization.status(of: device) }

  /// The permission of this process to use the device of this session. The device is not opened.
  /// Not part of Apple's API.
  public var authorizationStatus: AuthorizationStatus {
    Authorization.status(of: device ?? Self.device)
  }
}
