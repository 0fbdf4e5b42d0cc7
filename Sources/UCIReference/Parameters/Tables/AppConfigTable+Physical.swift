// SPDX-License-Identifier: Apache-2.0

import UCI

// Frames and their scrambled timestamp sequence. Sources as in AppConfigTable.swift.
extension AppConfigTable {
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
      values: onOff, generations: .fira1 ... .fira1,
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
      .secureRangingNEFALevel, "SECURE_RANGING_NEFA_LEVEL", [1], range: 0...3, default: 0,
      summary: "False acceptances at most: 1, 2^-10, 2^-20 or 2^-48."),
    .init(
      .secureRangingCSWLength, "SECURE_RANGING_CSW_LENGTH", [1], unit: "0.25 m", range: 0...255,
      default: 4, summary: "Search window in quarters of a metre."),
  ]
}
