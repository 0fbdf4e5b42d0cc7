// SPDX-License-Identifier: Apache-2.0

import UCI

// Sources: CCC's and Android's as published in AOSP (packages/modules/Uwb); Qorvo's in
// DW3_QM33_SDK 1.1.0 and UWB Qorvo Tools 1.1.1; NXP's in nxp-uwb/sr250-uwbiot-zephyr and its UWBIoT
// API Reference Guide.
extension AppConfigTable {
  static let vendors: [AppConfigParameter] = [
    .init(
      .cccHopModeKey, "HOP_MODE_KEY", [16], format: .bytes, scope: .equalOnBothPeers, secret: true,
      summary: "Key from which the hopping sequence is made."),
    .init(
      .cccHopModeKey, "HOP_MODE_KEY", [4, 16], format: .bytes, scope: .equalOnBothPeers,
      secret: true, vendors: [.nxp], summary: "Key from which the hopping sequence is made."),
    .init(
      0xA1, "CCC_UWB_TIME0", [8], scope: .equalOnBothPeers, summary: "When the session begins."),
    .init(
      0xA2, "NXP_RESPONDER_SLOT_INDEX", [1], unit: "slots", range: 1...255, scope: .controlee,
      vendors: [.nxp], summary: "Slot of this responder."),
    .init(
      0xA3, "CCC_PROTOCOL_VERSION", [2], format: .numbers(bytes: 1), scope: .equalOnBothPeers,
      summary: "Major and minor version of the protocol."),
    .init(
      0xA4, "CCC_UWB_CONFIG_ID", [2], scope: .equalOnBothPeers,
      summary: "Which configuration of the physical layer."),
    .init(
      0xA5, "CCC_PULSE_SHAPE_COMBO", [1], scope: .equalOnBothPeers,
      summary: "Pulse shapes of initiator and responder, a nibble each."),
    .init(
      0xA6, "CCC_URSK_TTL", [2], unit: "min", default: 720, summary: "Life of the ranging key."),
    .init(
      0xA7, "NXP_RESPONDER_LISTEN_ONLY", [1], range: 0...1, default: 0, values: onOff,
      vendors: [.nxp], summary: "Whether the responder only listens."),
    .init(
      0xA8, "CCC_LAST_STS_INDEX_USED", [4], readOnly: true,
      summary: "STS index at which the session stopped."),
    .init(
      0xA9, "ALIRO_MAC_MODE", [1], default: 0,
      summary: "Bits 7…6 rounds in a block, bits 5…0 offset."),
    .init(
      .qorvoURSK, "URSK", [32], format: .bytes, secret: true, vendors: [.qorvo],
      summary: "Ranging key."),
    // Source: UWB Qorvo Tools 13.1.0. The timing consists of the period in ms (4 bytes), the sweep
    // in RSTU (2) and the sweeps in a burst (1).
    .init(
      0xB0, "RADAR_TIMING_PARAMS", [7], format: .bytes, vendors: [.qorvo],
      summary: "Period of a burst, period of a sweep, sweeps in a burst."),
    .init(
      0xB1, "RADAR_SAMPLES_PER_SWEEP", [], default: 64, vendors: [.qorvo],
      summary: "Samples in a sweep."),
    .init(0xB2, "RADAR_SWEEP_OFFSET", [], vendors: [.qorvo]),
    .init(
      0xB3, "RADAR_BITS_PER_SAMPLE", [], values: [0: "32", 1: "48", 2: "64"], vendors: [.qorvo],
      summary: "Bits of a sample."),
    .init(0xB4, "RADAR_NUMBER_OF_BURSTS", [], unit: "bursts", vendors: [.qorvo]),
    .init(
      0xB5, "RADAR_DATA_TYPE", [], values: [0: "sweep samples"], vendors: [.qorvo],
      summary: "The contents of reports."),
    .init(0xB6, "RADAR_ANTENNA_GROUP", [], vendors: [.qorvo]),
    .init(0xB7, "RADAR_TX_PROFILE", [], vendors: [.qorvo]),
    .init(
      0xE3, "INTERLEAVING_RATIO_RANGE", [1], default: 0, vendors: [.android, .qorvo],
      summary: "Measurements of distance while interleaving."),
    .init(
      0xE4, "INTERLEAVING_RATIO_AZIMUTH", [1], default: 0, vendors: [.android, .qorvo],
      summary: "Measurements of azimuth while interleaving."),
    .init(
      0xE5, "INTERLEAVING_RATIO_ELEVATION", [1], default: 0, vendors: [.android, .qorvo],
      summary: "Measurements of elevation while interleaving."),
    .init(
      0xE6, "RX_ANTENNA_SELECTION", [1], vendors: [.qorvo], summary: "Antenna set for receiving."),
    .init(
      0xE7, "TX_ANTENNA_SELECTION", [1], vendors: [.qorvo], summary: "Antenna set for sending."),
    .init(
      .enableDiagnostics, "ENABLE_DIAGNOSTICS", [1], range: 0...1, default: 0, values: onOff,
      vendors: [.android, .qorvo], summary: "Whether each round is followed by range diagnostics."),
    .init(
      0xE9, "DIAGNOSTICS_FRAME_REPORTS_FIELDS", [1, 4], format: .mask, default: 0,
      values: [
        0: "RSSI", 1: "AoA", 2: "CIR (old)", 3: "CFO", 4: "emitter", 5: "segments", 6: "CIR",
      ], vendors: [.android, .qorvo], summary: "The contents of range diagnostics."),
    .init(
      0xEA, "ANTENNA_MODE_OR_PAYLOAD_ENCRYPTION", [1], vendors: [.unknown],
      summary: "Antenna mode on Android, MAC payload encryption on Qorvo."),
    .init(0xEA, "ANTENNA_MODE", [1], vendors: [.android], summary: "How the antennas are used."),
    .init(
      0xEA, "MAC_PAYLOAD_ENCRYPTION", [1], range: 0...1, values: onOff, vendors: [.qorvo],
      summary: "Whether payloads are encrypted."),
    .init(
      0xEB, "ENABLE_PSDU_DUMP", [1], range: 0...1, default: 0, values: onOff, vendors: [.qorvo],
      summary: "Whether frames are reported as bytes."),
  ]
}
