// SPDX-License-Identifier: Apache-2.0

// Source: FiRa UCI application configuration parameters as published in the packet definitions of
// AOSP and pica, in the Qorvo and NXP host code, and as accepted by real chips. Defaults are those
// of the specification where the sources agree.
extension AppConfigParameter {
  static let fira: [AppConfigParameter] = [
    AppConfigParameter(
      .deviceType, "DEVICE_TYPE", [1], range: 0...1, values: [0: "controlee", 1: "controller"]),
    AppConfigParameter(
      .rangingRoundUsage, "RANGING_ROUND_USAGE", [1], range: 0...10, default: 2,
      values: [
        0: "UL-TDoA", 1: "SS-TWR deferred", 2: "DS-TWR deferred", 3: "SS-TWR non-deferred",
        4: "DS-TWR non-deferred", 5: "DL-TDoA", 6: "OWR AoA", 7: "eSS-TWR", 8: "aDS-TWR",
        9: "data transfer", 10: "hybrid",
      ]),
    AppConfigParameter(
      .stsConfig, "STS_CONFIG", [1], range: 0...4, default: 0,
      values: [
        0: "static", 1: "dynamic", 2: "dynamic, controlee key", 3: "provisioned",
        4: "provisioned, controlee key",
      ]),
    AppConfigParameter(
      .multiNodeMode, "MULTI_NODE_MODE", [1], range: 0...2,
      values: [0: "unicast", 1: "one to many", 2: "many to many"]),
    AppConfigParameter(.channelNumber, "CHANNEL_NUMBER", [1], range: 5...14, default: 9),
    AppConfigParameter(.numberOfControlees, "NUMBER_OF_CONTROLEES", [1], range: 1...8, default: 1),
    AppConfigParameter(.deviceMACAddress, "DEVICE_MAC_ADDRESS", [2, 8]),
    AppConfigParameter(.dstMACAddress, "DST_MAC_ADDRESS", []),
    AppConfigParameter(
      .slotDuration, "SLOT_DURATION", [2], unit: "RSTU", range: 0...65535, default: 2400),
    AppConfigParameter(
      .rangingDuration, "RANGING_DURATION", [4], unit: "ms", range: 0...4294967295, default: 200),
    AppConfigParameter(.stsIndex, "STS_INDEX", [4], default: 0),
    AppConfigParameter(
      .macFCSType, "MAC_FCS_TYPE", [1], range: 0...1, default: 0,
      values: [0: "CRC-16", 1: "CRC-32"]),
    AppConfigParameter(.rangingRoundControl, "RANGING_ROUND_CONTROL", [1], default: 3),
    AppConfigParameter(
      .aoaResultRequest, "AOA_RESULT_REQ", [1], default: 1,
      values: [0: "off", 1: "all", 2: "azimuth", 3: "elevation", 0xF0: "interleaved"]),
    AppConfigParameter(
      .sessionInfoNotificationConfig, "SESSION_INFO_NTF_CONFIG", [1], range: 0...7, default: 1,
      values: [
        0: "off", 1: "on", 2: "within proximity", 3: "within angles", 4: "within both",
        5: "crossing proximity", 6: "crossing angles", 7: "crossing both",
      ]),
    AppConfigParameter(
      .nearProximity, "NEAR_PROXIMITY", [2], unit: "cm", range: 0...65535, default: 0),
    AppConfigParameter(
      .farProximity, "FAR_PROXIMITY", [2], unit: "cm", range: 0...65535, default: 20000),
    AppConfigParameter(
      .deviceRole, "DEVICE_ROLE", [1], range: 0...8,
      values: [
        0: "responder", 1: "initiator", 2: "UT-sync anchor", 3: "UT-anchor", 4: "UT-tag",
        5: "advertiser", 6: "observer", 7: "DT-anchor", 8: "DT-tag",
      ]),
    AppConfigParameter(
      .rframeConfig, "RFRAME_CONFIG", [1], range: 0...3, default: 3,
      values: [0: "SP0", 1: "SP1", 3: "SP3"]),
    AppConfigParameter(
      .rssiReporting, "RSSI_REPORTING", [1], range: 0...1, default: 0, values: [0: "off", 1: "on"]),
    AppConfigParameter(.preambleCodeIndex, "PREAMBLE_CODE_INDEX", [1], range: 9...32, default: 10),
    AppConfigParameter(.sfdID, "SFD_ID", [1], range: 0...4, default: 2),
    AppConfigParameter(
      .psduDataRate, "PSDU_DATA_RATE", [1], range: 0...4, default: 0,
      values: [
        0: "6.81 Mbit/s", 1: "7.80 Mbit/s", 2: "27.2 Mbit/s", 3: "31.2 Mbit/s", 4: "850 kbit/s",
      ]),
    AppConfigParameter(
      .preambleDuration, "PREAMBLE_DURATION", [1], range: 0...1, default: 1,
      values: [0: "32 symbols", 1: "64 symbols"]),
    AppConfigParameter(
      .linkLayerMode, "LINK_LAYER_MODE", [1], range: 0...1, default: 0,
      values: [0: "bypass", 1: "logical link"]),
    AppConfigParameter(
      .dataRepetitionCount, "DATA_REPETITION_COUNT", [1], range: 0...255, default: 0),
    AppConfigParameter(
      .rangingTimeStruct, "RANGING_TIME_STRUCT", [1], range: 0...1, default: 1,
      values: [0: "interval based", 1: "block based"]),
    AppConfigParameter(
      .slotsPerRR, "SLOTS_PER_RR", [1], unit: "slots", range: 1...255, default: 25),
    AppConfigParameter(
      .txAdaptivePayloadPower, "TX_ADAPTIVE_PAYLOAD_POWER", [1], range: 0...1, default: 0,
      values: [0: "off", 1: "on"]),
    AppConfigParameter(.aoaBoundConfig, "AOA_BOUND_CONFIG", [8]),
    AppConfigParameter(
      .responderSlotIndex, "RESPONDER_SLOT_INDEX", [1], unit: "slots", range: 1...255, default: 1),
    AppConfigParameter(
      .prfMode, "PRF_MODE", [1], range: 0...2, default: 0,
      values: [0: "BPRF 62.4 MHz", 1: "HPRF 124.8 MHz", 2: "HPRF 249.6 MHz"]),
    AppConfigParameter(.capSizeRange, "CAP_SIZE_RANGE", [2], unit: "slots"),
    AppConfigParameter(.txJitterWindowSize, "TX_JITTER_WINDOW_SIZE", [1], default: 0),
    AppConfigParameter(
      .scheduleMode, "SCHEDULE_MODE", [1], range: 0...2, default: 1,
      values: [0: "contention based", 1: "time scheduled", 2: "hybrid"]),
    AppConfigParameter(
      .keyRotation, "KEY_ROTATION", [1], range: 0...1, default: 0, values: [0: "off", 1: "on"]),
    AppConfigParameter(.keyRotationRate, "KEY_ROTATION_RATE", [1], range: 0...15, default: 0),
    AppConfigParameter(.sessionPriority, "SESSION_PRIORITY", [1], range: 1...100, default: 50),
    AppConfigParameter(
      .macAddressMode, "MAC_ADDRESS_MODE", [1], range: 0...2, default: 0,
      values: [0: "short", 1: "extended, short in header", 2: "extended"]),
    AppConfigParameter(.vendorID, "VENDOR_ID", [2]),
    AppConfigParameter(.staticSTSIV, "STATIC_STS_IV", [6]),
    AppConfigParameter(
      .numberOfSTSSegments, "NUMBER_OF_STS_SEGMENTS", [1], range: 0...4, default: 1),
    AppConfigParameter(
      .maxRRRetry, "MAX_RR_RETRY", [2], unit: "rounds", range: 0...65535, default: 0),
    AppConfigParameter(.uwbInitiationTime, "UWB_INITIATION_TIME", [4, 8], default: 0),
    AppConfigParameter(
      .hoppingMode, "HOPPING_MODE", [1], default: 0,
      values: [
        0: "off", 1: "FiRa hopping", 2: "adaptive modulo", 3: "continuous modulo",
        4: "adaptive AES", 5: "continuous AES",
      ]),
    AppConfigParameter(
      .blockStrideLength, "BLOCK_STRIDE_LENGTH", [1], unit: "blocks", range: 0...255, default: 0),
    AppConfigParameter(.resultReportConfig, "RESULT_REPORT_CONFIG", [1], range: 0...15, default: 1),
    AppConfigParameter(
      .inBandTerminationAttemptCount, "IN_BAND_TERMINATION_ATTEMPT_COUNT", [1], range: 0...10,
      default: 1),
  ]

  static let later: [AppConfigParameter] = [
    AppConfigParameter(.subSessionID, "SUB_SESSION_ID", [4]),
    AppConfigParameter(
      .bprfPHRDataRate, "BPRF_PHR_DATA_RATE", [1], range: 0...1, default: 0,
      values: [0: "850 kbit/s", 1: "6.81 Mbit/s"]),
    AppConfigParameter(
      .maxNumberOfMeasurements, "MAX_NUMBER_OF_MEASUREMENTS", [2], range: 0...65535, default: 0),
    AppConfigParameter(.ulTDoATxInterval, "UL_TDOA_TX_INTERVAL", [4], unit: "ms", default: 2000),
    AppConfigParameter(.ulTDoARandomWindow, "UL_TDOA_RANDOM_WINDOW", [4], unit: "ms", default: 0),
    AppConfigParameter(
      .stsLength, "STS_LENGTH", [1], range: 0...2, default: 1,
      values: [0: "32 symbols", 1: "64 symbols", 2: "128 symbols"]),
    AppConfigParameter(
      .suspendRangingRounds, "SUSPEND_RANGING_ROUNDS", [1], range: 0...1, default: 0,
      values: [0: "off", 1: "on"]),
    AppConfigParameter(.ulTDoANotificationReportConfig, "UL_TDOA_NTF_REPORT_CONFIG", []),
    AppConfigParameter(.ulTDoADeviceID, "UL_TDOA_DEVICE_ID", [1, 3, 5, 9]),
    AppConfigParameter(
      .ulTDoATxTimestamp, "UL_TDOA_TX_TIMESTAMP", [1], range: 0...2, default: 0,
      values: [0: "none", 1: "40 bits", 2: "64 bits"]),
    AppConfigParameter(
      .minFramesPerRR, "MIN_FRAMES_PER_RR", [1], unit: "frames", range: 1...15, default: 4),
    AppConfigParameter(.mtuSize, "MTU_SIZE", [2], unit: "octets"),
    AppConfigParameter(
      .interFrameInterval, "INTER_FRAME_INTERVAL", [1], unit: "ms", range: 0...255, default: 1),
    AppConfigParameter(
      .dlTDoARangingMethod, "DL_TDOA_RANGING_METHOD", [1], range: 0...1, default: 1,
      values: [0: "SS-TWR", 1: "DS-TWR"]),
    AppConfigParameter(
      .dlTDoATxTimestampConfig, "DL_TDOA_TX_TIMESTAMP_CONF", [1], range: 0...3, default: 3),
    AppConfigParameter(
      .dlTDoAHopCount, "DL_TDOA_HOP_COUNT", [1], range: 0...1, default: 1,
      values: [0: "off", 1: "on"]),
    AppConfigParameter(
      .dlTDoAAnchorCFO, "DL_TDOA_ANCHOR_CFO", [1], range: 0...1, default: 1,
      values: [0: "off", 1: "on"]),
    AppConfigParameter(.dlTDoAAnchorLocation, "DL_TDOA_ANCHOR_LOCATION", [1, 11, 13]),
    AppConfigParameter(
      .dlTDoATxActiveRangingRounds, "DL_TDOA_TX_ACTIVE_RANGING_ROUNDS", [1], range: 0...1,
      default: 0, values: [0: "off", 1: "on"]),
    AppConfigParameter(
      .dlTDoABlockSkipping, "DL_TDOA_BLOCK_SKIPPING", [1], unit: "blocks", range: 0...255,
      default: 0),
    AppConfigParameter(
      .dlTDoATimeReferenceAnchor, "DL_TDOA_TIME_REFERENCE_ANCHOR", [1], range: 0...1, default: 0,
      values: [0: "off", 1: "on"]),
    AppConfigParameter(.sessionKey, "SESSION_KEY", [16, 32]),
    AppConfigParameter(.subSessionKey, "SUB_SESSION_KEY", [16, 32]),
    AppConfigParameter(
      .dataTransferStatusNotificationConfig, "SESSION_DATA_TRANSFER_STATUS_NTF_CONFIG", [1],
      range: 0...1, default: 0, values: [0: "off", 1: "on"]),
    AppConfigParameter(.sessionTimeBase, "SESSION_TIME_BASE", [9]),
    AppConfigParameter(
      .dlTDoAResponderToF, "DL_TDOA_RESPONDER_TOF", [1], range: 0...1, default: 0,
      values: [0: "off", 1: "on"]),
    AppConfigParameter(
      .secureRangingNEFALevel, "SECURE_RANGING_NEFA_LEVEL", [1], range: 0...3, default: 0),
    AppConfigParameter(
      .secureRangingCSWLength, "SECURE_RANGING_CSW_LENGTH", [1], unit: "0.25 m", range: 0...255,
      default: 4),
    AppConfigParameter(.applicationDataEndpoint, "APPLICATION_DATA_ENDPOINT", [1], default: 0),
    AppConfigParameter(.owrAoAMeasurementNotificationPeriod, "OWR_AOA_MEASUREMENT_NTF_PERIOD", [1]),
  ]

  static let vendors: [AppConfigParameter] = [
    AppConfigParameter(.cccHopModeKey, "HOP_MODE_KEY", [4, 16]),
    AppConfigParameter(.cccUWBTime0, "CCC_UWB_TIME0", [8]),
    AppConfigParameter(
      .nxpResponderSlotIndex, "NXP_RESPONDER_SLOT_INDEX", [1], unit: "slots", range: 1...255),
    AppConfigParameter(.cccProtocolVersion, "CCC_PROTOCOL_VERSION", [2]),
    AppConfigParameter(.cccUWBConfigID, "CCC_UWB_CONFIG_ID", [2]),
    AppConfigParameter(.cccPulseShapeCombo, "CCC_PULSE_SHAPE_COMBO", [1]),
    AppConfigParameter(.cccURSKTTL, "CCC_URSK_TTL", [2], unit: "min", default: 720),
    AppConfigParameter(
      .nxpResponderListenOnly, "NXP_RESPONDER_LISTEN_ONLY", [1], range: 0...1, default: 0,
      values: [0: "off", 1: "on"]),
    AppConfigParameter(.cccLastSTSIndexUsed, "CCC_LAST_STS_INDEX_USED", [4]),
    AppConfigParameter(.aliroMACMode, "ALIRO_MAC_MODE", [1], default: 0),
    AppConfigParameter(.qorvoURSK, "URSK", [32]),
    AppConfigParameter(.androidRangeMeasurements, "INTERLEAVING_RATIO_RANGE", [1], default: 0),
    AppConfigParameter(.androidAzimuthMeasurements, "INTERLEAVING_RATIO_AZIMUTH", [1], default: 0),
    AppConfigParameter(
      .androidElevationMeasurements, "INTERLEAVING_RATIO_ELEVATION", [1], default: 0),
    AppConfigParameter(.qorvoRxAntennaSelection, "RX_ANTENNA_SELECTION", [1]),
    AppConfigParameter(.qorvoTxAntennaSelection, "TX_ANTENNA_SELECTION", [1]),
    AppConfigParameter(
      .enableDiagnostics, "ENABLE_DIAGNOSTICS", [1], range: 0...1, default: 0,
      values: [0: "off", 1: "on"]),
    AppConfigParameter(
      .diagnosticsFrameReportsFields, "DIAGNOSTICS_FRAME_REPORTS_FIELDS", [1, 4], default: 0),
    AppConfigParameter(.antennaModeOrPayloadEncryption, "ANTENNA_MODE_OR_PAYLOAD_ENCRYPTION", [1]),
    AppConfigParameter(
      .qorvoEnablePSDUDump, "ENABLE_PSDU_DUMP", [1], range: 0...1, default: 0,
      values: [0: "off", 1: "on"]),
  ]
}
