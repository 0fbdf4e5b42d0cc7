// SPDX-License-Identifier: Apache-2.0

public import UCI

/// A parameter of a session (SESSION_SET_APP_CONFIG, SESSION_GET_APP_CONFIG).
package typealias AppConfigParameter = Parameter<AppConfigID>

/// The descriptions of parameters of sessions.
///
/// Source: FiRa UCI application configuration parameters as published in the packet definitions of
/// AOSP and pica, in DW3_QM33_SDK 1.1.0 and NXP's UWBIoT API Reference Guide, and as accepted by
/// real chips. Defaults are the specification's where the sources agree.
enum AppConfigTable {
  static let onOff: [UInt64: String] = [0: "off", 1: "on"]
  /// The rows in the order of the identifiers.
  static let rows = (roles + schedule + reports + physical + sts + oneWay + vendors).enumerated()
    .sorted { ($0.element.id.rawValue, $0.offset) < ($1.element.id.rawValue, $1.offset) }.map(
      \.element)
}

extension AppConfigID: TabulatedID {
  package static let table = ParameterTable(AppConfigTable.rows)
  package var unknownName: String { "APP_CONFIG_\(hex(rawValue))" }
  /// The name in the specification; `APP_CONFIG_0xNN` if there is none.
  public var name: String { name(in: .assumed) }
}

extension AppConfigTable {
  // Roles and addresses.
  static let roles: [AppConfigParameter] = [
    .init(
      .deviceType, "DEVICE_TYPE", [1], range: 0...1, values: [0: "controlee", 1: "controller"],
      mandatory: true, summary: "Controlee or controller."),
    .init(
      .rangingRoundUsage, "RANGING_ROUND_USAGE", [1], range: 0...10, default: 2,
      values: [
        0: "UL-TDoA", 1: "SS-TWR deferred", 2: "DS-TWR deferred", 3: "SS-TWR non-deferred",
        4: "DS-TWR non-deferred", 5: "DL-TDoA", 6: "OWR AoA", 7: "eSS-TWR", 8: "aDS-TWR",
        9: "data transfer", 10: "hybrid",
      ], scope: .equalOnBothPeers, mandatory: true, summary: "How a round measures."),
    .init(
      .multiNodeMode, "MULTI_NODE_MODE", [1], range: 0...1,
      values: [0: "unicast", 1: "one to many", 2: "many to many"], scope: .equalOnBothPeers,
      mandatory: true, since: .fira2, summary: "How many peers take part."),
    .init(
      .multiNodeMode, "MULTI_NODE_MODE", [1], range: 0...2,
      values: [0: "unicast", 1: "one to many", 2: "many to many"], scope: .equalOnBothPeers,
      mandatory: true, until: .fira1, summary: "How many peers take part."),
    .init(
      .numberOfControlees, "NUMBER_OF_CONTROLEES", [1], range: 1...8, default: 1,
      scope: .controller, summary: "How many controlees a controller ranges with."),
    .init(
      .deviceMACAddress, "DEVICE_MAC_ADDRESS", [2, 8], format: .addresses, mandatory: true,
      summary: "The address of this device."),
    .init(
      .dstMACAddress, "DST_MAC_ADDRESS", [], format: .addresses,
      summary: "The addresses of the peers, one after another."),
    .init(
      .rangingRoundControl, "RANGING_ROUND_CONTROL", [1], format: .mask, default: 3,
      values: [
        0: "result report", 1: "control message", 2: "no control phase", 6: "measurement report",
        7: "measurement report by controlee",
      ], scope: .equalOnBothPeers, summary: "Which messages a round has."),
    .init(
      .deviceRole, "DEVICE_ROLE", [1], range: 0...8,
      values: [
        0: "responder", 1: "initiator", 2: "UT-sync anchor", 3: "UT-anchor", 4: "UT-tag",
        5: "advertiser", 6: "observer", 7: "DT-anchor", 8: "DT-tag",
      ], mandatory: true, summary: "The role of this device in a round."),
    .init(
      0x1E, "RESPONDER_SLOT_INDEX", [1], unit: "slots", range: 1...255, default: 1,
      scope: .controlee, summary: "Slot of this responder; NXP has it at 0xA2."),
    .init(
      .scheduleMode, "SCHEDULE_MODE", [1], range: 0...2, default: 1,
      values: [0: "contention based", 1: "time scheduled", 2: "hybrid"], scope: .equalOnBothPeers,
      mandatory: true, summary: "The scheduling of transmissions."),
    .init(
      .sessionPriority, "SESSION_PRIORITY", [1], range: 1...100, default: 50,
      summary: "Which session wins when two collide; 100 first."),
    .init(
      .macAddressMode, "MAC_ADDRESS_MODE", [1], range: 0...2, default: 0,
      values: [0: "short", 1: "extended, short in header", 2: "extended"], scope: .equalOnBothPeers,
      summary: "Length of addresses; has to come before them."),
    .init(
      .inBandTerminationAttemptCount, "IN_BAND_TERMINATION_ATTEMPT_COUNT", [1], range: 0...10,
      default: 1, scope: .controller, summary: "How often the controller announces its end."),
  ]

  // Times of rounds, and the reported values.
  static let schedule: [AppConfigParameter] = [
    .init(
      .slotDuration, "SLOT_DURATION", [2], unit: "RSTU", range: 0...65535, default: 2400,
      scope: .equalOnBothPeers, summary: "Length of a slot in RSTU; 1200 are a millisecond."),
    .init(
      .rangingDuration, "RANGING_DURATION", [4], unit: "ms", range: 0...4294967295, default: 200,
      scope: .equalOnBothPeers, summary: "Length of a block in milliseconds."),
    .init(
      .rangingTimeStruct, "RANGING_TIME_STRUCT", [1], range: 0...1, default: 1,
      values: [0: "interval based", 1: "block based"], scope: .equalOnBothPeers,
      summary: "How time is divided."),
    .init(
      .slotsPerRR, "SLOTS_PER_RR", [1], unit: "slots", range: 1...255, default: 25,
      scope: .equalOnBothPeers, summary: "Slots in a ranging round."),
    .init(
      .capSizeRange, "CAP_SIZE_RANGE", [2], format: .numbers(bytes: 1), unit: "slots",
      scope: .controller, summary: "Most and fewest slots of the contention access period."),
    .init(0x21, "TX_JITTER_WINDOW_SIZE", [1], default: 0, until: .fira1),
    .init(
      .maxRRRetry, "MAX_RR_RETRY", [2], unit: "rounds", range: 0...65535, default: 0,
      summary: "Failed rounds after which the session stops; 0 never."),
    .init(
      .uwbInitiationTime, "UWB_INITIATION_TIME", [4], unit: "ms", range: 0...10_000, default: 0,
      scope: .controller, until: .fira1, summary: "When to start, counted from the start command."),
    .init(
      .uwbInitiationTime, "UWB_INITIATION_TIME", [8], unit: "us", range: 0...UInt64.max, default: 0,
      scope: .controller, since: .fira2,
      summary: "When to start, in the time of the chip (CORE_QUERY_UWBS_TIMESTAMP); 0: at once."),
    .init(
      .hoppingMode, "HOPPING_MODE", [1], default: 0,
      values: [
        0: "off", 1: "FiRa hopping", 2: "adaptive modulo", 3: "continuous modulo",
        4: "adaptive AES", 5: "continuous AES",
      ], scope: .controller, summary: "Whether rounds hop within a block."),
    .init(
      .blockStrideLength, "BLOCK_STRIDE_LENGTH", [1], unit: "blocks", range: 0...255, default: 0,
      scope: .controller, summary: "Blocks skipped between two rounds."),
    .init(
      .maxNumberOfMeasurements, "MAX_NUMBER_OF_MEASUREMENTS", [2], unit: "measurements",
      range: 0...65535, default: 0, summary: "Measurements after which the session stops; 0 never."),
    .init(
      0x36, "SUSPEND_RANGING_ROUNDS", [1], range: 0...1, default: 0, values: onOff,
      scope: .controller, summary: "Whether ranging is suspended; may be set while ranging."),
    // Parameters of Qorvo's first firmware, which implemented FiRa 1.x. Source:
    // sasodoma/uwb-ranging (v1_0.py).
    .init(
      0x36, "RSSI_REPORTING", [1], range: 0...1, default: 0, values: onOff, until: .fira1,
      vendors: [.qorvo], summary: "Whether measurements carry RSSI."),
    .init(
      0x48, "SESSION_TIME_BASE", [9], format: .bytes, scope: .controller,
      summary: "Flags, handle of the reference session, offset in microseconds."),
  ]

  static let reports: [AppConfigParameter] = [
    .init(
      .aoaResultRequest, "AOA_RESULT_REQ", [1], default: 1,
      values: [0: "off", 1: "all", 2: "azimuth", 3: "elevation", 0xF0: "interleaved"],
      summary: "Which angles to report."),
    .init(
      .sessionInfoNotificationConfig, "SESSION_INFO_NTF_CONFIG", [1], range: 0...7, default: 1,
      values: [
        0: "off", 1: "on", 2: "within proximity", 3: "within angles", 4: "within both",
        5: "crossing proximity", 6: "crossing angles", 7: "crossing both",
      ], summary: "When to send SESSION_INFO_NTF."),
    .init(
      .nearProximity, "NEAR_PROXIMITY", [2], unit: "cm", range: 0...65535, default: 0,
      summary: "Nearer end of the proximity range in centimetres."),
    .init(
      .farProximity, "FAR_PROXIMITY", [2], unit: "cm", range: 0...65535, default: 20000,
      summary: "Farther end of the proximity range in centimetres."),
    .init(
      .rssiReporting, "RSSI_REPORTING", [1], range: 0...1, default: 0, values: onOff,
      summary: "Whether measurements carry RSSI."),
    .init(
      0x18, "LINK_LAYER_MODE", [1], range: 0...1, default: 0,
      values: [0: "bypass", 1: "logical link"], scope: .equalOnBothPeers,
      summary: "How data goes to the link layer."),
    .init(
      0x19, "DATA_REPETITION_COUNT", [1], range: 0...255, default: 0,
      summary: "How often data is repeated; 255 without end."),
    .init(
      .aoaBoundConfig, "AOA_BOUND_CONFIG", [8], format: .fixedPoint(fraction: 7), unit: "°",
      summary: "Azimuth low and high, elevation low and high."),
    .init(
      .resultReportConfig, "RESULT_REPORT_CONFIG", [1], format: .mask, range: 0...15, default: 1,
      values: [0: "ToF", 1: "azimuth", 2: "elevation", 3: "FoM"], scope: .equalOnBothPeers,
      summary: "The values that a peer reports in band."),
    .init(
      0x47, "SESSION_DATA_TRANSFER_STATUS_NTF_CONFIG", [1], range: 0...1, default: 0, values: onOff,
      summary: "Whether to report each repetition of data."),
    .init(
      0x4C, "APPLICATION_DATA_ENDPOINT", [1], default: 0,
      summary: "Where data goes: low nibble non-secure, high nibble secure."),
  ]

  // Frames and their scrambled timestamp sequence.
  static let physical: [AppConfigParameter] = [
    .init(
      .channelNumber, "CHANNEL_NUMBER", [1], range: 5...14, default: 9, scope: .equalOnBothPeers,
      summary: "UWB channel: 5, 6, 8, 9, 10, 12, 13 or 14."),
    .init(
      .macFCSType, "MAC_FCS_TYPE", [1], range: 0...1, default: 0,
      values: [0: "CRC-16", 1: "CRC-32"], scope: .equalOnBothPeers, summary: "Frame check sequence."
    ),
    .init(
      .rframeConfig, "RFRAME_CONFIG", [1], range: 0...3, default: 3,
      values: [0: "SP0", 1: "SP1", 3: "SP3"], scope: .equalOnBothPeers,
      summary: "Where a frame has its STS."),
    .init(
      .preambleCodeIndex, "PREAMBLE_CODE_INDEX", [1], range: 9...32, default: 10,
      scope: .equalOnBothPeers, summary: "Preamble code: 9…12 for BPRF, 25…32 for HPRF."),
    .init(
      .sfdID, "SFD_ID", [1], range: 0...4, default: 2, scope: .equalOnBothPeers,
      summary: "Start-of-frame delimiter: 0 or 2 for BPRF, 1…4 for HPRF."),
    .init(
      .psduDataRate, "PSDU_DATA_RATE", [1], range: 0...4, default: 0,
      values: [
        0: "6.81 Mbit/s", 1: "7.80 Mbit/s", 2: "27.2 Mbit/s", 3: "31.2 Mbit/s", 4: "850 kbit/s",
      ], scope: .equalOnBothPeers, summary: "Data rate of the payload."),
    .init(
      .preambleDuration, "PREAMBLE_DURATION", [1], range: 0...1, default: 1,
      values: [0: "32 symbols", 1: "64 symbols"], scope: .equalOnBothPeers,
      summary: "Length of the preamble."),
    .init(
      .txAdaptivePayloadPower, "TX_ADAPTIVE_PAYLOAD_POWER", [1], range: 0...1, default: 0,
      values: onOff, until: .fira1,
      summary:
        "Whether payloads are sent with adapted power; newer firmware refuses a whole command for it."
    ),
    .init(
      .prfMode, "PRF_MODE", [1], range: 0...2, default: 0,
      values: [0: "BPRF 62.4 MHz", 1: "HPRF 124.8 MHz", 2: "HPRF 249.6 MHz"],
      scope: .equalOnBothPeers, summary: "Pulse repetition frequency."),
    .init(
      .bprfPHRDataRate, "BPRF_PHR_DATA_RATE", [1], range: 0...1, default: 0,
      values: [0: "850 kbit/s", 1: "6.81 Mbit/s"], scope: .equalOnBothPeers,
      summary: "Data rate of the PHY header."),
  ]

  static let sts: [AppConfigParameter] = [
    .init(
      .stsConfig, "STS_CONFIG", [1], range: 0...4, default: 0,
      values: [
        0: "static", 1: "dynamic", 2: "dynamic, controlee key", 3: "provisioned",
        4: "provisioned, controlee key",
      ], scope: .equalOnBothPeers, summary: "Where the scrambled timestamp sequence comes from."),
    .init(
      .stsIndex, "STS_INDEX", [4], range: 0...4294967295, default: 0, scope: .equalOnBothPeers,
      summary: "First STS index."),
    .init(
      .keyRotation, "KEY_ROTATION", [1], range: 0...1, default: 0, values: onOff,
      scope: .equalOnBothPeers, summary: "Whether keys change during a session."),
    .init(
      .keyRotationRate, "KEY_ROTATION_RATE", [1], range: 0...15, default: 0,
      scope: .equalOnBothPeers, summary: "n: keys change every 2^n blocks."),
    .init(
      .vendorID, "VENDOR_ID", [2], format: .bytes, scope: .equalOnBothPeers,
      summary: "First two bytes of the static STS."),
    .init(
      .staticSTSIV, "STATIC_STS_IV", [6], format: .bytes, scope: .equalOnBothPeers, secret: true,
      summary: "Other six bytes of the static STS."),
    .init(
      .numberOfSTSSegments, "NUMBER_OF_STS_SEGMENTS", [1], range: 0...4, default: 1,
      scope: .equalOnBothPeers, summary: "0 with SP0, 1 with BPRF, 1…4 with HPRF."),
    .init(
      .subSessionID, "SUB_SESSION_ID", [4], scope: .controlee,
      summary: "Names the own key of a controlee."),
    .init(
      .stsLength, "STS_LENGTH", [1], range: 0...2, default: 1,
      values: [0: "32 symbols", 1: "64 symbols", 2: "128 symbols"], scope: .equalOnBothPeers,
      summary: "Length of an STS segment."),
    .init(
      .sessionKey, "SESSION_KEY", [16, 32], format: .bytes, scope: .equalOnBothPeers, secret: true,
      summary: "Key of a provisioned STS."),
    .init(
      .subSessionKey, "SUB_SESSION_KEY", [16, 32], format: .bytes, scope: .controlee, secret: true,
      summary: "Own key of a controlee with a provisioned STS."),
    .init(
      0x4A, "SECURE_RANGING_NEFA_LEVEL", [1], range: 0...3, default: 0,
      summary: "False acceptances at most: 1, 2^-10, 2^-20 or 2^-48."),
    .init(
      0x4B, "SECURE_RANGING_CSW_LENGTH", [1], unit: "0.25 m", range: 0...255, default: 4,
      summary: "Search window in quarters of a metre."),
  ]

  // Parameters of UL-TDoA, of DL-TDoA and of one-way angles.
  static let oneWay: [AppConfigParameter] = [
    .init(
      .ulTDoATXInterval, "UL_TDOA_TX_INTERVAL", [4], unit: "ms", range: 0...4294967295,
      default: 2000,
      summary: "Milliseconds between two messages of a UT-tag."),
    .init(
      .ulTDoARandomWindow, "UL_TDOA_RANDOM_WINDOW", [4], unit: "ms", range: 0...4294967295,
      default: 0,
      summary: "Milliseconds by which a UT-tag varies its interval."),
    .init(
      0x37, "UL_TDOA_NTF_REPORT_CONFIG", [], format: .bytes,
      summary: "The values that a UT-anchor reports."),
    .init(
      .ulTDoADeviceID, "UL_TDOA_DEVICE_ID", [1, 3, 5, 9], format: .bytes,
      summary: "A code for its length, then the id of a UT-tag."),
    .init(
      .ulTDoATXTimestamp, "UL_TDOA_TX_TIMESTAMP", [1], range: 0...2, default: 0,
      values: [0: "none", 1: "40 bits", 2: "64 bits"],
      summary: "Whether a UT-tag sends its timestamp."),
    .init(
      .minFramesPerRR, "MIN_FRAMES_PER_RR", [1], unit: "frames", range: 1...15, default: 4,
      summary: "OWR AoA: fewest frames in a round."),
    .init(0x3B, "MTU_SIZE", [2], unit: "bytes", summary: "OWR AoA: bytes of a frame."),
    .init(
      .interFrameInterval, "INTER_FRAME_INTERVAL", [1], unit: "ms", range: 0...255, default: 1,
      summary: "OWR AoA: milliseconds between two frames."),
    .init(
      .dlTDoARangingMethod, "DL_TDOA_RANGING_METHOD", [1], range: 0...1, default: 1,
      values: [0: "SS-TWR", 1: "DS-TWR"], since: .fira2, summary: "How DT-anchors range."),
    .init(
      .dlTDoATXTimestampConf, "DL_TDOA_TX_TIMESTAMP_CONF", [1], range: 0...3, default: 3,
      values: [
        0: "local, 40 bits", 1: "common, 40 bits", 2: "local, 64 bits", 3: "common, 64 bits",
      ], since: .fira2, summary: "Time base and length of the TX timestamp of DT-anchors."),
    .init(
      .dlTDoAHopCount, "DL_TDOA_HOP_COUNT", [1], range: 0...1, default: 1, values: onOff,
      since: .fira2,
      summary: "Whether messages carry a hop count."),
    .init(
      .dlTDoAAnchorCFO, "DL_TDOA_ANCHOR_CFO", [1], range: 0...1, default: 1, values: onOff,
      since: .fira2,
      summary: "Whether messages carry the clock offset."),
    .init(
      .dlTDoAAnchorLocation, "DL_TDOA_ANCHOR_LOCATION", [1, 11, 13], format: .bytes, since: .fira2,
      summary: "A type byte, then the location."),
    .init(
      .dlTDoATXActiveRangingRounds, "DL_TDOA_TX_ACTIVE_RANGING_ROUNDS", [1], range: 0...1,
      default: 0, values: onOff,
      since: .fira2, summary: "Whether messages list the active rounds."),
    .init(
      .dlTDoABlockSkipping, "DL_TDOA_BLOCK_SKIPPING", [1], unit: "blocks", range: 0...255,
      default: 0,
      since: .fira2, summary: "Blocks a DT-tag skips."),
    .init(
      .dlTDoATimeReferenceAnchor, "DL_TDOA_TIME_REFERENCE_ANCHOR", [1], range: 0...1, default: 0,
      values: onOff,
      since: .fira2, summary: "Whether this anchor gives the time."),
    .init(
      .dlTDoAResponderToF, "DL_TDOA_RESPONDER_TOF", [1], range: 0...1, default: 0, values: onOff,
      since: .fira2,
      summary: "Whether messages carry the time of flight."),
    .init(0x4D, "OWR_AOA_MEASUREMENT_NTF_PERIOD", [1], summary: "How often an observer reports."),
  ]
}
