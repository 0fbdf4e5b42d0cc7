// SPDX-License-Identifier: Apache-2.0

// FiRa UCI application configuration parameters from 0x30.
extension AppConfigID {
  /// SUB_SESSION_ID. Of a controlee with a key of its own.
  public static let subSessionID = AppConfigID(rawValue: 0x30)
  /// BPRF_PHR_DATA_RATE. Data rate of the PHY header. Equal on both peers.
  public static let bprfPHRDataRate = AppConfigID(rawValue: 0x31)
  /// MAX_NUMBER_OF_MEASUREMENTS. Measurements after which the session stops; 0 never.
  public static let maxNumberOfMeasurements = AppConfigID(rawValue: 0x32)
  /// UL_TDOA_TX_INTERVAL. Milliseconds between two messages of a UT-tag.
  public static let ulTDoATxInterval = AppConfigID(rawValue: 0x33)
  /// UL_TDOA_RANDOM_WINDOW. Milliseconds by which a UT-tag varies its interval.
  public static let ulTDoARandomWindow = AppConfigID(rawValue: 0x34)
  /// STS_LENGTH. Length of an STS segment. Equal on both peers.
  public static let stsLength = AppConfigID(rawValue: 0x35)
  /// SUSPEND_RANGING_ROUNDS. Whether ranging is suspended; may be set while ranging.
  public static let suspendRangingRounds = AppConfigID(rawValue: 0x36)
  /// UL_TDOA_NTF_REPORT_CONFIG. Of a UT-anchor.
  public static let ulTDoANotificationReportConfig = AppConfigID(rawValue: 0x37)
  /// UL_TDOA_DEVICE_ID. A code for its length, then the id of a UT-tag.
  public static let ulTDoADeviceID = AppConfigID(rawValue: 0x38)
  /// UL_TDOA_TX_TIMESTAMP. Whether a UT-tag sends its timestamp.
  public static let ulTDoATxTimestamp = AppConfigID(rawValue: 0x39)
  /// MIN_FRAMES_PER_RR. OWR AoA: fewest frames in a round.
  public static let minFramesPerRR = AppConfigID(rawValue: 0x3A)
  /// MTU_SIZE. OWR AoA: bytes of a frame.
  public static let mtuSize = AppConfigID(rawValue: 0x3B)
  /// INTER_FRAME_INTERVAL. OWR AoA: milliseconds between two frames.
  public static let interFrameInterval = AppConfigID(rawValue: 0x3C)
  /// DL_TDOA_RANGING_METHOD. How DT-anchors range.
  public static let dlTDoARangingMethod = AppConfigID(rawValue: 0x3D)
  /// DL_TDOA_TX_TIMESTAMP_CONF. Bit 0 common time base, bit 1 64 bits.
  public static let dlTDoATxTimestampConfig = AppConfigID(rawValue: 0x3E)
  /// DL_TDOA_HOP_COUNT. Whether messages carry a hop count.
  public static let dlTDoAHopCount = AppConfigID(rawValue: 0x3F)
  /// DL_TDOA_ANCHOR_CFO. Whether messages carry the clock offset.
  public static let dlTDoAAnchorCFO = AppConfigID(rawValue: 0x40)
  /// DL_TDOA_ANCHOR_LOCATION. A type byte, then the location.
  public static let dlTDoAAnchorLocation = AppConfigID(rawValue: 0x41)
  /// DL_TDOA_TX_ACTIVE_RANGING_ROUNDS. Whether messages list the active rounds.
  public static let dlTDoATxActiveRangingRounds = AppConfigID(rawValue: 0x42)
  /// DL_TDOA_BLOCK_SKIPPING. Blocks a DT-tag skips.
  public static let dlTDoABlockSkipping = AppConfigID(rawValue: 0x43)
  /// DL_TDOA_TIME_REFERENCE_ANCHOR. Whether this anchor gives the time.
  public static let dlTDoATimeReferenceAnchor = AppConfigID(rawValue: 0x44)
  /// SESSION_KEY. Provisioned STS; a secret. Equal on both peers.
  public static let sessionKey = AppConfigID(rawValue: 0x45)
  /// SUB_SESSION_KEY. Provisioned STS with a key of its own for a controlee; a secret.
  public static let subSessionKey = AppConfigID(rawValue: 0x46)
  /// SESSION_DATA_TRANSFER_STATUS_NTF_CONFIG. Whether to report each repetition of data.
  public static let dataTransferStatusNotificationConfig = AppConfigID(rawValue: 0x47)
  /// SESSION_TIME_BASE. Flags, handle of the reference session, offset in microseconds.
  public static let sessionTimeBase = AppConfigID(rawValue: 0x48)
  /// DL_TDOA_RESPONDER_TOF. Whether messages carry the time of flight.
  public static let dlTDoAResponderToF = AppConfigID(rawValue: 0x49)
  /// SECURE_RANGING_NEFA_LEVEL. Demand on false acceptances.
  public static let secureRangingNEFALevel = AppConfigID(rawValue: 0x4A)
  /// SECURE_RANGING_CSW_LENGTH. Search window in quarters of a metre.
  public static let secureRangingCSWLength = AppConfigID(rawValue: 0x4B)
  /// APPLICATION_DATA_ENDPOINT. Where data goes: low nibble non-secure, high nibble secure.
  public static let applicationDataEndpoint = AppConfigID(rawValue: 0x4C)
  /// OWR_AOA_MEASUREMENT_NTF_PERIOD. How often an observer reports.
  public static let owrAoAMeasurementNotificationPeriod = AppConfigID(rawValue: 0x4D)
}

// Parameters of CCC, Aliro, Android and vendors. Vendors have given some identifiers more than one
// meaning.
extension AppConfigID {
  /// HOP_MODE_KEY. CCC; a secret.
  public static let cccHopModeKey = AppConfigID(rawValue: 0xA0)
  /// CCC_UWB_TIME0. CCC.
  public static let cccUWBTime0 = AppConfigID(rawValue: 0xA1)
  /// NXP_RESPONDER_SLOT_INDEX. NXP.
  public static let nxpResponderSlotIndex = AppConfigID(rawValue: 0xA2)
  /// CCC_PROTOCOL_VERSION. CCC.
  public static let cccProtocolVersion = AppConfigID(rawValue: 0xA3)
  /// CCC_UWB_CONFIG_ID. CCC.
  public static let cccUWBConfigID = AppConfigID(rawValue: 0xA4)
  /// CCC_PULSE_SHAPE_COMBO. CCC.
  public static let cccPulseShapeCombo = AppConfigID(rawValue: 0xA5)
  /// CCC_URSK_TTL. CCC: life of the key in minutes.
  public static let cccURSKTTL = AppConfigID(rawValue: 0xA6)
  /// NXP_RESPONDER_LISTEN_ONLY. NXP.
  public static let nxpResponderListenOnly = AppConfigID(rawValue: 0xA7)
  /// CCC_LAST_STS_INDEX_USED. CCC; read only.
  public static let cccLastSTSIndexUsed = AppConfigID(rawValue: 0xA8)
  /// ALIRO_MAC_MODE. Bits 7…6 rounds in a block, bits 5…0 offset.
  public static let aliroMACMode = AppConfigID(rawValue: 0xA9)
  /// URSK. Qorvo; a secret.
  public static let qorvoURSK = AppConfigID(rawValue: 0xAA)
  /// RADAR_TIMING_PARAMS. Qorvo.
  public static let qorvoRadarTiming = AppConfigID(rawValue: 0xB0)
  /// RADAR_SAMPLES_PER_SWEEP. Qorvo.
  public static let qorvoRadarSamplesPerSweep = AppConfigID(rawValue: 0xB1)
  /// RADAR_SWEEP_OFFSET. Qorvo.
  public static let qorvoRadarSweepOffset = AppConfigID(rawValue: 0xB2)
  /// RADAR_BITS_PER_SAMPLE. Qorvo.
  public static let qorvoRadarBitsPerSample = AppConfigID(rawValue: 0xB3)
  /// RADAR_NUMBER_OF_BURSTS. Qorvo.
  public static let qorvoRadarNumberOfBursts = AppConfigID(rawValue: 0xB4)
  /// RADAR_DATA_TYPE. Qorvo.
  public static let qorvoRadarDataType = AppConfigID(rawValue: 0xB5)
  /// RADAR_ANTENNA_GROUP. Qorvo.
  public static let qorvoRadarAntennaGroup = AppConfigID(rawValue: 0xB6)
  /// RADAR_TX_PROFILE. Qorvo.
  public static let qorvoRadarTxProfile = AppConfigID(rawValue: 0xB7)
  /// INTERLEAVING_RATIO_RANGE. Android: measurements of distance while interleaving.
  public static let androidRangeMeasurements = AppConfigID(rawValue: 0xE3)
  /// INTERLEAVING_RATIO_AZIMUTH. Android: measurements of azimuth while interleaving.
  public static let androidAzimuthMeasurements = AppConfigID(rawValue: 0xE4)
  /// INTERLEAVING_RATIO_ELEVATION. Android: measurements of elevation while interleaving.
  public static let androidElevationMeasurements = AppConfigID(rawValue: 0xE5)
  /// RX_ANTENNA_SELECTION. Qorvo.
  public static let qorvoRxAntennaSelection = AppConfigID(rawValue: 0xE6)
  /// TX_ANTENNA_SELECTION. Qorvo.
  public static let qorvoTxAntennaSelection = AppConfigID(rawValue: 0xE7)
  /// ENABLE_DIAGNOSTICS. Android and Qorvo: range diagnostics for every round.
  public static let enableDiagnostics = AppConfigID(rawValue: 0xE8)
  /// DIAGNOSTICS_FRAME_REPORTS_FIELDS.
  ///
  /// Android and Qorvo: bit 0 RSSI, 1 AoA, 2 CIR, 3 CFO, 5 segments, 6 CIR.
  public static let diagnosticsFrameReportsFields = AppConfigID(rawValue: 0xE9)
  /// ANTENNA_MODE_OR_PAYLOAD_ENCRYPTION. Android: antenna mode; Qorvo: MAC payload encryption.
  public static let antennaModeOrPayloadEncryption = AppConfigID(rawValue: 0xEA)
  /// ENABLE_PSDU_DUMP. Qorvo.
  public static let qorvoEnablePSDUDump = AppConfigID(rawValue: 0xEB)
}
