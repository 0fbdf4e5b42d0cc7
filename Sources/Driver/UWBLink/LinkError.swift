// SPDX-License-Identifier: Apache-2.0
internal import CUWB
package import FoundationEssentials
public import SystemPackage

/// The reason why a link could not be opened, or ended.
public struct LinkError: Error, Sendable, Hashable {
  /// The kind of the error. New codes may be added.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Code: Sendable, Hashable {
    /// Nothing exists at the path.
    case notFound
    /// The name matches several devices, or several ports of one device.
    case ambiguous
    /// The device exists, but this user may not open it.
    case permissionDenied
    /// Another program uses the device.
    case busy
    /// The path leads to something that is not a serial device.
    case notASerialDevice
    /// The device at the path does not fit the scheme of the name.
    case otherKindOfDevice
    /// A GPIO line does not exist, or cannot serve its purpose.
    case lineNotFound
    /// Another program or driver uses a GPIO line.
    case lineBusy
    /// A packet is longer than the kernel's limit for one transfer.
    case packetTooLong
    /// The chip does not respond to the protocol of its bus.
    case chipSilent
    /// The text does not name a device, or its settings are impossible.
    case invalidEndpoint
    /// The host name cannot be resolved.
    case unresolvedHost
    /// No program listens at the address.
    case connectionRefused
    /// The device accepts no data, or the host does not answer.
    case timeout
    /// The other end closed the connection.
    case closedByPeer
    /// The device was unplugged, or its driver was removed.
    case deviceGone
    /// The task that opened the device was cancelled.
    case cancelled
    /// The system has no thread for the device, or rejects the thread's priority.
    case threadUnavailable
    /// Another error of the operating system; see `errno`.
    case system
  }

  /// The kind of the error.
  public let code: Code
  /// The error of the operating system, if any.
  public let errno: Errno?
  /// The name of the device.
  public let endpoint: String
  /// Further details, if any.
  public let detail: String?
  /// The suggestion that replaces the general one for `code`.
  private let specificSuggestion: String?

  package init(
    _ code: Code, endpoint: String, errno: Errno? = nil, detail: String? = nil,
    recoverySuggestion: String? = nil
  ) {
    self.code = code
    self.errno = errno
    self.endpoint = endpoint
    self.detail = detail
    specificSuggestion = recoverySuggestion
  }
}

/// An error whose `description` serves as its `errorDescription`.
package protocol DescribedError: LocalizedError, CustomStringConvertible {}

extension DescribedError {
  /// The description.
  public var errorDescription: String? { description }
}

extension LinkError: DescribedError {
  /// The cause in one sentence.
  public var description: String {
    switch code {
    case .notFound: "There is no device at \(endpoint)\(detail.map { ": \($0)" } ?? "")."
    case .ambiguous: "\(endpoint) matches several ports\(detail.map { ": \($0)" } ?? "")."
    case .permissionDenied:
      // Without a specific suggestion, the detail is a group, which only the general suggestion
      // names.
      "This user may not open \(endpoint)"
        + (specificSuggestion == nil ? "." : ": \(detail ?? "").")
    case .busy:
      detail.map { "\(endpoint) is busy: \($0)." } ?? "Another program uses \(endpoint)."
    case .otherKindOfDevice: "\(endpoint) is another kind of device."
    case .lineNotFound, .lineBusy: "\(endpoint): \(detail ?? "a GPIO line is missing")."
    case .packetTooLong:
      "\(endpoint): a packet is longer than the \(cuwb_spi_bufsiz()) bytes spidev moves at once."
    case .chipSilent: "The chip at \(endpoint) does not respond: \(detail ?? "no answer")."
    case .notASerialDevice: "\(endpoint) is not a serial device."
    case .invalidEndpoint: "Invalid device name '\(endpoint)'\(detail.map { ": \($0)" } ?? "")."
    case .unresolvedHost: "Cannot resolve the host of \(endpoint)."
    case .connectionRefused: "\(endpoint) refused the connection."
    case .timeout:
      detail.map { "\(endpoint): \($0)." } ?? "\(endpoint) accepted no data in time."
    case .closedByPeer where endpoint.hasPrefix("uwbd:"):
      "The service closed \(endpoint): it has stopped, or has lost the chip."
    case .closedByPeer: "The other end closed \(endpoint)."
    case .deviceGone: "\(endpoint) disappeared: it was unplugged or its driver went away."
    case .cancelled: "Opening \(endpoint) was cancelled."
    case .threadUnavailable:
      "Cannot start a thread for \(endpoint): \(detail ?? "no resources")."
    case .system:
      "\(endpoint) failed: \(errno.map { "\($0) (errno \($0.rawValue))" } ?? detail ?? "unknown")."
    }
  }

  private var isNetwork: Bool { endpoint.hasPrefix("tcp:") }

  /// The next step to try; nil if the cause implies it.
  public var recoverySuggestion: String? {
    if let specificSuggestion { return specificSuggestion }
    return switch code {
    case .timeout where isNetwork, .deviceGone where isNetwork, .system where isNetwork:
      "Check the network, and that the program at the other end runs and reads."
    case .notFound: "Check the cable, and the name or path of the device."
    case .ambiguous:
      "Add the interface, such as usb:SERIAL?if=0, or give one of the paths."
    case .permissionDenied:
      "Install the udev rules (60-uwb.rules)"
        + (detail.map {
          ", or join the group of the device: sudo usermod -aG \($0) $USER, then log in again."
        } ?? ".")
    case .busy:
      "See which program uses it with: fuser -v \(endpoint) (often ModemManager, or another UWB program)."
    case .notASerialDevice: "Give the path of a tty, such as /dev/ttyACM0."
    case .otherKindOfDevice:
      "Give a matching path: spi:/dev/spidev0.0, sr1xx:/dev/srxxx, uci:/dev/uci0."
    case .lineNotFound, .lineBusy:
      "List the lines and their users with gpioinfo (package gpiod)."
    case .packetTooLong:
      "Raise the limit: spidev.bufsiz=8192 on the kernel's command line, or 'options spidev "
        + "bufsiz=8192' in /etc/modprobe.d/spidev.conf where spidev is a module; then restart."
    case .chipSilent: "Check power, wiring and the kind of chip."
    case .invalidEndpoint:
      "Forms: /dev/ttyACM0, /dev/ttyUSB0?baud=3000000&rtscts, usb:SERIAL, "
        + "spi:/dev/spidev0.0?chip=sr150&irq=…&ri=…&ce=…, sr1xx:/dev/srxxx, uci:/dev/uci0, "
        + "nxp-usb:/dev/ttyACM0, tcp:host:port, uwbd:SOCKET?chip=NAME&linger=30, sim."
    case .unresolvedHost, .connectionRefused:
      "Check the host and port, and that the program at the other end runs."
    case .timeout: "Check that the device runs UCI firmware, and check the flow control."
    case .closedByPeer: "Start the other end again."
    case .deviceGone: "Plug it in again; the USB port or the cable may be loose."
    case .threadUnavailable:
      "Close other devices, or raise the limit on threads: ulimit -u, TasksMax= of the systemd unit."
    case .cancelled, .system: nil
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
    case CUWB_NO_ANSWER:
      code = .chipSilent
      detail = endpoint.silenceDetail
    case CUWB_INVALID:
      code = .invalidEndpoint
      detail = "the settings are impossible (is the baud rate a standard one?)"
    default:
      switch errno {
      case .noSuchFileOrDirectory, .noSuchAddressOrDevice, .notDirectory: code = .notFound
      case .permissionDenied, .notPermitted: code = .permissionDenied
      case .resourceBusy, .resourceTemporarilyUnavailable: code = .busy
      case .inappropriateIOCTLForDevice, .isDirectory:
        code = endpoint.isStream ? .notASerialDevice : .otherKindOfDevice
      case .messageTooLong: code = .packetTooLong
      case .connectionRefused: code = .connectionRefused
      case Errno(rawValue: 19): code = .deviceGone
      default: code = .system
      }
    }
    if code == .permissionDenied {
      detail =
        endpoint.isNetwork
        ? "the system forbids the connection"
        : endpoint.path.flatMap { DeviceAccess(of: $0)?.joinableGroup }
    }
    self.init(
      code, endpoint: endpoint.description,
      errno: result.outcome == CUWB_UNRESOLVED ? nil : errno, detail: detail,
      recoverySuggestion: endpoint.recoverySuggestion(after: code, errno))
  }

}

extension LinkEndpoint {
  fileprivate var isNetwork: Bool { if case .tcp = self { true } else { false } }

  fileprivate var silenceDetail: String {
    switch self {
    case .spi(let spi) where spi.chip.family == .hsspi:
      "SS_RDY, or the reply to a header, does not match a QM35"
    case .spi: "IRQ does not follow the protocol, or only zeros come"
    case .nxpBoard: "it does not answer the reset as NXP's PnP firmware does"
    default: "no packet can be read"
    }
  }

  /// Returns a better suggestion than the one for a serial port.
  fileprivate func recoverySuggestion(after code: LinkError.Code, _ errno: Errno?) -> String? {
    if case .serial(let path, _, _) = self {
      let kernelName = FilePath("/dev").pushing(path)
      return code == .notFound && path.isRelative && FileTree.exists(kernelName)
        ? "Name it with its folder: \(kernelName)." : nil
    }
    return switch (self, code) {
    case (.spi, .notFound):
      "Enable SPI (Raspberry Pi: dtparam=spi=on in config.txt) and see ls /dev/spidev*; elsewhere "
        + "the device tree has to name the device, with spidev as its driver_override."
    case (_, .busy):
      // Other programs need the path without its scheme.
      path.map { "See which program uses it with: fuser -v \($0) (often another UWB program)." }
    case (.srxxx, .notFound), (.qorvoCharacterDevice, .notFound):
      "Load the vendor's kernel driver and see sudo dmesg; without one use spi:/dev/spidev0.0."
    case (.spi(let spi), .chipSilent):
      spi.chip.family == .sr1xx
        ? "Check the wiring of irq, ri and ce and the kind of chip, and that it has its firmware: "
          + "fw=FILE loads it."
        : "Check the wiring and the kind of chip; start=cycle resets it."
    case (.srxxx, .chipSilent):
      "An SR1xx needs its firmware each time it is switched on: fw=FILE loads it."
    case (.nxpBoard, .chipSilent):
      "Flash NXP's PnP firmware onto the board, or give the port as it is: /dev/ttyACM0."
    // If the unit of uwbd has no network, opening sockets (errno 97), routing (101) and sending
    // packets (1) fail.
    case (.tcp, .system) where [97, 101].contains(errno?.rawValue), (.tcp, .permissionDenied):
      "Check the network and the firewall; where systemd starts uwbd, chips at tcp: need its "
        + "drop-in uwbd-tcp.conf: see uwbd(8)."
    default: nil
    }
  }
}
