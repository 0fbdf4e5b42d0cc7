// SPDX-License-Identifier: Apache-2.0

import UCI

// Sources as for the parameters before.
extension AppConfigTable {
  static let second: [AppConfigParameter] = [
    AppConfigParameter(
      .dataRepetitionCount, "DATA_REPETITION_COUNT", [1], range: 0...255, default: 0,
      summary: "How often data is repeated; 255 without end."),
    AppConfigParameter(
      .rangingTimeStruct, "RANGING_TIME_STRUCT", [1], range: 0...1, default: 1,
      values: [0: "interval based", 1: "block based"], scope: .equalOnBothPeers,
      summary: "How time is divided."),
    AppConfigParameter(
      .slotsPerRR, "SLOTS_PER_RR", [1], unit: "slots", range: 1...255, default: 25,
      scope: .equalOnBothPeers, summary: "Slots in a ranging round."),
    AppConfigParameter(
      .txAdaptivePayloadPower, "TX_ADAPTIVE_PAYLOAD_POWER", [1], range: 0...1, default: 0,
      values: onOff, generations: .fira1 ... .fira1,
      summary:
        "Whether payloads are sent with adapted power; newer firmware refuses a whole command for it."
    ),
    AppConfigParameter(
      .aoaBoundConfig, "AOA_BOUND_CONFIG", [8], format: .fixedPoint(fraction: 7), unit: "°",
      summary: "Azimuth low and high, elevation low and high."),
    AppConfigParameter(
      .responderSlotIndex, "RESPONDER_SLOT_INDEX", [1], unit: "slots", range: 1...255, default: 1,
      scope: .controlee, summary: "Slot of this responder; NXP has it at 0xA2."),
    AppConfigParameter(
      .prfMode, "PRF_MODE", [1], range: 0...2, default: 0,
      values: [0: "BPRF 62.4 MHz", 1: "HPRF 124.8 MHz", 2: "HPRF 249.6 MHz"],
      scope: .equalOnBothPeers, summary: "Pulse repetition frequency."),
    AppConfigParameter(
      .capSizeRange, "CAP_SIZE_RANGE", [2], format: .numbers(bytes: 1), unit: "slots",
      scope: .controller,
      summary: "Most and fewest slots of the contention access period."),
    AppConfigParameter(
      .txJitterWindowSize, "TX_JITTER_WINDOW_SIZE", [1], default: 0, generations: .fira1 ... .fira1),
    AppConfigParameter(
      .scheduleMode, "SCHEDULE_MODE", [1], range: 0...2, default: 1,
      values: [0: "contention based", 1: "time scheduled", 2: "hybrid"], scope: .equalOnBothPeers,
      mandatory: true, summary: "Who sends when."),
    AppConfigParameter(
      .keyRotation, "KEY_ROTATION", [1], range: 0...1, default: 0, values: onOff,
      scope: .equalOnBothPeers, summary: "Whether keys change during a session."),
    AppConfigParameter(
      .keyRotationRate, "KEY_ROTATION_RATE", [1], range: 0...15, default: 0,
      scope: .equalOnBothPeers, summary: "n: keys change every 2^n blocks."),
    AppConfigParameter(
      .sessionPriority, "SESSION_PRIORITY", [1], range: 1...100, default: 50,
      summary: "Which session wins when two collide; 100 first."),
    AppConfigParameter(
      .macAddressMode, "MAC_ADDRESS_MODE", [1], range: 0...2, default: 0,
      values: [0: "short", 1: "extended, short in header", 2: "extended"], scope: .equalOnBothPeers,
      summary: "Length of addresses; has to come before them."),
    AppConfigParameter(
      .vendorID, "VENDOR_ID", [2], format: .bytes, scope: .equalOnBothPeers,
      summary: "First two bytes of the static STS."),
    AppConfigParameter(
      .staticSTSIV, "STATIC_STS_IV", [6], format: .bytes, scope: .equalOnBothPeers, secret: true,
      summary: "Other six bytes of the static STS."),
    AppConfigParameter(
      .numberOfSTSSegments, "NUMBER_OF_STS_SEGMENTS", [1], range: 0...4, default: 1,
      scope: .equalOnBothPeers, summary: "0 with SP0, 1 with BPRF, 1…4 with HPRF."),
    AppConfigParameter(
      .maxRRRetry, "MAX_RR_RETRY", [2], unit: "rounds", range: 0...65535, default: 0,
      summary: "Failed rounds after which the session stops; 0 never."),
    AppConfigParameter(
      .uwbInitiationTime, "UWB_INITIATION_TIME", [4], unit: "ms", range: 0...10_000, default: 0,
      scope: .controller, generations: .fira1 ... .fira1,
      summary: "When to start, counted from the start command."),
    AppConfigParameter(
      .uwbInitiationTime, "UWB_INITIATION_TIME", [8], unit: "us", range: 0...UInt64.max, default: 0,
      scope: .controller, generations: .fira2 ... .fira3,
      summary: "When to start, in the time of the chip (CORE_QUERY_UWBS_TIMESTAMP); 0: at once."),
    AppConfigParameter(
      .hoppingMode, "HOPPING_MODE", [1], default: 0,
      values: [
        0: "off", 1: "FiRa hopping", 2: "adaptive modulo", 3: "continuous modulo",
        4: "adaptive AES", 5: "continuous AES",
      ], scope: .controller, summary: "Whether rounds hop within a block."),
    AppConfigParameter(
      .blockStrideLength, "BLOCK_STRIDE_LENGTH", [1], unit: "blocks", range: 0...255, default: 0,
      scope: .controller, summary: "Blocks skipped between two rounds."),
    AppConfigParameter(
      .resultReportConfig, "RESULT_REPORT_CONFIG", [1], format: .mask, range: 0...15, default: 1,
      values: [0: "ToF", 1: "azimuth", 2: "elevation", 3: "FoM"],
      scope: .equalOnBothPeers, summary: "What a peer reports in band."),
    AppConfigParameter(
      .inBandTerminationAttemptCount, "IN_BAND_TERMINATION_ATTEMPT_COUNT", [1], range: 0...10,
      default: 1, scope: .controller, summary: "How often the controller says that it ends."),
  ]
}
