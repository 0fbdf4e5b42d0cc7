// SPDX-License-Identifier: Apache-2.0
internal import Glibc
public import SystemPackage

/// The address of a chip.
public enum LinkEndpoint: Sendable, Hashable {
  /// A serial device: a tty, a USB CDC port or a pseudo-terminal.
  case serial(path: FilePath, baud: UInt32 = 115_200, hardwareFlowControl: Bool = false)
  /// The serial port of the USB device with this serial number, at any path. The device is looked
  /// up when the link is opened. `interface` selects one of several ports; nil if there is only
  /// one.
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
  /// A chip that a service (`uwbd`) shares among programs.
  ///
  /// `chip` is its name in the service; nil for the only chip. If the program exits without ending
  /// its sessions, the sessions keep ranging for `linger`, at most a day. The restarted program
  /// resumes them by starting equal sessions.
  case service(socket: FilePath, chip: String? = nil, linger: Duration = .zero)
  /// A descriptor that is open for reading and writing. The link owns and closes it.
  case descriptor(FileDescriptor)

  /// The firmware file in the settings.
  package var firmware: FilePath? {
    switch self {
    case .spi(let spi): spi.firmware
    case .srxxx(let device): device.firmware
    default: nil
    }
  }

  /// The name of the board in the settings.
  package var board: String? {
    switch self {
    case .spi(let spi): spi.board
    case .srxxx(let device): device.board
    case .nxpBoard(let board): board.board
    default: nil
    }
  }

  /// Whether the link is a byte stream without packet boundaries. SPI and the vendors' kernel
  /// drivers deliver whole packets.
  package var isStream: Bool {
    switch self {
    case .serial, .usb, .nxpBoard, .tcp, .service, .descriptor: true
    case .spi, .srxxx, .qorvoCharacterDevice: false
    }
  }

  /// The device node; nil for endpoints without one.
  public var path: FilePath? {
    switch self {
    case .serial(let path, _, _), .qorvoCharacterDevice(let path, _): path
    case .spi(let spi): spi.device
    case .srxxx(let device): device.path
    case .nxpBoard(let board): board.path
    case .usb, .tcp, .service, .descriptor: nil
    }
  }

  /// The path of the device without symbolic links, or the endpoint's name if it has no path.
  /// Blocks.
  package var place: String {
    let resolved = (try? resolved()) ?? self
    guard let path = resolved.path else { return description }
    return (FileTree.resolved(path) ?? path).string
  }

  /// The socket of the service: the value of UWBD_SOCKET, or the default path.
  package static var serviceSocket: FilePath {
    unsafe getenv("UWBD_SOCKET").map { unsafe FilePath(String(cString: $0)) }
      ?? "/run/uwbd/control"
  }
}
