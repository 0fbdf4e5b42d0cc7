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
    var options = unsafe cuwb_spi_options(
      protocol: chip.family.raw, start: start.raw, speed_hz: speed ?? 0, irq: name(.interrupt),
      ready: name(.ready), awake: name(.awake), power: name(.power), read: name(.readIndication),
      wake: name(.wake))
    var info = cuwb_spi_error_info()
    let result = unsafe cuwb_open_spi(device.string, &options, &raw, &info)
    guard result.outcome == CUWB_OK else { throw LinkError(result, self, info) }
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
  /// Opens a device of Qorvo's driver; one that is busy with itself says with what.
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
