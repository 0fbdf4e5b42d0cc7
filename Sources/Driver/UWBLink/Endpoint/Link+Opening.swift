// SPDX-License-Identifier: Apache-2.0
internal import CUWB
internal import Glibc
internal import SystemPackage

extension ChipStart {
  var raw: cuwb_start { self == .cycle ? CUWB_START_CYCLE : CUWB_START_KEEP }
}

extension SPIEndpoint.Family {
  var raw: cuwb_spi_protocol {
    switch self {
    case .sr1xx: CUWB_SPI_SR1XX
    case .sr2xx: CUWB_SPI_SR2XX
    case .hsspi: CUWB_SPI_HSSPI
    }
  }
}

extension SPIEndpoint {
  func open(_ raw: inout OpaquePointer?) throws(LinkError) {
    let names = unsafe Line.allCases.map { line in
      unsafe lines[line].flatMap { unsafe strdup($0) }
    }
    defer { unsafe names.forEach { unsafe free($0) } }
    func name(_ line: Line) -> UnsafePointer<CChar>? {
      unsafe names[line.rawValue].map { unsafe .init($0) }
    }
    // The names of the lines are in the order of the enumeration cuwb_line.
    var options = unsafe cuwb_spi_options(
      protocol: chip.family.raw, start: start.raw, speed_hz: speed ?? 0,
      lines: (
        name(.interrupt), name(.ready), name(.awake), name(.power), name(.readIndication),
        name(.wake)
      ))
    var info = cuwb_spi_error_info()
    let result = unsafe cuwb_open_spi(device.string, &options, &raw, &info)
    guard result.outcome == CUWB_OK else { throw failure(result, info) }
  }

  /// Returns the error for a chip that could not be opened, which names the device, setting or
  /// line.
  private func failure(_ result: cuwb_result, _ info: cuwb_spi_error_info) -> LinkError {
    let whole = LinkEndpoint.spi(self)
    let errno = Errno(rawValue: result.error)
    let line = Line(rawValue: Int(info.line)) ?? .interrupt
    let key = line.key(chip.family) ?? "\(line)"
    let name = lines[line] ?? ""
    func error(
      _ code: LinkError.Code, _ detail: String, _ recoverySuggestion: String? = nil
    ) -> LinkError {
      LinkError(
        code, endpoint: whole.description, errno: result.error == 0 ? nil : errno, detail: detail,
        recoverySuggestion: recoverySuggestion)
    }
    let list =
      "List the lines with gpioinfo (package gpiod) and give a name, or chip and offset: "
      + "\(key)=gpiochip0:24"
    switch (info.step, errno) {
    case (CUWB_SPI_LINE_NEEDED, _):
      return error(
        .invalidEndpoint, "the line \(key) is missing; \(chip.rawValue) needs it")
    case (CUWB_SPI_SETTINGS, .invalidArgument):
      return error(
        .invalidEndpoint, "the SPI controller does not support mode 0 with 8 bits at that speed",
        "Give a lower speed, such as speed=8000000.")
    case (CUWB_SPI_LINE_LOOKUP, .noSuchFileOrDirectory):
      return error(.lineNotFound, "there is no GPIO line \(name) for \(key)", list)
    case (CUWB_SPI_LINE_LOOKUP, Errno(rawValue: ENOTUNIQ)):
      return error(.lineNotFound, "several GPIO lines are called \(name) (\(key))", list)
    case (CUWB_SPI_LINE_LOOKUP, Errno(rawValue: ERANGE)):
      return error(.lineNotFound, "the GPIO chip of \(name) (\(key)) has fewer lines", list)
    case (CUWB_SPI_LINE_LOOKUP, .permissionDenied), (CUWB_SPI_LINE_LOOKUP, .notPermitted):
      return error(
        .permissionDenied, "GPIO line \(name) (\(key))", cuwb_spi_error_info.accessAdvice)
    case (CUWB_SPI_LINE_REQUEST, .resourceBusy):
      return error(
        .lineBusy, "GPIO line \(name) (\(key)) is held by \(info.holder)",
        "End that program; if it is a driver of the kernel, remove its overlay, or use "
          + "that driver's device (sr1xx:/dev/srxxx, uci:/dev/uci0).")
    case (CUWB_SPI_LINE_REQUEST, .invalidArgument),
      (CUWB_SPI_LINE_REQUEST, .noSuchAddressOrDevice),
      (CUWB_SPI_LINE_REQUEST, Errno(rawValue: ENOTSUP)):
      return error(
        .lineNotFound, "GPIO line \(name) cannot do what \(key) needs (\(errno))",
        "Use a line that is free, and for irq one of a chip that reports edges.")
    case (CUWB_SPI_LINE_LOOKUP, _) where result.outcome == CUWB_FAILED:
      return error(.system, "GPIO line \(name) (\(key)): \(errno)", list)
    case (CUWB_SPI_LINE_REQUEST, _) where result.outcome == CUWB_FAILED:
      return error(.system, "GPIO line \(name) (\(key)): \(errno)")
    default: return LinkError(result, endpoint: whole)
    }
  }
}

extension NXPBoardEndpoint {
  func open(_ raw: inout OpaquePointer?) -> cuwb_result {
    let serial = cuwb_serial_options(baud: baud, rts_cts: hardwareFlowControl, shared: false)
    let options = cuwb_bridge_options(
      serial: serial, start: start.raw, leaves_loader: startsInLoader)
    return unsafe cuwb_open_bridge(path.string, options, &raw)
  }
}

extension LinkEndpoint {
  /// Opens a device of Qorvo's driver. The error of a busy driver names its activity.
  static func openQorvo(
    _ path: FilePath, _ start: ChipStart, _ raw: inout OpaquePointer?
  ) throws(LinkError) {
    var state: UInt32 = 0
    let result = unsafe cuwb_open_qm35(path.string, start.raw, &raw, &state)
    guard result.outcome != CUWB_OK else { return }
    let endpoint = LinkEndpoint.qorvoCharacterDevice(path: path, start: start)
    guard result.error == EBUSY, state != CUWB_QM35_UNKNOWN.rawValue else {
      throw LinkError(result, endpoint: endpoint)
    }
    throw LinkError(
      .busy, endpoint: endpoint.description, errno: .resourceBusy,
      detail: state == CUWB_QM35_COREDUMP.rawValue
        ? "its firmware has failed and the kernel's driver saves its memory"
        : "the kernel's driver loads its firmware",
      recoverySuggestion:
        "Wait some seconds and try again; sudo dmesg | tail shows what the driver does.")
  }
}
