// SPDX-License-Identifier: Apache-2.0
public import SystemPackage

/// Where a chip is.
public enum LinkEndpoint: Sendable, Hashable {
  /// A serial device: a tty, a USB CDC port, a pseudo-terminal.
  case serial(path: FilePath, baud: UInt32 = 115_200, hardwareFlowControl: Bool = false)
  /// The serial port of the USB device with this serial number, whatever its path: looked for when
  /// the link is opened. `interface` tells apart several ports of one device; nil: it has only one.
  case usb(
    serial: String, interface: UInt8? = nil, baud: UInt32 = 115_200,
    hardwareFlowControl: Bool = false)
  /// A chip on SPI and GPIO lines.
  case spi(SPIEndpoint)
  /// A device of NXP's kernel drivers.
  case srxxx(SRxxxEndpoint)
  /// A device of Qorvo's kernel driver.
  case qorvoCharacterDevice(path: FilePath, start: ChipStart = .keep)
  /// An NXP board on USB.
  case nxpBoard(NXPBoardEndpoint)
  /// A simulator or a serial server that carries bare UCI.
  case tcp(host: String, port: String)
  /// A chip that a service (`uwbd`) shares among programs; `chip` is what it calls it, nil: it has only
  /// one. Its sessions range on for `linger`, at most a minute, when the program is gone without ending
  /// them: one that is started again takes them up by starting the same.
  case service(socket: FilePath, chip: String? = nil, linger: Duration = .zero)
  /// A descriptor that is open for reading and writing. The link takes it over and closes it.
  case descriptor(FileDescriptor)

  /// The firmware file that belongs to the device, where one was named.
  package var firmware: FilePath? {
    switch self {
    case .spi(let spi): spi.firmware
    case .srxxx(let device): device.firmware
    default: nil
    }
  }

  /// What the board around the chip is called, where it was named.
  package var board: String? {
    switch self {
    case .spi(let spi): spi.board
    case .srxxx(let device): device.board
    case .nxpBoard(let board): board.board
    default: nil
    }
  }

  /// Whether bytes come without boundaries between packets; on SPI and from the vendors' kernel
  /// drivers whole packets come.
  package var isStream: Bool {
    switch self {
    case .serial, .usb, .nxpBoard, .tcp, .service, .descriptor: true
    case .spi, .srxxx, .qorvoCharacterDevice: false
    }
  }

  /// The device node; nil where there is none.
  public var path: FilePath? {
    switch self {
    case .serial(let path, _, _), .qorvoCharacterDevice(let path, _): path
    case .spi(let spi): spi.device
    case .srxxx(let device): device.path
    case .nxpBoard(let board): board.path
    case .usb, .tcp, .service, .descriptor: nil
    }
  }
}
