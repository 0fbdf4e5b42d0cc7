// SPDX-License-Identifier: Apache-2.0
public import SystemPackage

/// What becomes of a chip when its link is opened.
public enum ChipStart: String, Sendable, Hashable, CaseIterable {
  /// It is switched on if it is off, and left alone otherwise.
  case keep
  /// It is switched off and on, or reset. An NXP SR1xx has lost its firmware then.
  case cycle
}

/// A chip on a spidev device, with its other lines on GPIO character devices.
public struct SPIEndpoint: Sendable, Hashable {
  /// Which chip; it decides what is spoken on the wires.
  public enum Chip: String, Sendable, Hashable, CaseIterable {
    /// NXP, without flash: the firmware is loaded each time the chip is switched on.
    case sr100t, sr150, sr160
    /// NXP, with flash.
    case sr200t, sr250
    /// Qorvo.
    case qm35

    package var family: Family {
      switch self {
      case .sr100t, .sr150, .sr160: .sr1xx
      case .sr200t, .sr250: .sr2xx
      case .qm35: .hsspi
      }
    }
  }

  /// What is spoken on the wires.
  package enum Family: Sendable, Hashable {
    /// NXP SR1xx: CE, IRQ and RI.
    case sr1xx
    /// NXP SR2xx: RSTN and IRQ.
    case sr2xx
    /// Qorvo HSSPI: SS_IRQ, SS_RDY, EXTON, WAKEUP and RESET.
    case hsspi
  }

  /// A line beside SPI.
  public enum Line: Int, Sendable, Hashable, CaseIterable {
    /// From the chip: it has something to say. NXP IRQ, Qorvo SS_IRQ.
    case interrupt
    /// From the chip: it takes part in a transfer. Qorvo SS_RDY.
    case ready
    /// From the chip: it is not asleep. Qorvo EXTON.
    case awake
    /// To the chip: low holds it off or in reset. NXP CE or RSTN, Qorvo RESET.
    case power
    /// To the chip: the host is about to read. NXP RI.
    case readIndication
    /// To the chip: high wakes it. Qorvo WAKEUP.
    case wake

    /// What it is called in a device's name, for a family of chips; nil where that has none.
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

    /// Whether the chip cannot be spoken to without it.
    func isNeeded(_ family: Family) -> Bool {
      switch (self, family) {
      case (.interrupt, _), (.readIndication, .sr1xx), (.ready, .hsspi): true
      default: false
      }
    }
  }

  /// The device of spidev.
  public var device: FilePath
  /// The chip behind it.
  public var chip: Chip
  /// Where each line is: its name (`GPIO24`), looked for on every GPIO chip, or chip and offset
  /// (`gpiochip0:24`, `0:24`).
  public var lines: [Line: String]
  /// Clock in hertz; nil: what the maker's driver uses, 16 MHz for NXP and 3 MHz for Qorvo.
  public var speed: UInt32?
  /// What becomes of the chip when the link is opened.
  public var start: ChipStart
  /// A firmware file to load, where the chip needs one.
  public var firmware: FilePath?
  /// What the board around the chip is called, where the chip has to be told about it.
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
  /// /dev/srxxx, /dev/sr1xx, /dev/sr200.
  public var path: FilePath
  /// What becomes of the chip when the link is opened.
  public var start: ChipStart
  /// A firmware file to load, where the chip needs one.
  public var firmware: FilePath?
  /// What the board around the chip is called, where the chip has to be told about it.
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

/// An NXP board whose microcontroller passes UCI on over USB ("PnP" firmware).
public struct NXPBoardEndpoint: Sendable, Hashable {
  /// Its serial port.
  public var path: FilePath
  /// NXP's tools set 3000000.
  public var baud: UInt32
  /// RTS/CTS.
  public var hardwareFlowControl: Bool
  /// What becomes of the chip when the link is opened.
  public var start: ChipStart
  /// The chip starts in its loader and has to be told to leave it: an SR2xx.
  public var startsInLoader: Bool
  /// What the board is called, where the chip has to be told about it.
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
