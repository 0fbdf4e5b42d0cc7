// SPDX-License-Identifier: Apache-2.0

/// The calibration parameters of NXP's SR1xx and SR2xx: `ch9.rx_ant_delay`, or `ch9.0x5C` by
/// number.
///
/// Sources: published logs of an SR250 (nxp-uwb/sr250-uwbiot-zephyr, demo_device_calibration); AOSP
/// hardware/nxp/uwb and NXPHoverGames/nxp-uwb-ros2 (Apache-2.0); NXP's UWBIoT API Reference Guide.
enum NXPCalibrationTable {
  private struct Row {
    var number: UInt8
    var name: String
    var channels: [UInt8] = [5, 9]
    var form: CalibrationForm
    var unit: String?
    var summary: String?
  }

  private static let degrees = CalibrationForm.signed(2, fraction: 7)

  private static let rows: [Row] = [
    Row(
      number: 0x01, name: "rf_clk_accuracy", channels: [0], form: .counted(.unsigned(2)),
      summary: "Two capacitors and the transconductance of the crystal's oscillator."),
    Row(
      number: 0x02, name: "rx_ant_delay",
      form: .numbered(.unsigned(2, fraction: 2), values: 1), unit: "cm",
      summary: "For each antenna."),
    Row(
      number: 0x03, name: "pdoa_offset", form: .numbered(degrees, values: 1), unit: "deg",
      summary: "For each pair of antennas."),
    Row(
      number: 0x04, name: "tx_power_per_ant", form: .numbered(.unsigned(2), values: 2),
      summary: "Peak and RMS for each antenna."),
    Row(
      number: 0x62, name: "aoa_antennas_pdoa_calib", form: .bytes,
      summary: "Phase differences of a pair of antennas by pan and tilt."),
    Row(
      number: 0x64, name: "tx_ant_delay", form: .numbered(.signed(2), values: 1),
      summary: "For each antenna."),
    Row(
      number: 0x65, name: "pdoa_manufact_zero_offset", form: .numbered(degrees, values: 1),
      unit: "deg", summary: "For each pair of antennas."),
    Row(
      number: 0x66, name: "aoa_threshold_pdoa", form: .numbered(degrees, values: 1), unit: "deg",
      summary: "For each pair of antennas: where the phase difference folds over."),
    Row(number: 0x67, name: "tx_temperature_comp_per_ant", form: .bytes),
    Row(
      number: 0x69, name: "rssi_calib_constant_per_ant", form: .numbered(.unsigned(1), values: 1)),
  ]

  static let values: [CalibrationValue] = rows.flatMap { row in
    row.channels.map { value(row, name(row.name, $0)) }
  }

  static func value(named name: String) -> CalibrationValue? {
    guard let (channel, parameter) = wire(name) else { return nil }
    guard let row = rows.first(where: { $0.number == parameter && $0.channels.contains(channel) })
    else { return CalibrationValue(name, .bytes) }
    return value(row, name)
  }

  /// Returns channel and number of a parameter; nil for an unknown name.
  static func wire(_ name: String) -> (channel: UInt8, parameter: UInt8)? {
    var rest = name[...]
    var channel: UInt8 = 0
    if rest.hasPrefix("ch"), let point = rest.firstIndex(of: ".") {
      guard let number = UInt8(rest[..<point].dropFirst(2)) else { return nil }
      channel = number
      rest = rest[rest.index(after: point)...]
    }
    if rest.hasPrefix("0x") {
      return UInt8(hexDigits: rest.dropFirst(2)).map { (channel, $0) }
    }
    return rows.first { $0.name == rest }.map { (channel, $0.number) }
  }

  private static func name(_ name: String, _ channel: UInt8) -> String {
    channel == 0 ? name : "ch\(channel).\(name)"
  }

  private static func value(_ row: Row, _ name: String) -> CalibrationValue {
    CalibrationValue(name, row.form, unit: row.unit, row.summary)
  }
}
