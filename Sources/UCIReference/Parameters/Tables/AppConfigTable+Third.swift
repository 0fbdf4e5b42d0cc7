// SPDX-License-Identifier: Apache-2.0

import UCI

// Sources as for the parameters before.
extension AppConfigTable {
  static let third: [AppConfigParameter] = [
    AppConfigParameter(
      .subSessionID, "SUB_SESSION_ID", [4], scope: .controlee,
      summary: "Names the own key of a controlee."),
    AppConfigParameter(
      .bprfPHRDataRate, "BPRF_PHR_DATA_RATE", [1], range: 0...1, default: 0,
      values: [0: "850 kbit/s", 1: "6.81 Mbit/s"], scope: .equalOnBothPeers,
      summary: "Data rate of the PHY header."),
    AppConfigParameter(
      .maxNumberOfMeasurements, "MAX_NUMBER_OF_MEASUREMENTS", [2], unit: "measurements",
      range: 0...65535, default: 0, summary: "Measurements after which the session stops; 0 never."),
    AppConfigParameter(
      .ulTDoATxInterval, "UL_TDOA_TX_INTERVAL", [4], unit: "ms", range: 0...4294967295,
      default: 2000, summary: "Milliseconds between two messages of a UT-tag."),
    AppConfigParameter(
      .ulTDoARandomWindow, "UL_TDOA_RANDOM_WINDOW", [4], unit: "ms", range: 0...4294967295,
      default: 0, summary: "Milliseconds by which a UT-tag varies its interval."),
    AppConfigParameter(
      .stsLength, "STS_LENGTH", [1], range: 0...2, default: 1,
      values: [0: "32 symbols", 1: "64 symbols", 2: "128 symbols"], scope: .equalOnBothPeers,
      summary: "Length of an STS segment."),
    AppConfigParameter(
      .suspendRangingRounds, "SUSPEND_RANGING_ROUNDS", [1], range: 0...1, default: 0,
      values: onOff, scope: .controller,
      summary: "Whether ranging is suspended; may be set while ranging."),
    // Qorvo's first firmware, which spoke FiRa 1.x. Source: sasodoma/uwb-ranging (v1_0.py).
    AppConfigParameter(
      .suspendRangingRounds, "RSSI_REPORTING", [1], range: 0...1, default: 0, values: onOff,
      generations: .fira1 ... .fira1, vendors: [.qorvo], summary: "Whether measurements carry RSSI."
    ),
    AppConfigParameter(
      .ulTDoANotificationReportConfig, "UL_TDOA_NTF_REPORT_CONFIG", [], format: .bytes,
      summary: "What a UT-anchor reports."),
    AppConfigParameter(
      .ulTDoADeviceID, "UL_TDOA_DEVICE_ID", [1, 3, 5, 9], format: .bytes,
      summary: "A code for its length, then the id of a UT-tag."),
    AppConfigParameter(
      .ulTDoATxTimestamp, "UL_TDOA_TX_TIMESTAMP", [1], range: 0...2, default: 0,
      values: [0: "none", 1: "40 bits", 2: "64 bits"],
      summary: "Whether a UT-tag sends its timestamp."),
    AppConfigParameter(
      .minFramesPerRR, "MIN_FRAMES_PER_RR", [1], unit: "frames", range: 1...15, default: 4,
      summary: "OWR AoA: fewest frames in a round."),
    AppConfigParameter(
      .mtuSize, "MTU_SIZE", [2], unit: "bytes", summary: "OWR AoA: bytes of a frame."),
    AppConfigParameter(
      .interFrameInterval, "INTER_FRAME_INTERVAL", [1], unit: "ms", range: 0...255, default: 1,
      summary: "OWR AoA: milliseconds between two frames."),
    AppConfigParameter(
      .dlTDoARangingMethod, "DL_TDOA_RANGING_METHOD", [1], range: 0...1, default: 1,
      values: [0: "SS-TWR", 1: "DS-TWR"], generations: .fira2 ... .fira3,
      summary: "How DT-anchors range."),
    AppConfigParameter(
      .dlTDoATxTimestampConfig, "DL_TDOA_TX_TIMESTAMP_CONF", [1], range: 0...3, default: 3,
      values: [
        0: "local, 40 bits", 1: "common, 40 bits", 2: "local, 64 bits", 3: "common, 64 bits",
      ], generations: .fira2 ... .fira3,
      summary: "Time base and length of the TX timestamp of DT-anchors."),
    AppConfigParameter(
      .dlTDoAHopCount, "DL_TDOA_HOP_COUNT", [1], range: 0...1, default: 1, values: onOff,
      generations: .fira2 ... .fira3, summary: "Whether messages carry a hop count."),
    AppConfigParameter(
      .dlTDoAAnchorCFO, "DL_TDOA_ANCHOR_CFO", [1], range: 0...1, default: 1, values: onOff,
      generations: .fira2 ... .fira3, summary: "Whether messages carry the clock offset."),
    AppConfigParameter(
      .dlTDoAAnchorLocation, "DL_TDOA_ANCHOR_LOCATION", [1, 11, 13], format: .bytes,
      generations: .fira2 ... .fira3, summary: "A type byte, then the location."),
    AppConfigParameter(
      .dlTDoATxActiveRangingRounds, "DL_TDOA_TX_ACTIVE_RANGING_ROUNDS", [1], range: 0...1,
      default: 0, values: onOff, generations: .fira2 ... .fira3,
      summary: "Whether messages list the active rounds."),
    AppConfigParameter(
      .dlTDoABlockSkipping, "DL_TDOA_BLOCK_SKIPPING", [1], unit: "blocks", range: 0...255,
      default: 0, generations: .fira2 ... .fira3, summary: "Blocks a DT-tag skips."),
    AppConfigParameter(
      .dlTDoATimeReferenceAnchor, "DL_TDOA_TIME_REFERENCE_ANCHOR", [1], range: 0...1, default: 0,
      values: onOff, generations: .fira2 ... .fira3, summary: "Whether this anchor gives the time."),
    AppConfigParameter(
      .sessionKey, "SESSION_KEY", [16, 32], format: .bytes, scope: .equalOnBothPeers, secret: true,
      summary: "Key of a provisioned STS."),
    AppConfigParameter(
      .subSessionKey, "SUB_SESSION_KEY", [16, 32], format: .bytes, scope: .controlee, secret: true,
      summary: "Own key of a controlee with a provisioned STS."),
    AppConfigParameter(
      .dataTransferStatusNotificationConfig, "SESSION_DATA_TRANSFER_STATUS_NTF_CONFIG", [1],
      range: 0...1, default: 0, values: onOff, summary: "Whether to report each repetition of data."
    ),
    AppConfigParameter(
      .sessionTimeBase, "SESSION_TIME_BASE", [9], format: .bytes, scope: .controller,
      summary: "Flags, handle of the reference session, offset in microseconds."),
    AppConfigParameter(
      .dlTDoAResponderToF, "DL_TDOA_RESPONDER_TOF", [1], range: 0...1, default: 0, values: onOff,
      generations: .fira2 ... .fira3, summary: "Whether messages carry the time of flight."),
    AppConfigParameter(
      .secureRangingNEFALevel, "SECURE_RANGING_NEFA_LEVEL", [1], range: 0...3, default: 0,
      summary: "False acceptances at most: 1, 2^-10, 2^-20 or 2^-48."),
    AppConfigParameter(
      .secureRangingCSWLength, "SECURE_RANGING_CSW_LENGTH", [1], unit: "0.25 m", range: 0...255,
      default: 4, summary: "Search window in quarters of a metre."),
    AppConfigParameter(
      .applicationDataEndpoint, "APPLICATION_DATA_ENDPOINT", [1], default: 0,
      summary: "Where data goes: low nibble non-secure, high nibble secure."),
    AppConfigParameter(
      .owrAoAMeasurementNotificationPeriod, "OWR_AOA_MEASUREMENT_NTF_PERIOD", [1],
      summary: "How often an observer reports."),
  ]
}
