// SPDX-License-Identifier: Apache-2.0

import UCI

// UL-TDoA, DL-TDoA and one-way angles. Sources as in AppConfigTable.swift.
extension AppConfigTable {
  static let oneWay: [AppConfigParameter] = [
    .init(
      .ulTDoATxInterval, "UL_TDOA_TX_INTERVAL", [4], unit: "ms", range: 0...4294967295,
      default: 2000, summary: "Milliseconds between two messages of a UT-tag."),
    .init(
      .ulTDoARandomWindow, "UL_TDOA_RANDOM_WINDOW", [4], unit: "ms", range: 0...4294967295,
      default: 0, summary: "Milliseconds by which a UT-tag varies its interval."),
    .init(
      .ulTDoANotificationReportConfig, "UL_TDOA_NTF_REPORT_CONFIG", [], format: .bytes,
      summary: "What a UT-anchor reports."),
    .init(
      .ulTDoADeviceID, "UL_TDOA_DEVICE_ID", [1, 3, 5, 9], format: .bytes,
      summary: "A code for its length, then the id of a UT-tag."),
    .init(
      .ulTDoATxTimestamp, "UL_TDOA_TX_TIMESTAMP", [1], range: 0...2, default: 0,
      values: [0: "none", 1: "40 bits", 2: "64 bits"],
      summary: "Whether a UT-tag sends its timestamp."),
    .init(
      .minFramesPerRR, "MIN_FRAMES_PER_RR", [1], unit: "frames", range: 1...15, default: 4,
      summary: "OWR AoA: fewest frames in a round."),
    .init(.mtuSize, "MTU_SIZE", [2], unit: "bytes", summary: "OWR AoA: bytes of a frame."),
    .init(
      .interFrameInterval, "INTER_FRAME_INTERVAL", [1], unit: "ms", range: 0...255, default: 1,
      summary: "OWR AoA: milliseconds between two frames."),
    .init(
      .dlTDoARangingMethod, "DL_TDOA_RANGING_METHOD", [1], range: 0...1, default: 1,
      values: [0: "SS-TWR", 1: "DS-TWR"], generations: .fira2 ... .fira3,
      summary: "How DT-anchors range."),
    .init(
      .dlTDoATxTimestampConfig, "DL_TDOA_TX_TIMESTAMP_CONF", [1], range: 0...3, default: 3,
      values: [
        0: "local, 40 bits", 1: "common, 40 bits", 2: "local, 64 bits", 3: "common, 64 bits",
      ], generations: .fira2 ... .fira3,
      summary: "Time base and length of the TX timestamp of DT-anchors."),
    .init(
      .dlTDoAHopCount, "DL_TDOA_HOP_COUNT", [1], range: 0...1, default: 1, values: onOff,
      generations: .fira2 ... .fira3, summary: "Whether messages carry a hop count."),
    .init(
      .dlTDoAAnchorCFO, "DL_TDOA_ANCHOR_CFO", [1], range: 0...1, default: 1, values: onOff,
      generations: .fira2 ... .fira3, summary: "Whether messages carry the clock offset."),
    .init(
      .dlTDoAAnchorLocation, "DL_TDOA_ANCHOR_LOCATION", [1, 11, 13], format: .bytes,
      generations: .fira2 ... .fira3, summary: "A type byte, then the location."),
    .init(
      .dlTDoATxActiveRangingRounds, "DL_TDOA_TX_ACTIVE_RANGING_ROUNDS", [1], range: 0...1,
      default: 0, values: onOff, generations: .fira2 ... .fira3,
      summary: "Whether messages list the active rounds."),
    .init(
      .dlTDoABlockSkipping, "DL_TDOA_BLOCK_SKIPPING", [1], unit: "blocks", range: 0...255,
      default: 0, generations: .fira2 ... .fira3, summary: "Blocks a DT-tag skips."),
    .init(
      .dlTDoATimeReferenceAnchor, "DL_TDOA_TIME_REFERENCE_ANCHOR", [1], range: 0...1, default: 0,
      values: onOff, generations: .fira2 ... .fira3, summary: "Whether this anchor gives the time."),
    .init(
      .dlTDoAResponderToF, "DL_TDOA_RESPONDER_TOF", [1], range: 0...1, default: 0, values: onOff,
      generations: .fira2 ... .fira3, summary: "Whether messages carry the time of flight."),
    .init(
      .owrAoAMeasurementNotificationPeriod, "OWR_AOA_MEASUREMENT_NTF_PERIOD", [1],
      summary: "How often an observer reports."),
  ]
}
