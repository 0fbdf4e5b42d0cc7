// SPDX-License-Identifier: Apache-2.0
package import UCI
internal import UWBLink

/// The configuration of an NXP chip after power-on. It depends on the board: the kind, the wiring
/// of the antennas, and their calibration.
///
/// The boards are rows of a table. Without a row, a chip works with its own settings, and reports
/// no angles.
public struct NXPBoard: Sendable, Hashable {
  /// The name, which `board=` in a device's name refers to.
  public var name: String
  package var summary: String
  /// The board variant and version in CORE_DEVICE_INIT.
  package var variant: (board: UInt8, version: UInt8) {
    (variantBytes[0], variantBytes[1])
  }
  private var variantBytes: [UInt8]
  /// The parameters of CORE_SET_CONFIG after the reset: one command for each list.
  package var configuration: [[TLV]]
  /// The SET_DEVICE_CALIBRATION commands after the configuration.
  package var calibration: [NXPSetCalibration]

  private init(
    _ name: String, _ summary: String, _ variant: (UInt8, UInt8),
    configuration: [[TLV]] = [], calibration: [NXPSetCalibration] = []
  ) {
    self.name = name
    self.summary = summary
    variantBytes = [variant.0, variant.1]
    self.configuration = configuration
    self.calibration = calibration
  }

  /// Returns the board of this name.
  public init?(named name: String) {
    guard let row = Self.all.first(where: { $0.name == name }) else { return nil }
    self = row
  }

  // MARK: rows

  /// All known boards.
  public static let all: [NXPBoard] = [
    plain, NXPBoard("rhodes-v4", "NXP Rhodes V4", (0x73, 0x04)),
    NXPBoard("nxp-reference-1", "NXP's reference design, first version", (0x01, 0x01)),
    NXPBoard("nxp-reference-2", "NXP's reference design, second version", (0x01, 0x02)),
    // NXP's number for custom boards.
    NXPBoard("custom", "a custom board", (0x2A, 0x03)), murata2BP,
  ]

  /// The chip's own settings. Source of all variants: NXP's UWBIoT middleware guide.
  package static let plain = NXPBoard("plain", "the chip's own settings", (0x00, 0x00))

  /// Murata's module Type 2BP with an SR150 and three antennas. Source: NXPHoverGames/nxp-uwb-ros2
  /// (Apache-2.0), src/hal/sr1xx-core.c. Its phases at each angle are specific to single boards,
  /// and are not included; `UWBDevice` writes them as a calibration.
  package static let murata2BP = NXPBoard(
    "murata-2bp", "Murata Type 2BP: SR150, angles by azimuth (pair 1) and elevation (pair 2)",
    (0x00, 0x00),
    configuration: [
      common,
      [
        sendingSR1xx([.init(1, gpio: .ef1, high: false), .init(2, gpio: .ef1, high: true)]),
        receiving([
          .init(1, port: 1, gpio: .ef2, high: true), .init(2, port: 1, gpio: .ef2, high: false),
          .init(3, port: 2, gpio: .ef1, high: true), .init(4, port: 2, gpio: .ef1, high: false),
        ]),
        pairs([(id: 1, 2, 3), (id: 2, 1, 3)]),
      ],
    ],
    calibration: [receiveDelay(channel: 9, antennas: 1...4, raw: 0x3AD0)])

  /// The parameters of all boards: deep power-down after half a second without work, waiting-time
  /// extensions, and the vendor's part of measurements.
  private static let common: [TLV] = [
    TLV(.dpdWakeupSource, [0x00]),
    TLV(.wtxCount, [0x14]),
    TLV(.dpdEntryTimeout, [0xF4, 0x01]),
    TLV(.txPulseShape, [0x2F, 0x2F, 0x2F, 0x00]),
    TLV(.extendedNotifications, [0x01]),
  ]
}

// MARK: antennas

extension NXPBoard {
  /// A pin that switches antennas, as a bit of the masks.
  struct GPIO: Sendable {
    var mask: UInt16
    static let ef1 = GPIO(mask: 0x01)
    static let ef2 = GPIO(mask: 0x02)
  }

  /// An antenna: the pin and the level that select it. Receiving antennas have a port, too (SR1xx:
  /// 1 is RX1, 2 is RX2).
  struct Antenna: Sendable {
    var id: UInt8
    var port: UInt8
    var mask: UInt16
    var value: UInt16

    init(_ id: UInt8, port: UInt8 = 0, gpio: GPIO, high: Bool) {
      self.id = id
      self.port = port
      mask = gpio.mask
      value = high ? gpio.mask : 0
    }

    fileprivate var selection: [UInt8] { mask.littleEndianBytes + value.littleEndianBytes }
  }

  /// Returns RX_ANTENNAS_DEFINE: a count, then id, port, mask and value of each antenna.
  static func receiving(_ antennas: [Antenna]) -> TLV {
    TLV(
      .rxAntennasDefine,
      [UInt8(antennas.count)] + antennas.flatMap { [$0.id, $0.port] + $0.selection })
  }

  /// Returns TX_ANTENNAS_DEFINE of an SR1xx: a count, then id, mask and value of each antenna.
  static func sendingSR1xx(_ antennas: [Antenna]) -> TLV {
    TLV(
      .txAntennasDefineSR1xx, [UInt8(antennas.count)] + antennas.flatMap { [$0.id] + $0.selection })
  }

  /// Returns RX_ANTENNA_PAIRS_DEFINE: a count, then the number, three antennas (the third one is 0)
  /// and the field of view (0: not limited) of each pair.
  static func pairs(_ pairs: [(id: UInt8, UInt8, UInt8)]) -> TLV {
    TLV(
      .rxAntennaPairsDefine,
      [UInt8(pairs.count)] + pairs.flatMap { [$0.id, $0.1, $0.2, 0x00, 0x00, 0x00] })
  }

  /// Returns RX_ANT_DELAY: a count, then the number and delay (Q14.2) of each antenna.
  static func receiveDelay(
    channel: UInt8, antennas: ClosedRange<UInt8>, raw: UInt16
  ) -> NXPSetCalibration {
    NXPSetCalibration(
      channel: channel, parameter: 0x02,
      value: [UInt8(antennas.count)] + antennas.flatMap { [$0] + raw.littleEndianBytes })
  }
}

extension LinkEndpoint {
  /// Returns the board that `board=` in the device's name refers to; nil without it.
  ///
  /// - Throws: `DriverError.link` with code `invalidEndpoint` for an unknown name.
  func namedBoard() throws(DriverError) -> NXPBoard? {
    guard let board else { return nil }
    if let row = NXPBoard(named: board) { return row }
    let names = NXPBoard.all.map(\.name).joined(separator: ", ")
    throw .link(
      LinkError(
        .invalidEndpoint, endpoint: description, detail: "'\(board)' is no board; \(names) are"))
  }
}
