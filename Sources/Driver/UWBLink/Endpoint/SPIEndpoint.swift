// SPDX-License-Identifier: Apache-2.0
public import SystemPackage

/// The treatment of a chip when its link is opened.
public enum ChipStart: String, Sendable, Hashable, CaseIterable {
  /// Switches the chip on if it is off, and does not touch a running chip.
  case keep
  /// Switches the chip off and on, or resets it. An NXP SR1xx loses its firmware.
  case cycle
}

/// A chip on a spidev device, with its other lines on GPIO character devices.
public struct SPIEndpoint: Sendable, Hashable {
  /// The model of the chip, which determines the protocol on the bus.
  public enum Chip: String, Sendable, Hashable, CaseIterable {
    /// A chip of NXP without flash. The firmware is loaded after each power-on.
    case sr100t, sr150, sr160
    /// A chip of NXP with flash.
    case sr200t, sr250
    /// Qorvo's chip.
    case qm35

    package var family: Family {
      switch self {
      case .sr100t, .sr150, .sr160: .sr1xx
      case .sr200t, .sr250: .sr2xx
      case .qm35: .hsspi
      }
    }
  }

  /// The protocols on the bus.
  package enum Family: Sendable, Hashable {
    /// NXP SR1xx: CE, IRQ and RI.
    case sr1xx
    /// NXP SR2xx: RSTN and IRQ.
    case sr2xx
    /// Qorvo HSSPI: SS_IRQ, SS_RDY, EXTON, WAKEUP and RESET.
    case hsspi
  }

  /// A line in addition to SPI.
  public enum Line: Int, Sendable, Hashable, CaseIterable {
    /// A signal of the chip that a packet is ready. NXP IRQ, Qorvo SS_IRQ.
    case interrupt
    /// A signal of the chip that it is ready for a transfer. Qorvo SS_RDY.
    case ready
    /// A signal of the chip that it is awake. Qorvo EXTON.
    case awake
    /// A signal to the chip: low switches it off or holds it in reset. NXP CE or RSTN, Qorvo RESET.
    case power
    /// A signal to the chip that the host is about to read. NXP RI.
    case readIndication
    /// A signal to the chip: high wakes it. Qorvo WAKEUP.
    case wake

    /// Returns the line's option in a device's name, or nil if the family lacks the line.
    func key(_ family: Family) -> String? {
      switch (self, family) {
      case (.interrupt, _): "irq"
      case (.power, .sr1xx): "ce"
      case (.power, _): "rst"
      case (.readIndication, .sr1xx): "ri"
      case (.ready, .hsspi): "rdy"
      case (.awake, .hsspi): "exton"
      case (.wake, .hsspi): "wakeup"
      default: nil
      }
    }

    /// Reports whether a family of chips cannot work without the line.
    func isNeeded(_ family: Family) -> Bool {
      switch (self, family) {
      case (.interrupt, _), (.readIndication, .sr1xx), (.ready, .hsspi): true
      default: false
      }
    }
  }

  /// The spidev device.
  public var device: FilePath
  /// The model of the chip.
  public var chip: Chip
  /// The GPIO lines. Each is a name (`GPIO24`), which is searched on all GPIO chips, or chip and
  /// offset (`gpiochip0:24`, `0:24`).
  public var lines: [Line: String]
  /// The clock in hertz; nil for the default of the vendor's driver, 16 MHz for NXP and 3 MHz for
  /// Qorvo.
  public var speed: UInt32?
  /// The treatment of the chip when the link is opened.
  public var start: ChipStart
  /// The firmware file to load, if the chip needs one.
  public var firmware: FilePath?
  /// The name of the board, if the chip needs board settings.
  public var board: String?

  /// Creates an endpoint.
  public init(
    device: FilePath, chip: Chip, lines: [Line: String], speed: UInt32? = nil,
    start: ChipStart = .keep, firmware: FilePath? = nil, board: String? = nil
  ) {
    self.board = board
    self.device = device
    self.chip = chip
    self.lines = lines
    self.speed = speed
    self.start = start
    self.firmware = firmware
  }
}

/// A device of NXP's kernel drivers.
public struct SRxxxEndpoint: Sendable, Hashable {
  /// The path: /dev/srxxx, /dev/sr1xx or /dev/sr200.
  public var path: FilePath
  /// The treatment of the chip when the link is opened.
  public var start: ChipStart
  /// The firmware file to load, if the chip needs one.
  public var firmware: FilePath?
  /// The name of the board, if the chip needs board settings.
  public var board: String?

  /// Creates an endpoint.
  public init(
    path: FilePath, start: ChipStart = .keep, firmware: FilePath? = nil, board: String? = nil
  ) {
    self.board = board
    self.path = path
    self.start = start
    self.firmware = firmware
  }
}

/// An NXP board whose microcontroller forwards UCI over USB ("PnP" firmware).
public struct NXPBoardEndpoint: Sendable, Hashable {
  /// The path of the serial port.
  public var path: FilePath
  /// The baud rate; 3000000 unless given, as in NXP's tools.
  public var baud: UInt32
  /// Whether the port uses RTS/CTS flow control.
  public var hardwareFlowControl: Bool
  /// The treatment of the chip when the link is opened.
  public var start: ChipStart
  /// Whether the chip starts in its loader and needs a command to exit it, as an SR2xx does.
  public var startsInLoader: Bool
  /// The name of the board, if the chip needs board settings.
  public var board: String?

  /// Creates an endpoint.
  public init(
    path: FilePath, baud: UInt32 = 3_000_000, hardwareFlowControl: Bool = true,
    start: ChipStart = .cycle, startsInLoader: Bool = true, board: String? = nil
  ) {
    self.board = board
    self.path = path
    self.baud = baud
    self.hardwareFlowControl = hardwareFlowControl
    self.start = start
    self.startsInLoader = startsInLoader
  }
}
