// SPDX-License-Identifier: Apache-2.0

/// One of NXP's own parameters of a session, beside FiRa's and with numbers of their own (GID 0xF:
/// SET_VENDOR_APP_CONFIG, GET_VENDOR_APP_CONFIG).
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
    .init(0x64, "SCHEDULER_STATUS_NTF", summary: "Whether the scheduler reports its actions."),
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
    .init(0xA8, "RADAR_CIR_START_OFFSET", format: .bytes),
    .init(0xA9, "RADAR_FRAME_INTERVAL", format: .bytes),
    .init(0xAA, "RADAR_PRESENCE_DETECTION", format: .bytes), .init(0xAC, "RADAR_FCC_TEST"),
    .init(0xAD, "RADAR_DC_FREEZE"), .init(0xAE, "RADAR_PULSE"),
    .init(0xB2, "RADAR_DRIFT_COMPENSATION"), .init(0xB3, "RADAR_CONFIG", format: .bytes),
    .init(0xC2, "INITIAL_SYNC_RX_WINDOW"),
  ])

  package static let antennasConfigurationRX = NXPAppConfigID(rawValue: 0x03)
  package static let rframeLogNotification = NXPAppConfigID(rawValue: 0x7B)
}

/// A parameter of NXP's calibration (GID 0xF: SET_CALIBRATION, GET_CALIBRATION).
///
/// Sources: published logs of an SR250 (nxp-uwb/sr250-uwbiot-zephyr, demo_device_calibration),
/// which name and write most of them; AOSP hardware/nxp/uwb and NXPHoverGames/nxp-uwb-ros2
/// (Apache-2.0); NXP's UWBIoT API Reference Guide.
package struct NXPCalibrationID: ByteParameterID {
  package let rawValue: UInt8
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let prefix = "CALIBRATION"
  package static let table = ParameterTable<NXPCalibrationID>([
    .init(0x00, "CHIP_CALIBRATION", format: .bytes),
    .init(
      0x01, "RF_CLK_ACCURACY", format: .bytes,
      summary: "A count of 3 and 16 bits each: two capacitors and the amplifier."),
    .init(
      0x02, "RX_ANT_DELAY", format: .bytes,
      summary:
        "A count, then antenna and delay (16 bits, two of them fraction; a quarter of it are cm)."),
    .init(
      0x03, "PDOA_OFFSET", format: .bytes,
      summary: "A count, then antenna pair and offset in Q9.7 degrees."),
    .init(
      0x04, "TX_POWER_PER_ANTENNA", format: .bytes,
      summary: "A count, then antenna, peak and average power of 16 bits."),
    .init(0x05, "MANUAL_TX_POWER", format: .bytes),
    .init(
      0x62, "AOA_ANTENNAS_PDOA", format: .bytes,
      summary:
        "1, antenna pair, then 11 rows of tilt with 11 phase differences of pan in Q9.7 degrees."),
    .init(
      0x64, "TX_ANT_DELAY", format: .bytes, summary: "A count, then antenna and delay of 16 bits."),
    .init(
      0x65, "PDOA_MANUFACT_ZERO_OFFSET", format: .bytes,
      summary: "A count, then antenna pair and Q9.7 degrees."),
    .init(
      0x66, "AOA_THRESHOLD_PDOA", format: .bytes,
      summary: "A count, then antenna pair and Q9.7 degrees."),
    .init(0x67, "TX_TEMPERATURE_COMP_PER_ANTENNA", format: .bytes),
    .init(
      0x69, "RSSI_CALIB_CONSTANT_PER_ANTENNA", format: .bytes,
      summary: "A count, then antenna and 8 bits."),
  ])
}

/// A parameter of a radar session in Android's vendor group, by its number on the wire.
///
/// Source: AOSP's packet definitions and radar support library.
package struct RadarConfigID: ByteParameterID {
  package let rawValue: UInt8
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let prefix = "RADAR_CONFIG"
  package static let table = ParameterTable<RadarConfigID>([
    .init(
      0x00, "TIMING_PARAMS", [7], format: .bytes,
      summary: "Period of a burst in ms (4 bytes), of a sweep in RSTU (2), sweeps in a burst (1)."),
    .init(
      0x01, "SAMPLES_PER_SWEEP", [1], unit: "samples", range: 0...255, default: 64,
      summary: "Samples in a sweep."),
    .init(0x02, "CHANNEL_NUMBER", [1], range: 5...14, summary: "UWB channel."),
    .init(
      0x03, "SWEEP_OFFSET", [2], format: .signed, summary: "Where the samples of a sweep begin."),
    .init(
      0x04, "RFRAME_CONFIG", [1], range: 0...3, values: [0: "SP0", 1: "SP1", 3: "SP3"],
      summary: "Where a frame has its STS."),
    .init(0x05, "PREAMBLE_DURATION", [1], summary: "Length of the preamble."),
    .init(0x06, "PREAMBLE_CODE_INDEX", [1], summary: "Preamble code."),
    .init(0x07, "SESSION_PRIORITY", [1], summary: "Which session wins when two collide."),
    .init(
      0x08, "BITS_PER_SAMPLE", [1], range: 0...2, values: [0: "32", 1: "48", 2: "64"],
      summary: "Bits of a sample."),
    .init(
      0x09, "PRF_MODE", [1], range: 0...2,
      values: [0: "BPRF 62.4 MHz", 1: "HPRF 124.8 MHz", 2: "HPRF 249.6 MHz"],
      summary: "Pulse repetition frequency."),
    .init(
      0x0A, "NUMBER_OF_BURSTS", [2], unit: "bursts", range: 0...65535,
      summary: "Bursts after which the session stops."),
    .init(
      0x0B, "RADAR_DATA_TYPE", [1, 2], values: [0: "sweep samples"],
      summary: "The contents of reports."),
  ])
}
