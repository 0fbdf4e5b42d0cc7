// SPDX-License-Identifier: Apache-2.0

/// One of the parameters of a session that NXP's chips have beside those of FiRa, in numbers of their
/// own (GID 0xF: SET_VENDOR_APP_CONFIG, GET_VENDOR_APP_CONFIG).
///
/// Source: names and numbers as in nxp-uwb/sr250-uwbiot-zephyr and its UWBIoT API Reference Guide.
package struct NXPAppConfigID: ByteParameterID {
  package let rawValue: UInt8
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let prefix = "NXP_APP_CONFIG"
  private static let onOff: [UInt64: String] = [0: "off", 1: "on"]
  package static let table = ParameterTable<NXPAppConfigID>([
    .init(
      0x00, "MAC_PAYLOAD_ENCRYPTION", [1], range: 0...1, default: 1, values: onOff,
      summary: "Whether payloads are encrypted."),
    .init(
      0x02, "ANTENNAS_CONFIGURATION_TX", format: .bytes,
      summary: "Sending antennas: a count, then their ids."),
    .init(
      0x03, "ANTENNAS_CONFIGURATION_RX", format: .bytes,
      summary:
        "A mode (0 ToA, 1 AoA, 2 radar, 3 ToA and 4 AoA by frame), a count, ids of antennas or pairs."
    ), .init(0x20, "RAN_MULTIPLIER", summary: "CCC: multiplier of the ranging interval."),
    .init(0x21, "LAST_STS_INDEX", summary: "CCC: STS index at which the session stopped."),
    .init(0x30, "CIR_LOG_NTF", summary: "Whether channel impulse responses are reported."),
    .init(0x31, "PSDU_LOG_NTF", summary: "Whether frames are reported as bytes."),
    .init(0x40, "RSSI_AVERAGING_COUNT", summary: "Values over which RSSI is averaged."),
    .init(0x60, "CIR_CAPTURE_MODE", format: .bytes), .init(0x62, "SYNC_ATTEMPTS"),
    .init(0x63, "SCHEDULE_ATTEMPTS"),
    .init(0x64, "SCHEDULER_STATUS_NTF", summary: "Whether the scheduler reports what it did."),
    .init(0x65, "TX_POWER_DELTA_FCC"),
    .init(
      0x66, "TEST_KDF_FEATURE", format: .bytes, secret: true, summary: "Test of the key derivation."
    ), .init(0x67, "TX_POWER_TEMPERATURE_COMPENSATION"), .init(0x68, "WIFI_COEX_TOLERANCE"),
    .init(0x69, "HOPPING_THRESHOLD", summary: "Failures after which adaptive hopping begins."),
    .init(
      0x6E, "AUTHENTICITY_TAG",
      summary: "Whether measurements carry a tag that proves their origin."),
    .init(0x6F, "NBIC", format: .bytes, summary: "Against narrow-band interference."),
    .init(0x70, "MAC_CONFIG", format: .bytes), .init(0x71, "IN_BAND_DATA_TX_BLOCKS"),
    .init(0x72, "IN_BAND_DATA_RX_BLOCKS"), .init(0x74, "ANTENNA_SCAN", format: .bytes),
    .init(
      0x75, "DATA_TRANSFER_STATUS_NTF_CONFIG",
      summary: "Whether each repetition of data is reported."),
    .init(0x76, "UL_TDOA_FRAME_FORMAT", summary: "UL-TDoA: format of the MAC frames."),
    .init(
      0x79, "WRAPPED_RDS", format: .bytes, secret: true,
      summary: "Ranging data set with the keys, wrapped."), .init(0x7A, "DATA_LOGGER_NTF"),
    .init(0x7B, "RFRAME_LOG_NTF", summary: "Whether each received frame is reported."),
    .init(0x7C, "TEST_CONTENTION_RANGING", summary: "Test of contention-based ranging."),
    .init(0x7D, "CIR_WINDOW", format: .bytes),
    .init(0x7E, "RANGING_TIMESTAMP_NTF", summary: "Whether times of frames are reported."),
    .init(0x7F, "ADAPTIVE_PAYLOAD_POWER"), .init(0x80, "SWAP_ANTENNA_PAIR_3D_AOA"),
    .init(0x81, "PROXIMITY_CONFIG", format: .bytes), .init(0x83, "RESYNC"),
    .init(0x84, "FOV_ENABLE", summary: "Whether the field of view is limited."),
    .init(
      0x85, "AZIMUTH_FIELD_OF_VIEW", format: .bytes, summary: "A pair of antennas and degrees."),
    .init(0x86, "SESSION_INFO_FILTER"), .init(0x8A, "ALIRO_CONFIG", format: .bytes),
    .init(0x90, "CSA_FINAL_DATA", format: .bytes),
    .init(0x91, "FOM_ENABLE", summary: "Whether angles have a figure of merit."),
    .init(0x9F, "USE_CASE_ID"), .init(0xA0, "RADAR_MODE"), .init(0xA4, "RADAR_RX_GAIN"),
    .init(0xA5, "RADAR_SINGLE_FRAME_NTF"), .init(0xA7, "RADAR_CIR_SAMPLES"),
    .init(0xA8, "RADAR_CIR_START_OFFSET"), .init(0xA9, "RADAR_FRAME_INTERVAL"),
    .init(0xAA, "RADAR_PRESENCE_DETECTION", format: .bytes), .init(0xAC, "RADAR_FCC_TEST"),
    .init(0xAD, "RADAR_DC_FREEZE"), .init(0xAE, "RADAR_PULSE"),
    .init(0xB2, "RADAR_DRIFT_COMPENSATION"), .init(0xB3, "RADAR_CONFIG", format: .bytes),
    .init(0xC2, "INITIAL_SYNC_RX_WINDOW"),
  ])
}
