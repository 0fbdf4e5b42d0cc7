// SPDX-License-Identifier: Apache-2.0

/// Names a parameter of a session (SESSION_SET_APP_CONFIG, SESSION_GET_APP_CONFIG).
///
/// An open type: identifiers that are not named here can be used as they are. What is known of a
/// parameter is in `parameter(in:)`.
public struct AppConfigID: RawRepresentable, Hashable, Sendable {
  /// The byte on the wire.
  public let rawValue: UInt8
  /// Any byte.
  @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }
}

extension AppConfigID {
  /// Key material or an initialisation vector in some dialect, which does not belong into logs.
  public var isSecret: Bool { Self.secrets.contains(self) }

  private static let secrets: Set<AppConfigID> = [
    .staticSTSIV, .sessionKey, .subSessionKey, .cccHopModeKey, .qorvoURSK,
  ]
}

extension TLV {
  /// A parameter of a session with its value as it goes on the wire.
  public init(_ id: AppConfigID, _ value: [UInt8]) {
    self.init(id.rawValue, value)
  }
}

// FiRa UCI application configuration parameters 0x00…0x2F.
extension AppConfigID {
  /// DEVICE_TYPE. Controlee or controller.
  public static let deviceType = AppConfigID(rawValue: 0x00)
  /// RANGING_ROUND_USAGE. How a round measures. Equal on both peers.
  public static let rangingRoundUsage = AppConfigID(rawValue: 0x01)
  /// STS_CONFIG. Where the scrambled timestamp sequence comes from. Equal on both peers.
  public static let stsConfig = AppConfigID(rawValue: 0x02)
  /// MULTI_NODE_MODE. How many peers take part. Equal on both peers.
  public static let multiNodeMode = AppConfigID(rawValue: 0x03)
  /// CHANNEL_NUMBER. UWB channel: 5, 6, 8, 9, 10, 12, 13 or 14. Equal on both peers.
  public static let channelNumber = AppConfigID(rawValue: 0x04)
  /// NUMBER_OF_CONTROLEES. How many controlees a controller ranges with.
  public static let numberOfControlees = AppConfigID(rawValue: 0x05)
  /// DEVICE_MAC_ADDRESS. The address of this device.
  public static let deviceMACAddress = AppConfigID(rawValue: 0x06)
  /// DST_MAC_ADDRESS. The addresses of the peers, one after another.
  public static let dstMACAddress = AppConfigID(rawValue: 0x07)
  /// SLOT_DURATION. Length of a slot in RSTU; 1200 are a millisecond. Equal on both peers.
  public static let slotDuration = AppConfigID(rawValue: 0x08)
  /// RANGING_DURATION. Length of a block in milliseconds. Equal on both peers.
  public static let rangingDuration = AppConfigID(rawValue: 0x09)
  /// STS_INDEX. First STS index. Equal on both peers.
  public static let stsIndex = AppConfigID(rawValue: 0x0A)
  /// MAC_FCS_TYPE. Frame check sequence. Equal on both peers.
  public static let macFCSType = AppConfigID(rawValue: 0x0B)
  /// RANGING_ROUND_CONTROL. Which messages a round has, bit by bit. Equal on both peers.
  public static let rangingRoundControl = AppConfigID(rawValue: 0x0C)
  /// AOA_RESULT_REQ. Which angles to report.
  public static let aoaResultRequest = AppConfigID(rawValue: 0x0D)
  /// SESSION_INFO_NTF_CONFIG. When to send SESSION_INFO_NTF.
  public static let sessionInfoNotificationConfig = AppConfigID(rawValue: 0x0E)
  /// NEAR_PROXIMITY. Nearer end of the proximity range in centimetres.
  public static let nearProximity = AppConfigID(rawValue: 0x0F)
  /// FAR_PROXIMITY. Farther end of the proximity range in centimetres.
  public static let farProximity = AppConfigID(rawValue: 0x10)
  /// DEVICE_ROLE. What this device does in a round.
  public static let deviceRole = AppConfigID(rawValue: 0x11)
  /// RFRAME_CONFIG. Where a frame has its STS. Equal on both peers.
  public static let rframeConfig = AppConfigID(rawValue: 0x12)
  /// RSSI_REPORTING. Whether measurements carry RSSI.
  public static let rssiReporting = AppConfigID(rawValue: 0x13)
  /// PREAMBLE_CODE_INDEX. Preamble code: 9…12 for BPRF, 25…32 for HPRF. Equal on both peers.
  public static let preambleCodeIndex = AppConfigID(rawValue: 0x14)
  /// SFD_ID. Start-of-frame delimiter: 0 or 2 for BPRF, 1…4 for HPRF. Equal on both peers.
  public static let sfdID = AppConfigID(rawValue: 0x15)
  /// PSDU_DATA_RATE. Data rate of the payload. Equal on both peers.
  public static let psduDataRate = AppConfigID(rawValue: 0x16)
  /// PREAMBLE_DURATION. Length of the preamble. Equal on both peers.
  public static let preambleDuration = AppConfigID(rawValue: 0x17)
  /// LINK_LAYER_MODE. How data goes to the link layer. Equal on both peers.
  public static let linkLayerMode = AppConfigID(rawValue: 0x18)
  /// DATA_REPETITION_COUNT. How often data is repeated; 255 without end.
  public static let dataRepetitionCount = AppConfigID(rawValue: 0x19)
  /// RANGING_TIME_STRUCT. How time is divided. Equal on both peers.
  public static let rangingTimeStruct = AppConfigID(rawValue: 0x1A)
  /// SLOTS_PER_RR. Slots in a ranging round. Equal on both peers.
  public static let slotsPerRR = AppConfigID(rawValue: 0x1B)
  /// TX_ADAPTIVE_PAYLOAD_POWER. FiRa 1.x only: newer firmware refuses a whole command for it.
  public static let txAdaptivePayloadPower = AppConfigID(rawValue: 0x1C)
  /// AOA_BOUND_CONFIG. Azimuth low and high, elevation low and high, in Q9.7 degrees.
  public static let aoaBoundConfig = AppConfigID(rawValue: 0x1D)
  /// RESPONDER_SLOT_INDEX. Slot of this responder. FiRa 1.x; NXP has it at 0xA2.
  public static let responderSlotIndex = AppConfigID(rawValue: 0x1E)
  /// PRF_MODE. Pulse repetition frequency. Equal on both peers.
  public static let prfMode = AppConfigID(rawValue: 0x1F)
  /// CAP_SIZE_RANGE. Most and fewest slots of the contention access period.
  public static let capSizeRange = AppConfigID(rawValue: 0x20)
  /// TX_JITTER_WINDOW_SIZE. FiRa 1.x.
  public static let txJitterWindowSize = AppConfigID(rawValue: 0x21)
  /// SCHEDULE_MODE. Who sends when. Equal on both peers.
  public static let scheduleMode = AppConfigID(rawValue: 0x22)
  /// KEY_ROTATION. Whether keys change during a session. Equal on both peers.
  public static let keyRotation = AppConfigID(rawValue: 0x23)
  /// KEY_ROTATION_RATE. n: keys change every 2^n blocks. Equal on both peers.
  public static let keyRotationRate = AppConfigID(rawValue: 0x24)
  /// SESSION_PRIORITY. Which session wins when two collide; 100 first.
  public static let sessionPriority = AppConfigID(rawValue: 0x25)
  /// MAC_ADDRESS_MODE. Length of addresses; has to come before them. Equal on both peers.
  public static let macAddressMode = AppConfigID(rawValue: 0x26)
  /// VENDOR_ID. First two bytes of the static STS. Equal on both peers.
  public static let vendorID = AppConfigID(rawValue: 0x27)
  /// STATIC_STS_IV. Other six bytes of the static STS; a secret. Equal on both peers.
  public static let staticSTSIV = AppConfigID(rawValue: 0x28)
  /// NUMBER_OF_STS_SEGMENTS. 0 with SP0, 1 with BPRF, 1…4 with HPRF. Equal on both peers.
  public static let numberOfSTSSegments = AppConfigID(rawValue: 0x29)
  /// MAX_RR_RETRY. Failed rounds after which the session stops; 0 never.
  public static let maxRRRetry = AppConfigID(rawValue: 0x2A)
  /// UWB_INITIATION_TIME.
  ///
  /// When to start: milliseconds from now in 4 bytes (FiRa 1.x), time of the chip in microseconds in 8.
  public static let uwbInitiationTime = AppConfigID(rawValue: 0x2B)
  /// HOPPING_MODE. Whether rounds hop within a block. Equal on both peers.
  public static let hoppingMode = AppConfigID(rawValue: 0x2C)
  /// BLOCK_STRIDE_LENGTH. Blocks skipped between two rounds.
  public static let blockStrideLength = AppConfigID(rawValue: 0x2D)
  /// RESULT_REPORT_CONFIG.
  ///
  /// What a peer reports: bit 0 ToF, 1 azimuth, 2 elevation, 3 FoM. Equal on both peers.
  public static let resultReportConfig = AppConfigID(rawValue: 0x2E)
  /// IN_BAND_TERMINATION_ATTEMPT_COUNT. How often the controller says that it ends.
  public static let inBandTerminationAttemptCount = AppConfigID(rawValue: 0x2F)
}
