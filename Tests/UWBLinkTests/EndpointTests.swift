// SPDX-License-Identifier: Apache-2.0

import CUWB
import Glibc
import SystemPackage
import Testing

@testable import UWBLink

@Suite("Names of devices")
struct EndpointTests {
  @Test("A chip on SPI with its lines")
  func spi() throws {
    let endpoint = try LinkEndpoint(
      "spi:/dev/spidev0.0?chip=sr150&irq=GPIO24&ri=gpiochip0:23&ce=0:18&speed=20000000"
        + "&start=cycle&fw=/lib/firmware/uwb.bin&board=murata-2bp")
    let expected = SPIEndpoint(
      device: "/dev/spidev0.0", chip: .sr150,
      lines: [.interrupt: "GPIO24", .readIndication: "gpiochip0:23", .power: "0:18"],
      speed: 20_000_000, start: .cycle, firmware: "/lib/firmware/uwb.bin", board: "murata-2bp")
    #expect(endpoint == .spi(expected))
    // The endpoints would also be equal if both lacked these settings.
    #expect(expected.board == "murata-2bp" && expected.firmware == "/lib/firmware/uwb.bin")
    #expect(expected.speed == 20_000_000 && expected.start == .cycle)
    #expect(endpoint.firmware == "/lib/firmware/uwb.bin")
    #expect(endpoint.path == "/dev/spidev0.0")
    #expect(
      try LinkEndpoint("spi:/dev/spidev1.0?chip=sr250&irq=3&rst=4")
        == .spi(
          SPIEndpoint(
            device: "/dev/spidev1.0", chip: .sr250, lines: [.interrupt: "3", .power: "4"])))
    #expect(
      try LinkEndpoint("spi:/dev/spidev0.1?chip=qm35&irq=a&rdy=b&exton=c&wakeup=d&rst=e")
        == .spi(
          SPIEndpoint(
            device: "/dev/spidev0.1", chip: .qm35,
            lines: [.interrupt: "a", .ready: "b", .awake: "c", .wake: "d", .power: "e"])))
  }

  @Test("The vendors' devices and boards")
  func vendors() throws {
    #expect(try LinkEndpoint("sr1xx:/dev/srxxx") == .srxxx(SRxxxEndpoint(path: "/dev/srxxx")))
    #expect(
      try LinkEndpoint("sr1xx:/dev/sr1xx?start=cycle&fw=/f.bin")
        == .srxxx(SRxxxEndpoint(path: "/dev/sr1xx", start: .cycle, firmware: "/f.bin")))
    let device = SRxxxEndpoint(
      path: "/dev/sr1xx", start: .cycle, firmware: "/f.bin", board: "murata-2bp")
    #expect(device.start == .cycle && device.firmware == "/f.bin" && device.board == "murata-2bp")
    #expect(try LinkEndpoint("uci:/dev/uci0") == .qorvoCharacterDevice(path: "/dev/uci0"))
    #expect(
      try LinkEndpoint("nxp-usb:/dev/ttyACM0")
        == .nxpBoard(NXPBoardEndpoint(path: "/dev/ttyACM0")))
    #expect(
      try LinkEndpoint("nxp-usb:/dev/ttyACM0?chip=sr150&start=keep")
        == .nxpBoard(
          NXPBoardEndpoint(path: "/dev/ttyACM0", start: .keep, startsInLoader: false)))
    let board = NXPBoardEndpoint(
      path: "/dev/ttyACM0", baud: 115_200, hardwareFlowControl: false, start: .keep,
      startsInLoader: false, board: "murata-2bp")
    #expect(board.baud == 115_200 && !board.hardwareFlowControl && board.start == .keep)
    #expect(!board.startsInLoader && board.board == "murata-2bp")
  }

  @Test(
    "What is missing or misspelt is named",
    arguments: [
      ("spi:/dev/spidev0.0", "chip="), ("spi:/dev/spidev0.0?chip=sr999", "sr150"),
      ("spi:/dev/spidev0.0?chip=sr150&irq=1", "ri="),
      ("spi:/dev/spidev0.0?chip=qm35&irq=1", "rdy="),
      ("spi:/dev/spidev0.0?chip=sr250&irq=1&ri=2", "'ri' is not an option"),
      ("spi:/dev/spidev0.0?chip=sr250&irq=1&irq=2", "twice"),
      ("spi:/dev/spidev0.0?chip=sr250&irq=", "'irq' has no value"),
      ("spi:/dev/spidev0.0?chip=qm35&irq=1&rdy=2&fw=x", "'fw' is not an option"),
      ("spi:?chip=sr250&irq=1", "path"), ("spi:?chip=sr250", "path"),
      ("spi:/dev/spidev0.0?chip=sr250&irq=1&speed=fast", "number"),
      ("sr1xx:", "path"), ("uci:/dev/uci0?fw=x", "'fw' is not an option"),
      ("uci:/dev/uci0?start=now", "keep, cycle"), ("nxp-usb:/dev/ttyACM0?chip=qm35", "not NXP's"),
      ("/dev/ttyACM0?rtscts=1", "no value"), ("/dev/ttyACM0?baud", "no value"),
    ])
  func mistakes(_ text: String, _ part: String) {
    let error = #expect(throws: LinkError.self) { try LinkEndpoint(text) }
    #expect(error?.code == .invalidEndpoint)
    #expect(error?.description.contains(part) == true, "\(error?.description ?? "")")
    #expect(error?.recoverySuggestion?.contains("spi:") == true)
  }

  @Test(
    "A device that cannot be opened says why, and what to try",
    arguments: [
      ("spi:/dev/no-such-spidev?chip=sr250&irq=0:1", LinkError.Code.notFound, "Enable SPI"),
      ("spi:FILE?chip=sr250&irq=0:1", .otherKindOfDevice, "spi:/dev/spidev0.0"),
      ("sr1xx:/dev/no-such-device", .notFound, "kernel driver"),
      ("sr1xx:FILE", .otherKindOfDevice, "sr1xx:/dev/srxxx"),
      ("uci:/dev/no-such-device", .notFound, "kernel driver"),
      ("uci:FILE", .otherKindOfDevice, "uci:/dev/uci0"),
      ("nxp-usb:/dev/null", .notASerialDevice, "/dev/ttyACM0"),
    ])
  func failures(_ text: String, _ code: LinkError.Code, _ step: String) throws {
    // A file of its own: the link locks the file that it opens.
    var template = Array("/tmp/uwb-endpoint-XXXXXX".utf8CString)
    let file = mkstemp(&template)
    defer { close(file) }
    let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    defer { unlink(path) }
    let endpoint = try LinkEndpoint(
      text.split(separator: "FILE", omittingEmptySubsequences: false).joined(separator: path))
    let error = #expect(throws: LinkError.self) { try Link(endpoint) }
    #expect(error?.code == code)
    #expect(error?.recoverySuggestion?.contains(step) == true, "\(error?.recoverySuggestion ?? "")")
  }

  /// The unit of the service without its drop-in: no socket, no route, no packet.
  @Test(
    "A network that the system forbids leads to the drop-in of the service",
    arguments: [
      (EAFNOSUPPORT, LinkError.Code.system), (ENETUNREACH, .system), (EPERM, .permissionDenied),
    ])
  func forbiddenNetworks(_ number: Int32, _ code: LinkError.Code) throws {
    let error = LinkError(
      cuwb_result(outcome: CUWB_FAILED, error: number),
      endpoint: try LinkEndpoint("tcp:10.0.0.7:7000"))
    #expect(error.code == code)
    #expect(error.description.contains("tcp:10.0.0.7:7000"))
    #expect(!error.description.hasSuffix(" ."), "\(error)")
    let step = try #require(error.recoverySuggestion)
    #expect(step.contains("uwbd-tcp.conf") && !step.contains("udev"), "\(step)")
  }
}
