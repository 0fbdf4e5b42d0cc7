// SPDX-License-Identifier: Apache-2.0
internal import CUWB
internal import Glibc
public import SystemPackage

/// Why a link could not be opened, or ended.
public struct LinkError: Error, Sendable, Hashable {
  /// What went wrong, apart from the details.
  public enum Code: Sendable, Hashable {
    /// There is nothing at the path.
    case notFound
    /// The name fits several devices, or several ports of one.
    case ambiguous
    /// The device is there, but this user may not open it.
    case permissionDenied
    /// Another program holds the device.
    case busy
    /// The path leads to something that is not a serial device.
    case notASerialDevice
    /// The text does not name a device, or its settings are impossible.
    case invalidEndpoint
    /// The host has no address.
    case unresolvedHost
    /// Nobody listens there.
    case connectionRefused
    /// The device takes no octets, or the host does not answer.
    case timeout
    /// The other end closed the connection.
    case closedByPeer
    /// The device was unplugged or its driver went away.
    case deviceGone
    /// Anything else the kernel said; see `errno`.
    case system
  }

  /// What went wrong.
  public let code: Code
  /// What the kernel said, where it said anything.
  public let errno: Errno?
  /// Which device.
  public let endpoint: String
  /// More about it, where there is more.
  public let detail: String?

  /// An error about `endpoint`.
  public init(_ code: Code, endpoint: String, errno: Errno? = nil, detail: String? = nil) {
    self.code = code
    self.errno = errno
    self.endpoint = endpoint
    self.detail = detail
  }
}

extension LinkError: CustomStringConvertible {
  /// The cause in one sentence.
  public var description: String {
    switch code {
    case .notFound: "There is no device at \(endpoint)\(detail.map { ": \($0)" } ?? "")."
    case .ambiguous: "\(endpoint) fits several ports: \(detail ?? "see uwbctl list")."
    case .permissionDenied: "This user may not open \(endpoint)."
    case .busy: "Another program holds \(endpoint)."
    case .notASerialDevice: "\(endpoint) is not a serial device."
    case .invalidEndpoint: "'\(endpoint)' does not name a device: \(detail ?? "see the form")."
    case .unresolvedHost: "The host of \(endpoint) has no address."
    case .connectionRefused: "Nobody listens at \(endpoint)."
    case .timeout: "\(endpoint) did not take the octets in time."
    case .closedByPeer: "The other end closed \(endpoint)."
    case .deviceGone: "\(endpoint) disappeared: it was unplugged or its driver went away."
    case .system:
      "\(endpoint) failed: \(errno.map { "\($0) (errno \($0.rawValue))" } ?? detail ?? "unknown")."
    }
  }

  /// What to try next; nil where there is nothing better than the cause itself.
  public var suggestion: String? {
    switch code {
    case .notFound: "Check the cable and list the candidates with: uwbctl list"
    case .ambiguous:
      "Add the interface, such as usb:SERIAL?if=0, or give one of the paths."
    case .permissionDenied:
      "Install udev/60-uwb.rules, or join the group of the device: "
        + "sudo usermod -aG \(detail ?? "dialout") $USER, then log in again."
    case .busy:
      "See who holds it with: fuser -v \(endpoint) (often ModemManager, or a second uwbctl)."
    case .notASerialDevice: "Give the path of a tty, such as /dev/ttyACM0."
    case .invalidEndpoint:
      "Forms: /dev/ttyACM0, /dev/ttyUSB0?baud=3000000&rtscts, usb:SERIAL, tcp:host:port, sim."
    case .unresolvedHost, .connectionRefused:
      "Check the host and port, and that the program at the other end runs."
    case .timeout: "Check that the device runs UCI firmware and that flow control is set right."
    case .closedByPeer: "Start the other end again."
    case .deviceGone: "Plug it in again; the USB port or the cable may be loose."
    case .system: nil
    }
  }
}

extension LinkError {
  init(_ result: cuwb_result, endpoint: LinkEndpoint) {
    let errno = result.error != 0 ? Errno(rawValue: result.error) : nil
    let code: Code
    var detail: String?
    switch result.outcome {
    case CUWB_TIMEOUT: code = .timeout
    case CUWB_CLOSED: code = .closedByPeer
    case CUWB_GONE: code = .deviceGone
    case CUWB_UNRESOLVED: code = .unresolvedHost
    case CUWB_INVALID:
      code = .invalidEndpoint
      detail = "the settings are impossible (is the baud rate a standard one?)"
    default:
      switch errno {
      case .noSuchFileOrDirectory, .noSuchAddressOrDevice, .notDirectory: code = .notFound
      case .permissionDenied, .notPermitted: code = .permissionDenied
      case .resourceBusy, .resourceTemporarilyUnavailable: code = .busy
      case .inappropriateIOCTLForDevice, .isDirectory: code = .notASerialDevice
      case .connectionRefused: code = .connectionRefused
      case Errno(rawValue: 19): code = .deviceGone
      default: code = .system
      }
    }
    if code == .permissionDenied, case .serial(let path, _, _) = endpoint {
      detail = Self.group(of: path)
    }
    self.init(
      code, endpoint: endpoint.description,
      errno: result.outcome == CUWB_UNRESOLVED ? nil : errno, detail: detail)
  }

  /// The group that may open the device; root's is no advice.
  private static func group(of path: FilePath) -> String? {
    var status = stat()
    guard stat(path.string, &status) == 0, status.st_gid != 0,
      let group = getgrgid(status.st_gid)
    else { return nil }
    return String(cString: group.pointee.gr_name)
  }
}
