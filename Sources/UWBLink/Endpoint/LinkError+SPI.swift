// SPDX-License-Identifier: Apache-2.0
internal import CUWB
internal import Glibc
internal import SystemPackage

extension LinkError {
  /// Why a chip on SPI could not be opened: the device, its settings, or which line.
  init(_ result: cuwb_result, _ endpoint: SPIEndpoint, _ info: cuwb_spi_error_info) {
    let whole = LinkEndpoint.spi(endpoint)
    let errno = Errno(rawValue: result.error)
    let line = SPIEndpoint.Line(rawValue: Int(info.line)) ?? .interrupt
    let key = line.key(endpoint.chip.family) ?? "\(line)"
    let name = endpoint.lines[line] ?? ""
    switch info.step {
    case CUWB_SPI_LINE_NEEDED:
      self.init(
        .invalidEndpoint, endpoint: whole.description,
        detail: "the line \(key) is missing; \(endpoint.chip.rawValue) needs it")
    case CUWB_SPI_LINE_LOOKUP where result.outcome == CUWB_FAILED:
      self = .lookup(of: name, key, whole, errno)
    case CUWB_SPI_LINE_REQUEST where result.outcome == CUWB_FAILED:
      var info = info
      let consumer = unsafe withUnsafeBytes(of: &info.consumer) {
        unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      self = .request(of: name, key, whole, errno, consumer)
    case CUWB_SPI_SETTINGS where errno == .invalidArgument:
      self.init(
        .invalidEndpoint, endpoint: whole.description, errno: errno,
        detail: "the SPI controller does not do mode 0 with 8 bits at that speed",
        recoverySuggestion: "Give a lower speed, such as speed=8000000.")
    default:
      self.init(result, endpoint: whole)
    }
  }

  private static func lookup(
    of name: String, _ key: String, _ endpoint: LinkEndpoint, _ errno: Errno
  ) -> LinkError {
    let list =
      "List the lines with gpioinfo (package gpiod) and give a name, or chip and offset: "
      + "\(key)=gpiochip0:24"
    func error(_ code: Code, _ detail: String, _ recoverySuggestion: String) -> LinkError {
      LinkError(
        code, endpoint: endpoint.description, errno: errno, detail: detail,
        recoverySuggestion: recoverySuggestion)
    }
    switch errno {
    case .noSuchFileOrDirectory:
      return error(.lineNotFound, "there is no GPIO line \(name) for \(key)", list)
    case Errno(rawValue: ENOTUNIQ):
      return error(.lineNotFound, "several GPIO lines are called \(name) (\(key))", list)
    case Errno(rawValue: ERANGE):
      return error(.lineNotFound, "the GPIO chip of \(name) (\(key)) has fewer lines", list)
    case .permissionDenied, .notPermitted:
      return error(
        .permissionDenied, "GPIO line \(name) (\(key))",
        "Join the group of the GPIO chips (ls -l /dev/gpiochip*), often: "
          + "sudo usermod -aG gpio $USER, then log in again.")
    default:
      return error(.system, "GPIO line \(name) (\(key)): \(errno)", list)
    }
  }

  private static func request(
    of name: String, _ key: String, _ endpoint: LinkEndpoint, _ errno: Errno, _ consumer: String
  ) -> LinkError {
    switch errno {
    case .resourceBusy:
      let holder = consumer.isEmpty ? "another program or driver" : "'\(consumer)'"
      return LinkError(
        .lineBusy, endpoint: endpoint.description, errno: errno,
        detail: "GPIO line \(name) (\(key)) is held by \(holder)",
        recoverySuggestion:
          "End that program; if it is a driver of the kernel, remove its overlay, or use "
          + "that driver's device (sr1xx:/dev/srxxx, uci:/dev/uci0).")
    case .invalidArgument, .noSuchAddressOrDevice, Errno(rawValue: ENOTSUP):
      return LinkError(
        .lineNotFound, endpoint: endpoint.description, errno: errno,
        detail: "GPIO line \(name) cannot do what \(key) needs (\(errno))",
        recoverySuggestion: "Use a line that is free, and for irq one of a chip that reports edges."
      )
    default:
      return LinkError(
        .system, endpoint: endpoint.description, errno: errno,
        detail: "GPIO line \(name) (\(key)): \(errno)")
    }
  }
}
