// SPDX-License-Identifier: Apache-2.0

/// A parameter of NXP's calibration (GID 0xF: SET_CALIBRATION, GET_CALIBRATION).
///
/// Sources: published logs of an SR250 (nxp-uwb/sr250-uwbiot-zephyr, demo_device_calibration), which
/// name and write most of them; AOSP hardware/nxp/uwb and NXPHoverGames/nxp-uwb-ros2 (Apache-2.0);
/// NXP's UWBIoT API Reference Guide.
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
