// SPDX-License-Identifier: Apache-2.0

/// Names a parameter of a session (SESSION_SET_APP_CONFIG, SESSION_GET_APP_CONFIG).
///
/// An open type: every number is valid. The tables of UCIReference describe the parameters;
/// `init(named:)` finds one there.
public struct AppConfigID: RawRepresentable, Hashable, Sendable, ExpressibleByIntegerLiteral {
  /// The byte on the wire.
  public let rawValue: UInt8
  /// Creates an identifier from its byte.
  @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }
  /// Creates an identifier from its byte.
  @inlinable public init(integerLiteral value: UInt8) { self.init(rawValue: value) }

  // The parameters used in the code: FiRa's.
  package static let deviceType = AppConfigID(rawValue: 0x00)
  package static let rangingRoundUsage = AppConfigID(rawValue: 0x01)
  package static let stsConfig = AppConfigID(rawValue: 0x02)
  package static let multiNodeMode = AppConfigID(rawValue: 0x03)
  package static let channelNumber = AppConfigID(rawValue: 0x04)
  package static let numberOfControlees = AppConfigID(rawValue: 0x05)
  package static let deviceMACAddress = AppConfigID(rawValue: 0x06)
  package static let dstMACAddress = AppConfigID(rawValue: 0x07)
  package static let slotDuration = AppConfigID(rawValue: 0x08)
  package static let rangingDuration = AppConfigID(rawValue: 0x09)
  package static let stsIndex = AppConfigID(rawValue: 0x0A)
  package static let macFCSType = AppConfigID(rawValue: 0x0B)
  package static let rangingRoundControl = AppConfigID(rawValue: 0x0C)
  package static let aoaResultRequest = AppConfigID(rawValue: 0x0D)
  package static let sessionInfoNotificationConfig = AppConfigID(rawValue: 0x0E)
  package static let nearProximity = AppConfigID(rawValue: 0x0F)
  package static let farProximity = AppConfigID(rawValue: 0x10)
  package static let deviceRole = AppConfigID(rawValue: 0x11)
  package static let rframeConfig = AppConfigID(rawValue: 0x12)
  package static let rssiReporting = AppConfigID(rawValue: 0x13)
  package static let preambleCodeIndex = AppConfigID(rawValue: 0x14)
  package static let sfdID = AppConfigID(rawValue: 0x15)
  package static let psduDataRate = AppConfigID(rawValue: 0x16)
  package static let preambleDuration = AppConfigID(rawValue: 0x17)
  package static let rangingTimeStruct = AppConfigID(rawValue: 0x1A)
  package static let slotsPerRR = AppConfigID(rawValue: 0x1B)
  package static let txAdaptivePayloadPower = AppConfigID(rawValue: 0x1C)
  package static let aoaBoundConfig = AppConfigID(rawValue: 0x1D)
  package static let prfMode = AppConfigID(rawValue: 0x1F)
  package static let capSizeRange = AppConfigID(rawValue: 0x20)
  package static let scheduleMode = AppConfigID(rawValue: 0x22)
  package static let keyRotation = AppConfigID(rawValue: 0x23)
  package static let keyRotationRate = AppConfigID(rawValue: 0x24)
  package static let sessionPriority = AppConfigID(rawValue: 0x25)
  package static let macAddressMode = AppConfigID(rawValue: 0x26)
  package static let vendorID = AppConfigID(rawValue: 0x27)
  package static let staticSTSIV = AppConfigID(rawValue: 0x28)
  package static let numberOfSTSSegments = AppConfigID(rawValue: 0x29)
  package static let maxRRRetry = AppConfigID(rawValue: 0x2A)
  package static let uwbInitiationTime = AppConfigID(rawValue: 0x2B)
  package static let hoppingMode = AppConfigID(rawValue: 0x2C)
  package static let blockStrideLength = AppConfigID(rawValue: 0x2D)
  package static let resultReportConfig = AppConfigID(rawValue: 0x2E)
  package static let inBandTerminationAttemptCount = AppConfigID(rawValue: 0x2F)
  package static let subSessionID = AppConfigID(rawValue: 0x30)
  package static let bprfPHRDataRate = AppConfigID(rawValue: 0x31)
  package static let maxNumberOfMeasurements = AppConfigID(rawValue: 0x32)
  package static let stsLength = AppConfigID(rawValue: 0x35)
  package static let ulTDoATXInterval = AppConfigID(rawValue: 0x33)
  package static let ulTDoARandomWindow = AppConfigID(rawValue: 0x34)
  package static let ulTDoADeviceID = AppConfigID(rawValue: 0x38)
  package static let ulTDoATXTimestamp = AppConfigID(rawValue: 0x39)
  package static let minFramesPerRR = AppConfigID(rawValue: 0x3A)
  package static let interFrameInterval = AppConfigID(rawValue: 0x3C)
  package static let dlTDoARangingMethod = AppConfigID(rawValue: 0x3D)
  package static let dlTDoATXTimestampConf = AppConfigID(rawValue: 0x3E)
  package static let dlTDoAHopCount = AppConfigID(rawValue: 0x3F)
  package static let dlTDoAAnchorCFO = AppConfigID(rawValue: 0x40)
  package static let dlTDoAAnchorLocation = AppConfigID(rawValue: 0x41)
  package static let dlTDoATXActiveRangingRounds = AppConfigID(rawValue: 0x42)
  package static let dlTDoABlockSkipping = AppConfigID(rawValue: 0x43)
  package static let dlTDoATimeReferenceAnchor = AppConfigID(rawValue: 0x44)
  package static let dlTDoAResponderToF = AppConfigID(rawValue: 0x49)
  package static let sessionKey = AppConfigID(rawValue: 0x45)
  package static let subSessionKey = AppConfigID(rawValue: 0x46)
  // CCC's, Qorvo's and Android's.
  package static let cccHopModeKey = AppConfigID(rawValue: 0xA0)
  package static let qorvoURSK = AppConfigID(rawValue: 0xAA)
  package static let enableDiagnostics = AppConfigID(rawValue: 0xE8)
  package static let diagnosticsFrameReportsFields = AppConfigID(rawValue: 0xE9)

  /// Whether the parameter is key material or an initialisation vector in any dialect, and so must
  /// not be in logs.
  package var isSecret: Bool { Self.secrets.contains(self) }

  private static let secrets: Set<AppConfigID> = [
    .staticSTSIV, .sessionKey, .subSessionKey, .cccHopModeKey, .qorvoURSK,
  ]
}

/// Names a parameter of the chip (CORE_SET_CONFIG, CORE_GET_CONFIG).
package struct DeviceConfigID: Hashable, Sendable {
  /// The byte on the wire, or the first of two.
  package let number: UInt8
  /// Second byte of the identifier, for parameters of NXP that have two bytes (0xE4 and 0xE5).
  package let subID: UInt8?

  /// Creates an identifier from its bytes.
  package init(_ number: UInt8, _ subID: UInt8? = nil) {
    self.number = number
    self.subID = subID
  }

  /// Creates the identifier of a parameter on the wire.
  package init(_ parameter: TLV) { self.init(parameter.id, parameter.subID) }

  /// DEVICE_STATE, one byte, read only.
  package static let deviceState = DeviceConfigID(0x00)
  /// LOW_POWER_MODE, one byte: 0 off, 1 on (default).
  package static let lowPowerMode = DeviceConfigID(0x01)

  // Parameters of NXP, which UCIReference describes.
  package static let dpdWakeupSource = DeviceConfigID(0xE4, 0x02)
  package static let wtxCount = DeviceConfigID(0xE4, 0x03)
  package static let dpdEntryTimeout = DeviceConfigID(0xE4, 0x04)
  package static let txPulseShape = DeviceConfigID(0xE4, 0x28)
  package static let extendedNotifications = DeviceConfigID(0xE4, 0x33)
  package static let rxAntennasDefine = DeviceConfigID(0xE4, 0x60)
  package static let txAntennasDefineSR1xx = DeviceConfigID(0xE4, 0x61)
  package static let rxAntennaPairsDefine = DeviceConfigID(0xE4, 0x62)
}

extension TLV {
  /// Creates a parameter of a session with its value in the order of the wire.
  public init(_ id: AppConfigID, _ value: [UInt8]) {
    self.init(id.rawValue, value)
  }

  /// Creates a parameter of the chip with its value in the order of the wire.
  package init(_ id: DeviceConfigID, _ value: [UInt8]) {
    self.init(id.number, value, subID: id.subID)
  }
}
