// SPDX-License-Identifier: Apache-2.0

import UCI

// When rounds take place, and what is reported. Sources as in AppConfigTable.swift.
extension AppConfigTable {
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
    .init(
      .txJitterWindowSize, "TX_JITTER_WINDOW_SIZE", [1], default: 0, generations: .fira1 ... .fira1),
    .init(
      .maxRRRetry, "MAX_RR_RETRY", [2], unit: "rounds", range: 0...65535, default: 0,
      summary: "Failed rounds after which the session stops; 0 never."),
    .init(
      .uwbInitiationTime, "UWB_INITIATION_TIME", [4], unit: "ms", range: 0...10_000, default: 0,
      scope: .controller, generations: .fira1 ... .fira1,
      summary: "When to start, counted from the start command."),
    .init(
      .uwbInitiationTime, "UWB_INITIATION_TIME", [8], unit: "us", range: 0...UInt64.max, default: 0,
      scope: .controller, generations: .fira2 ... .fira3,
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
      .suspendRangingRounds, "SUSPEND_RANGING_ROUNDS", [1], range: 0...1, default: 0, values: onOff,
      scope: .controller, summary: "Whether ranging is suspended; may be set while ranging."),
    // Qorvo's first firmware, which spoke FiRa 1.x. Source: sasodoma/uwb-ranging (v1_0.py).
    .init(
      .suspendRangingRounds, "RSSI_REPORTING", [1], range: 0...1, default: 0, values: onOff,
      generations: .fira1 ... .fira1, vendors: [.qorvo], summary: "Whether measurements carry RSSI."
    ),
    .init(
      .sessionTimeBase, "SESSION_TIME_BASE", [9], format: .bytes, scope: .controller,
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
      .linkLayerMode, "LINK_LAYER_MODE", [1], range: 0...1, default: 0,
      values: [0: "bypass", 1: "logical link"], scope: .equalOnBothPeers,
      summary: "How data goes to the link layer."),
    .init(
      .dataRepetitionCount, "DATA_REPETITION_COUNT", [1], range: 0...255, default: 0,
      summary: "How often data is repeated; 255 without end."),
    .init(
      .aoaBoundConfig, "AOA_BOUND_CONFIG", [8], format: .fixedPoint(fraction: 7), unit: "°",
      summary: "Azimuth low and high, elevation low and high."),
    .init(
      .resultReportConfig, "RESULT_REPORT_CONFIG", [1], format: .mask, range: 0...15, default: 1,
      values: [0: "ToF", 1: "azimuth", 2: "elevation", 3: "FoM"], scope: .equalOnBothPeers,
      summary: "What a peer reports in band."),
    .init(
      .dataTransferStatusNotificationConfig, "SESSION_DATA_TRANSFER_STATUS_NTF_CONFIG", [1],
      range: 0...1, default: 0, values: onOff, summary: "Whether to report each repetition of data."
    ),
    .init(
      .applicationDataEndpoint, "APPLICATION_DATA_ENDPOINT", [1], default: 0,
      summary: "Where data goes: low nibble non-secure, high nibble secure."),
  ]
}
