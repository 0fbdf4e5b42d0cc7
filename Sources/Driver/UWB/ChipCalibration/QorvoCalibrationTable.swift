// SPDX-License-Identifier: Apache-2.0

/// The keys of Qorvo's QM33 SDK with their types.
///
/// In a pattern `#` is a digit: the number of an antenna, pair, set or table 0…3, a channel 5 or 9,
/// or a reference frame 0…7. Sources: l1_config.yml of DW3_QM33_SDK 1.1.0 for the types, UWB Qorvo
/// Tools 1.1.1 for the names.
enum QorvoCalibrationTable {
  /// A value with a pattern as its name.
  private typealias Row = CalibrationValue

  private static let u8 = CalibrationForm.unsigned(1)
  private static let i8 = CalibrationForm.signed(1)
  private static let u16 = CalibrationForm.unsigned(2)
  private static let u32 = CalibrationForm.unsigned(4)
  private static let radians = CalibrationForm.signed(2, fraction: 11)

  private static let rows: [Row] = [
    Row("ant#.transceiver", .words(["tx", "rxa", "rxb"]), "The connection of the antenna."),
    Row("ant#.port", u8, "Antenna port 1…4; 15 is none."),
    Row("ant#.lna", .flag), Row("ant#.pa", .flag),
    Row("ant#.ext_sw_cfg", u8, "Bits of the external switch."),
    Row(
      "ant#.ch#.ant_delay", u32, unit: "ticks",
      "Antenna delay in ticks of 15.65 ps, 4.69 mm of distance each."),
    Row("ant#.ch#.tx_bypass_delay_offset", i8), Row("ant#.ch#.rx_bypass_delay_offset", i8),
    Row("ant#.ch#.pa_gain_offset", i8, "In -0.25 dB; -128: the value in the chip's memory."),
    Row("ant#.ch#.pg_count", u8, "Target of the pulse generator's calibration."),
    Row("ant#.ch#.pg_delay", u8, "Bandwidth of the pulse generator."),
    Row("ant#.ch#.rssi_offset_q3", .signed(1, fraction: 3), unit: "dB"),
    Row(
      "ant#.ch#.ref_frame#.tx_power_index", .list(u8, count: 4),
      "STS, SHR, PHR and data: steps of 0.25 dB down from the maximum."),
    Row("ant#.ch#.ref_frame#.max_gating_gain", .list(u8, count: 4)),
    Row("ant#.ch#.ref_frame#.post_tx_power_index", u8, "255 is off."),
    Row("ref_frame#.phy_cfg", .bytes, "Bits of the frame's physical layer."),
    Row("ref_frame#.payload_size", u16, unit: "bytes"),
    Row("ant_pair#.axis", .words(["x", "y", "z"])),
    Row("ant_pair#.ant_paths", .list(i8, count: 2), "-1 is none."),
    Row("ant_pair#.ch#.pdoa.offset", radians, unit: "rad"),
    Row("ant_pair#.ch#.pdoa.interval_shift", radians, unit: "rad"),
    Row("ant_pair#.ch#.pdoa.lut_id", i8, "-1 is the default table."),
    Row("ant_set#.tx_ant_path", i8, "-1 is none."), Row("ant_set#.nb_rx_ants", u8),
    Row("ant_set#.rx_ants", .list(i8, count: 3), "-1 is none."),
    Row("ant_set#.rx_ants_are_pairs", .flag, "Pairs measure phase differences and angles."),
    Row("ant_set#.tx_power_control", u8),
    Row(
      "pdoa_lut#.data", .list(radians, count: 62), unit: "rad",
      "31 times a phase difference and its angle."),
    Row("ch#.wifi_coex_enabled", .flag), Row("ch#.pll_locking_code", u8),
    Row("xtal_trim", u8, "0…127, some 0.8 ppm a step; 255: the value in the chip's memory."),
    Row("restricted_channels", u16, "Bit n forbids channel n."),
    Row("alternate_pulse_shape", .words(["none", "japan"])),
    Row("wifi_coex_mode", u8), Row("wifi_coex_time_gap", u8),
    Row("wifi_coex_max_grant_duration", u8), Row("wifi_coex_min_inactive_duration", u8),
    Row("wifi_sw_cfg", u8), Row("rf_noise_offset", i8, unit: "dB"),
    Row("rx_diag_config.cir_n_taps", u16), Row("rx_diag_config.cir_fp_tap_offset", u16),
    Row("dual_rx_auto.accum_period", u8, "In 0.1 s."),
    Row("dual_rx_auto.rssi_diff_thres", u8, unit: "dB"),
    Row("dual_rx_auto.error_rate_thres", u8, unit: "%"),
    Row("ip_sts_sanity_thres_q2", .unsigned(1, fraction: 2)),
    Row("post_tx.pattern_repetitions", u16), Row("post_tx.pattern_data", .bytes),
    Row("debug.tx_power", u32), Row("debug.pa_enabled", .flag), Row("debug.pll_bias_trim", u8),
    Row("debug.rx_segment", u8), Row("debug.pll_cfg", u32),
    Row("temperature_reference", u8), Row("voltage_reference", u32),
    Row("experimental.mac.session_scheduler.id", .words(["strict", "fair"])),
  ]

  private static let index = Dictionary(
    rows.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })

  static let values: [CalibrationValue] = rows.flatMap { row in
    expand(row.name).map(row.named)
  }

  /// Returns the description of a key. A key without a row has the form of bytes, because firmware
  /// has more keys than are published.
  static func value(named name: String) -> CalibrationValue? {
    let pattern = pattern(of: name)
    if let row = index[pattern], expand(pattern).contains(name) { return row.named(name) }
    let isKey =
      !name.isEmpty && name.utf8.count <= 255
      && name.utf8.allSatisfy {
        (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2E || $0 == 0x5F
      }
    return isKey && name.contains(".") ? CalibrationValue(name, .bytes) : nil
  }

  /// Returns the name with `#` for the digits at the ends of its parts.
  private static func pattern(of name: String) -> String {
    name.split(separator: ".", omittingEmptySubsequences: false).map { part in
      guard let last = part.last, last.isASCII, last.isNumber,
        numbered.contains(String(part.dropLast()))
      else { return String(part) }
      return part.dropLast() + "#"
    }.joined(separator: ".")
  }

  private static let numbered: Set<String> = [
    "ant", "ch", "ref_frame", "ant_pair", "ant_set", "pdoa_lut",
  ]

  private static func expand(_ pattern: String) -> [String] {
    var names = [""]
    for part in pattern.split(separator: ".") {
      let stem = part.hasSuffix("#") ? String(part.dropLast()) : nil
      let range: [Int]? = stem.map { $0 == "ch" ? [5, 9] : Array(0..<($0 == "ref_frame" ? 8 : 4)) }
      let choices = stem.flatMap { stem in range?.map { "\(stem)\($0)" } } ?? [String(part)]
      names = names.flatMap { name in choices.map { name.isEmpty ? $0 : "\(name).\($0)" } }
    }
    return names
  }
}
