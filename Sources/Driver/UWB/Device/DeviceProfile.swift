// SPDX-License-Identifier: Apache-2.0
public import UCI
internal import UWBLink

/// The oddities of one family of chips, as data.
///
/// The rest of the driver does not depend on vendors. The chip's device information determines the
/// row.
public struct DeviceProfile: Sendable, Hashable {
  /// The name for users.
  public var name: String
  /// The vendor whose command groups and device information the chip has.
  package var vendor: Dialect.Vendor
  /// Whether the chip accepts no command before the vendor command CORE_DEVICE_INIT.
  package var needsDeviceInit = false
  /// The time-out of a response, in milliseconds. AOSP's core waits 2000, because 100 and 800 were
  /// too short.
  package var responseTimeout = 2_000
  /// The time-outs of the responses to slower commands, in milliseconds.
  package var slowCommands: [Opcode: Int] = [:]
  /// The time-out of READY after a reset, in milliseconds. NXP's Android service waits 3000.
  package var resetTimeout = 3_000
  /// The time-out of the report after a change of a session's state, in milliseconds.
  package var stateTimeout = 3_000
  /// The time-out, in milliseconds, of a credit for data and of the report on the data. NXP's
  /// middleware waits 10000 for a transmission.
  package var dataTimeout = 10_000
  /// The greatest number of times that a command is sent again at the chip's request. NXP's
  /// middleware repeats up to 10 times.
  package var retryLimit = 10
  /// The greatest number of payload bytes in one packet of a command.
  package var commandSegment = 255
  /// Whether control frames may have a 16-bit length.
  package var extendedLength = false
  /// Whether data frames carry their length in the fourth byte only.
  package var dataLengthInByte3 = false
  /// The notification by which the chip reports a restart, if it sends one besides
  /// CORE_DEVICE_STATUS.
  package var bootNotification: Opcode?
  /// The way in which the chip stores its calibration.
  package var calibration = CalibrationScheme.unknown
  /// The way to request diagnostics of single frames.
  package var diagnosticsScheme = DiagnosticsScheme.unknown
  /// The notifications with diagnostics, at most four. Each begins with the session and the
  /// sequence number of the round.
  public var diagnostics = [RangeDiagnosticsNotification.opcode]

  /// Returns the time-out of the response to a command, in milliseconds.
  package func responseTimeout(for opcode: Opcode) -> Int {
    slowCommands[opcode] ?? responseTimeout
  }

  /// The profile of an unknown chip.
  public static let generic = DeviceProfile(name: "UCI device", vendor: .unknown)

  /// Qorvo QM33 and DW3000 boards with the QM33 SDK. The vendor's tool splits commands at 250
  /// bytes. The length of data is in the fourth byte (QM33 SDK, UART transport). Resetting the
  /// calibration writes flash; the vendor's tool waits 6 seconds for it.
  public static let qorvo = DeviceProfile(
    name: "Qorvo QM33", vendor: .qorvo,
    slowCommands: [Opcode(GroupID(rawValue: 0xF), 0x00): 6_000], commandSegment: 250,
    dataLengthInByte3: true, bootNotification: QorvoBootNotification.opcode,
    calibration: .namedKeys, diagnosticsScheme: .fields,
    diagnostics: [RangeDiagnosticsNotification.qorvoOpcode, RangeDiagnosticsNotification.opcode])

  /// Qorvo QM35 on SPI or with Qorvo's kernel driver. Both read the length of data packets in the
  /// standardised way.
  public static let qorvoQM35 = DeviceProfile(
    name: "Qorvo QM35", vendor: .qorvo, bootNotification: QorvoBootNotification.opcode,
    calibration: .namedKeys, diagnosticsScheme: .fields,
    diagnostics: [RangeDiagnosticsNotification.qorvoOpcode, RangeDiagnosticsNotification.opcode])

  /// NXP SR1xx and SR2xx.
  public static let nxp = DeviceProfile(
    name: "NXP SR1xx/SR2xx", vendor: .nxp, needsDeviceInit: true, extendedLength: true,
    calibration: .numberedParameters, diagnosticsScheme: .vendorParameters,
    diagnostics: [NXPRFrameLogNotification.opcode])

  /// Returns the row for an endpoint whose chip is not identified yet; nil if it could be any chip.
  static func expected(at endpoint: LinkEndpoint) -> DeviceProfile? {
    switch endpoint {
    case .spi(let spi): spi.chip.family == .hsspi ? .qorvoQM35 : .nxp
    case .srxxx, .nxpBoard: .nxp
    case .qorvoCharacterDevice: .qorvoQM35
    case .serial, .usb, .tcp, .service, .descriptor: nil
    }
  }

  /// Returns the row for an identified chip.
  package static func matching(_ info: DeviceInfo) -> DeviceProfile {
    rows.first { $0.matches(info.vendorInfo) }?.profile ?? .generic
  }

  // Qorvo's vendor information is a block of 51 or 52 bytes with a device id 0xDECAxxxx at byte 47
  // (QM33 SDK). NXP's is a list of type, length and value that begins with the name of the device.
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
