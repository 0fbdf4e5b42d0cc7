// SPDX-License-Identifier: Apache-2.0

import UCI

/// Names a parameter of NXP's calibration (GID 0xF: SET_CALIBRATION, GET_CALIBRATION).
public struct NXPCalibrationID: RawRepresentable, Hashable, Sendable {
  /// The byte on the wire.
  public let rawValue: UInt8
  /// Any byte.
  public init(rawValue: UInt8) { self.rawValue = rawValue }
}

/// A parameter of NXP's calibration.
public typealias NXPCalibrationParameter = Parameter<NXPCalibrationID>

extension NXPCalibrationParameter {
  /// Every parameter that is known.
  public static var all: [NXPCalibrationParameter] { NXPCalibrationTable.rows }
}

extension NXPCalibrationID {
  /// What is known of the parameter; nil where nothing is.
  public var parameter: NXPCalibrationParameter? { NXPCalibrationTable.index[self]?.first }
  /// The name as NXP publishes it; `CALIBRATION_0xNN` where there is none.
  public var name: String { parameter?.name ?? "CALIBRATION_\(hex(rawValue))" }
}

/// Sources: published logs of an SR250 (nxp-uwb/sr250-uwbiot-zephyr, demo_device_calibration), which
/// name and write most of them; AOSP hardware/nxp/uwb and NXPHoverGames/nxp-uwb-ros2 (Apache-2.0);
/// NXP's UWBIoT API Reference Guide.
enum NXPCalibrationTable {
  static let index = NXPCalibrationParameter.index(rows)

  private static func row(
    _ number: UInt8, _ name: String, _ summary: String = ""
  ) -> NXPCalibrationParameter {
    NXPCalibrationParameter(
      NXPCalibrationID(rawValue: number), name, [], format: .bytes, vendors: [.nxp],
      summary: summary)
  }

  static let rows: [NXPCalibrationParameter] = [
    row(0x00, "CHIP_CALIBRATION"),
    row(
      0x01, "RF_CLK_ACCURACY", "A count of 3 and 16 bits each: two capacitors and the amplifier."),
    row(
      0x02, "RX_ANT_DELAY",
      "A count, then antenna and delay (16 bits, two of them fraction; a quarter of it are cm)."),
    row(0x03, "PDOA_OFFSET", "A count, then antenna pair and offset in Q9.7 degrees."),
    row(0x04, "TX_POWER_PER_ANTENNA", "A count, then antenna, peak and average power of 16 bits."),
    row(0x05, "MANUAL_TX_POWER"),
    row(
      0x62, "AOA_ANTENNAS_PDOA",
      "1, antenna pair, then 11 rows of tilt with 11 phase differences of pan in Q9.7 degrees."),
    row(0x64, "TX_ANT_DELAY", "A count, then antenna and delay of 16 bits."),
    row(0x65, "PDOA_MANUFACT_ZERO_OFFSET", "A count, then antenna pair and Q9.7 degrees."),
    row(0x66, "AOA_THRESHOLD_PDOA", "A count, then antenna pair and Q9.7 degrees."),
    row(0x67, "TX_TEMPERATURE_COMP_PER_ANTENNA"),
    row(0x69, "RSSI_CALIB_CONSTANT_PER_ANTENNA", "A count, then antenna and 8 bits."),
  ]
}
