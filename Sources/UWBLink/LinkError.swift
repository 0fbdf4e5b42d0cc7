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
    /// The path leads to another kind of device than its scheme says: no spidev device, none of that
    /// vendor's driver.
    case otherKindOfDevice
    /// A GPIO line is not there, or cannot do what it is for.
    case lineNotFound
    /// Somebody else holds a GPIO line.
    case lineBusy
    /// A packet is longer than the kernel moves at once.
    case packetTooLong
    /// The chip does not take part in the protocol of its bus.
    case chipSilent
    /// The text does not name a device, or its settings are impossible.
    case invalidEndpoint
    /// The host has no address.
    case unresolvedHost
    /// Nobody listens there.
    case connectionRefused
    /// The device takes no bytes, or the host does not answer.
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
  /// What to try in this very case; nil: what helps with the code in general.
  let nextStep: String?

  /// An error about `endpoint`.
  public init(
    _ code: Code, endpoint: String, errno: Errno? = nil, detail: String? = nil,
    nextStep: String? = nil
  ) {
    self.nextStep = nextStep
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
    case .ambiguous: "\(endpoint) fits several ports: \(detail ?? "give one of their paths")."
    case .permissionDenied:
      // The group alone is part of the advice.
      "This user may not open \(endpoint)" + (nextStep == nil ? "." : ": \(detail ?? "").")
    case .busy:
      detail.map { "\(endpoint) is busy: \($0)." } ?? "Another program holds \(endpoint)."
    case .otherKindOfDevice: "\(endpoint) is another kind of device."
    case .lineNotFound, .lineBusy: "\(endpoint): \(detail ?? "a GPIO line is missing")."
    case .packetTooLong:
      "\(endpoint): a packet is longer than the \(cuwb_spi_bufsiz()) bytes spidev moves at once."
    case .chipSilent: "The chip at \(endpoint) does not take part: \(detail ?? "no answer")."
    case .notASerialDevice: "\(endpoint) is not a serial device."
    case .invalidEndpoint: "'\(endpoint)' does not name a device: \(detail ?? "see the form")."
    case .unresolvedHost: "The host of \(endpoint) has no address."
    case .connectionRefused: "Nobody listens at \(endpoint)."
    case .timeout: "\(endpoint) did not take the bytes in time."
    case .closedByPeer: "The other end closed \(endpoint)."
    case .deviceGone: "\(endpoint) disappeared: it was unplugged or its driver went away."
    case .system:
      "\(endpoint) failed: \(errno.map { "\($0) (errno \($0.rawValue))" } ?? detail ?? "unknown")."
    }
  }

  /// What to try next; nil where there is nothing better than the cause itself.
  public var suggestion: String? {
    if let nextStep { return nextStep }
    return switch code {
    case .notFound: "Check the cable, and the name or path of the device."
    case .ambiguous:
      "Add the interface, such as usb:SERIAL?if=0, or give one of the paths."
    case .permissionDenied:
      "Install the udev rules (60-uwb.rules), or join the group of the device: "
        + "sudo usermod -aG \(detail ?? "dialout") $USER, then log in again."
    case .busy:
      "See who holds it with: fuser -v \(endpoint) (often ModemManager, or another UWB program)."
    case .notASerialDevice: "Give the path of a tty, such as /dev/ttyACM0."
    case .otherKindOfDevice:
      "Give a path that fits: spi:/dev/spidev0.0, sr1xx:/dev/srxxx, uci:/dev/uci0."
    case .lineNotFound, .lineBusy:
      "List the lines and who holds them with gpioinfo (package gpiod)."
    case .packetTooLong:
      "Raise the limit: spidev.bufsiz=8192 on the kernel's command line, or 'options spidev "
        + "bufsiz=8192' in /etc/modprobe.d/spidev.conf where spidev is a module; then restart."
    case .chipSilent: "Check power, wiring and the kind of chip."
    case .invalidEndpoint:
      "Forms: /dev/ttyACM0, /dev/ttyUSB0?baud=3000000&rtscts, usb:SERIAL, "
        + "spi:/dev/spidev0.0?chip=sr150&irq=…&ri=…&ce=…, sr1xx:/dev/srxxx, uci:/dev/uci0, "
        + "nxp-usb:/dev/ttyACM0, tcp:host:port, sim."
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
    case CUWB_NO_ANSWER:
      code = .chipSilent
      detail = endpoint.whyItIsSilent
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
    if code == .permissionDenied, let path = endpoint.path { detail = Self.group(of: path) }
    self.init(
      code, endpoint: endpoint.description,
      errno: result.outcome == CUWB_UNRESOLVED ? nil : errno, detail: detail,
      nextStep: endpoint.nextStep(after: code))
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

extension LinkEndpoint {
  fileprivate var whyItIsSilent: String {
    switch self {
    case .spi(let spi) where spi.chip.family == .hsspi:
      "SS_RDY, or what it answers to a header, is not a QM35's"
    case .spi: "IRQ does not follow the protocol, or only zeros come"
    case .nxpBoard: "it does not answer the reset as NXP's PnP firmware does"
    default: "no packet can be read"
    }
  }

  /// Better advice than for a serial port.
  fileprivate func nextStep(after code: LinkError.Code) -> String? {
    if case .serial = self { return nil }
    return switch (self, code) {
    case (.spi, .notFound):
      "Enable SPI (Raspberry Pi: dtparam=spi=on in config.txt) and see ls /dev/spidev*; elsewhere "
        + "the device tree has to name the device, with spidev as its driver_override."
    case (_, .busy):
      // With its scheme before it a path means nothing to other programs.
      path.map { "See who holds it with: fuser -v \($0) (often another UWB program)." }
    case (.srxxx, .notFound), (.uci, .notFound):
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
    default: nil
    }
  }
}
