// SPDX-License-Identifier: Apache-2.0
internal import CUWB
internal import Glibc
internal import System
package import SystemPackage

/// A GPIO output of this machine, for indicators. The line is inactive at first and after `close`.
package final class OutputLine: Sendable {
  /// The descriptor of the line; nil once closed.
  private let descriptor: Locked<Int32?>
  private let isActiveLow: Bool

  /// Requests a line by name, or by chip and offset, as for chips on SPI.
  package init(_ name: String, isActiveLow: Bool) throws(LinkError) {
    var number: Int32 = -1
    var info = cuwb_spi_error_info()
    let error = unsafe cuwb_output_open(name, isActiveLow, &number, &info)
    guard error == 0 else { throw Self.failure(name, Errno(rawValue: error), info) }
    self.isActiveLow = isActiveLow
    descriptor = Locked(number)
  }

  deinit { close() }

  /// Sets the line; has no effect after `close`.
  ///
  /// - Returns: The error, or nil for success.
  @discardableResult
  package func set(_ isActive: Bool) -> Errno? {
    descriptor.withLock { number -> Errno? in
      guard let number else { return nil }
      let error = cuwb_output_set(number, isActive != isActiveLow)
      return error == 0 ? nil : Errno(rawValue: error)
    }
  }

  /// Makes the line inactive, and releases it.
  package func close() {
    set(false)
    if let number = descriptor.withLock({ $0.take() }) { _ = Glibc.close(number) }
  }

  private static func failure(
    _ name: String, _ errno: Errno, _ info: cuwb_spi_error_info
  ) -> LinkError {
    let endpoint = "GPIO line \(name)"
    func error(
      _ code: LinkError.Code, _ detail: String, _ recoverySuggestion: String? = nil
    ) -> LinkError {
      LinkError(
        code, endpoint: endpoint, errno: errno, detail: detail,
        recoverySuggestion: recoverySuggestion)
    }
    switch (info.step, errno) {
    case (_, .permissionDenied), (_, .notPermitted):
      return error(
        .permissionDenied, "access to the GPIO chip is denied", cuwb_spi_error_info.accessAdvice)
    case (CUWB_SPI_LINE_LOOKUP, Errno(rawValue: ENOTUNIQ)):
      return error(
        .lineNotFound, "several lines have this name",
        "Give chip and offset, such as gpiochip0:24; gpioinfo (package gpiod) lists them.")
    case (CUWB_SPI_LINE_LOOKUP, Errno(rawValue: ERANGE)):
      return error(.lineNotFound, "the GPIO chip has fewer lines")
    case (CUWB_SPI_LINE_LOOKUP, _): return error(.lineNotFound, "there is none (\(errno))")
    case (_, .resourceBusy):
      return error(
        .lineBusy, "it is held by \(info.holder)", "End that program, or use another line.")
    default: return error(.lineNotFound, "it cannot be an output (\(errno))")
    }
  }
}

extension cuwb_spi_error_info {
  static let accessAdvice =
    "Join the group of the GPIO chips (ls -l /dev/gpiochip*), often: "
    + "sudo usermod -aG gpio $USER, then log in again."

  /// The program or driver that holds a line, as far as the kernel names it.
  var holder: String {
    var consumer = consumer
    let name = unsafe withUnsafeBytes(of: &consumer) {
      unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
    }
    return name.isEmpty ? "another program or driver" : "'\(name)'"
  }
}
