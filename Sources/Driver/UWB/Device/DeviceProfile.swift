// SPDX-License-Identifier: Apache-2.0
public import UCI
internal import UWBLink

/// The oddities of one family of chips, as data.
///
/// This is the only place that knows vendors. A row is chosen from what the chip says of itself.
public struct DeviceProfile: Sendable, Hashable {
  /// For people.
  public var name: String
  /// Whose vendor groups and device information these are.
  package var vendor: Dialect.Vendor
  /// The chip takes nothing before the vendor command CORE_DEVICE_INIT.
  package var needsDeviceInit = false
  /// How long a response may take, in milliseconds. AOSP's core waits 2000 after 100 and 800 had
  /// turned out too short.
  package var responseTimeout = 2_000
  /// How long the responses to slower commands may take, in milliseconds.
  package var slowCommands: [Opcode: Int] = [:]
  /// How long READY may take after a reset, in milliseconds. NXP's Android service waits 3000.
  package var resetTimeout = 3_000
  /// How long a session may take to report a change of state, in milliseconds.
  package var stateTimeout = 3_000
  /// How long a credit for data, or the report on it, may take, in milliseconds. NXP's middleware
  /// waits 10000 for a transmission.
  package var dataTimeout = 10_000
  /// How often a command is sent again because the chip asks for it. NXP's own middleware goes up
  /// to 10.
  package var retryLimit = 10
  /// Bytes of payload in one packet of a command.
  package var commandSegment = 255
  /// Control frames may have a 16-bit length.
  package var extendedLength = false
  /// Data frames carry their length in the fourth byte only.
  package var dataLengthInByte3 = false
  /// The notification with which the chip says that it has restarted, where it has one beside
  /// CORE_DEVICE_STATUS.
  package var bootNotification: Opcode?
  /// How its calibration is read and written.
  package var calibration = CalibrationScheme.unknown
  /// How it is asked for what its receivers see in single frames.
  package var diagnosticsScheme = DiagnosticsScheme.unknown
  /// The notifications that say it, at most four: each begins with the session and the sequence
  /// number of the round.
  public var diagnostics = [RangeDiagnosticsNotification.opcode]

  /// How long the response to a command may take, in milliseconds.
  package func responseTimeout(for opcode: Opcode) -> Int {
    slowCommands[opcode] ?? responseTimeout
  }

  /// For a chip of which nothing is known.
  public static let generic = DeviceProfile(name: "UCI device", vendor: .unknown)

  /// Qorvo QM33 and DW3000 boards with the QM33 SDK. The vendor's tool cuts commands at 250
  /// bytes; data lengths stand in the fourth byte (QM33 SDK, UART transport).
  /// The reset of the calibration writes flash; the vendor's tool gives it 6 seconds.
  public static let qorvo = DeviceProfile(
    name: "Qorvo QM33", vendor: .qorvo,
    slowCommands: [Opcode(GroupID(rawValue: 0xF), 0x00): 6_000], commandSegment: 250,
    dataLengthInByte3: true, bootNotification: QorvoBootNotification.opcode,
    calibration: .namedKeys, diagnosticsScheme: .fields,
    diagnostics: [RangeDiagnosticsNotification.qorvoOpcode, RangeDiagnosticsNotification.opcode])

  /// Qorvo QM35 on SPI or behind Qorvo's kernel driver, which read the length of data packets as the
  /// standard has it.
  public static let qorvoQM35 = DeviceProfile(
    name: "Qorvo QM35", vendor: .qorvo, bootNotification: QorvoBootNotification.opcode,
    calibration: .namedKeys, diagnosticsScheme: .fields,
    diagnostics: [RangeDiagnosticsNotification.qorvoOpcode, RangeDiagnosticsNotification.opcode])

  /// NXP SR1xx and SR2xx.
  public static let nxp = DeviceProfile(
    name: "NXP SR1xx/SR2xx", vendor: .nxp, needsDeviceInit: true, extendedLength: true,
    calibration: .numberedParameters, diagnosticsScheme: .vendorParameters,
    diagnostics: [NXPRFrameLogNotification.opcode])

  /// The row for a chip of which only the way to it is known; nil: it could be any.
  static func expected(at endpoint: LinkEndpoint) -> DeviceProfile? {
    switch endpoint {
    case .spi(let spi): spi.chip.family == .hsspi ? .qorvoQM35 : .nxp
    case .srxxx, .nxpBoard: .nxp
    case .qorvoCharacterDevice: .qorvoQM35
    case .serial, .usb, .tcp, .service, .descriptor: nil
    }
  }

  /// The row for a chip that has said who it is.
  package static func matching(_ info: DeviceInfo) -> DeviceProfile {
    rows.first { $0.matches(info.vendorInfo) }?.profile ?? .generic
  }

  // Qorvo's vendor information is a block of 51 or 52 bytes with a device id 0xDECAxxxx at byte
  // 47 (QM33 SDK); NXP's is a list of type, length and value that begins with the device's name.
  private static let rows: [(profile: DeviceProfile, matches: @Sendable ([UInt8]) -> Bool)] = [
    (
      .qorvo,
      { bytes in
        (51...52).contains(bytes.count)
          && [46, 47].contains { bytes[$0 + 2] == 0xCA && bytes[$0 + 3] == 0xDE }
      }
    ),
    (
      .nxp,
      { bytes in
        guard bytes.count > 4, bytes[0] == 0, bytes.count >= 2 + Int(bytes[1]) else {
          return false
        }
        return bytes[2..<2 + Int(bytes[1])].starts(with: Array("SR".utf8))
      }
    ),
  ]
}
