// SPDX-License-Identifier: Apache-2.0

import UCI

/// Names one of the parameters of a session that NXP's chips have beside those of FiRa, in a space of
/// numbers of their own (GID 0xF: SET_VENDOR_APP_CONFIG, GET_VENDOR_APP_CONFIG).
public struct NXPAppConfigID: RawRepresentable, Hashable, Sendable {
  /// The byte on the wire.
  public let rawValue: UInt8
  /// Any byte.
  public init(rawValue: UInt8) { self.rawValue = rawValue }
}

/// One of NXP's own parameters of a session.
public typealias NXPAppConfigParameter = Parameter<NXPAppConfigID>

extension NXPAppConfigParameter {
  /// Every parameter that is known.
  public static var all: [NXPAppConfigParameter] { NXPAppConfigTable.rows }
}

extension NXPAppConfigID {
  /// What is known of the parameter; nil where nothing is.
  public var parameter: NXPAppConfigParameter? { NXPAppConfigTable.index[self]?.first }
  /// The name as NXP publishes it; `NXP_APP_CONFIG_0xNN` where there is none.
  public var name: String { parameter?.name ?? "NXP_APP_CONFIG_\(hex(rawValue))" }
  /// The value is or holds key material and does not belong into logs.
  public var isSecret: Bool { parameter?.isSecret ?? false }
}

/// Source: names and numbers as in nxp-uwb/sr250-uwbiot-zephyr and its UWBIoT API Reference Guide.
enum NXPAppConfigTable {
  static let index = NXPAppConfigParameter.index(rows)

  private static func row(
    _ number: UInt8, _ name: String, _ lengths: [Int] = [], format: ParameterFormat = .number,
    range: ClosedRange<UInt64>? = nil, default defaultValue: UInt64? = nil,
    values: [UInt64: String] = [:], secret: Bool = false, summary: String = ""
  ) -> NXPAppConfigParameter {
    NXPAppConfigParameter(
      NXPAppConfigID(rawValue: number), name, lengths, format: format, range: range,
      default: defaultValue,
      values: values, secret: secret, vendors: [.nxp], summary: summary)
  }

  private static let onOff: [UInt64: String] = [0: "off", 1: "on"]

  static let rows: [NXPAppConfigParameter] = [
    row(
      0x00, "MAC_PAYLOAD_ENCRYPTION", [1], range: 0...1, default: 1, values: onOff,
      summary: "Whether payloads are encrypted."),
    row(
      0x02, "ANTENNAS_CONFIGURATION_TX", format: .bytes,
      summary: "Sending antennas: a count, then their ids."),
    row(
      0x03, "ANTENNAS_CONFIGURATION_RX", format: .bytes,
      summary:
        "A mode (0 ToA, 1 AoA, 2 radar, 3 ToA and 4 AoA by frame), a count, ids of antennas or pairs."
    ),
    row(0x20, "RAN_MULTIPLIER", summary: "CCC: multiplier of the ranging interval."),
    row(0x21, "LAST_STS_INDEX", summary: "CCC: STS index at which the session stopped."),
    row(0x30, "CIR_LOG_NTF", summary: "Whether channel impulse responses are reported."),
    row(0x31, "PSDU_LOG_NTF", summary: "Whether frames are reported as bytes."),
    row(0x40, "RSSI_AVERAGING_COUNT", summary: "Values over which RSSI is averaged."),
    row(0x60, "CIR_CAPTURE_MODE", format: .bytes),
    row(0x62, "SYNC_ATTEMPTS"),
    row(0x63, "SCHEDULE_ATTEMPTS"),
    row(0x64, "SCHEDULER_STATUS_NTF", summary: "Whether the scheduler reports what it did."),
    row(0x65, "TX_POWER_DELTA_FCC"),
    row(
      0x66, "TEST_KDF_FEATURE", format: .bytes, secret: true,
      summary: "Test of the key derivation."),
    row(0x67, "TX_POWER_TEMPERATURE_COMPENSATION"),
    row(0x68, "WIFI_COEX_TOLERANCE"),
    row(0x69, "HOPPING_THRESHOLD", summary: "Failures after which adaptive hopping begins."),
    row(
      0x6E, "AUTHENTICITY_TAG",
      summary: "Whether measurements carry a tag that proves their origin."),
    row(0x6F, "NBIC", format: .bytes, summary: "Against narrow-band interference."),
    row(0x70, "MAC_CONFIG", format: .bytes),
    row(0x71, "IN_BAND_DATA_TX_BLOCKS"),
    row(0x72, "IN_BAND_DATA_RX_BLOCKS"),
    row(0x74, "ANTENNA_SCAN", format: .bytes),
    row(
      0x75, "DATA_TRANSFER_STATUS_NTF_CONFIG",
      summary: "Whether each repetition of data is reported."),
    row(0x76, "UL_TDOA_FRAME_FORMAT", summary: "UL-TDoA: format of the MAC frames."),
    row(
      0x79, "WRAPPED_RDS", format: .bytes, secret: true,
      summary: "Ranging data set with the keys, wrapped."),
    row(0x7A, "DATA_LOGGER_NTF"),
    row(0x7B, "RFRAME_LOG_NTF", summary: "Whether each received frame is reported."),
    row(0x7C, "TEST_CONTENTION_RANGING", summary: "Test of contention-based ranging."),
    row(0x7D, "CIR_WINDOW", format: .bytes),
    row(0x7E, "RANGING_TIMESTAMP_NTF", summary: "Whether times of frames are reported."),
    row(0x7F, "ADAPTIVE_PAYLOAD_POWER"),
    row(0x80, "SWAP_ANTENNA_PAIR_3D_AOA"),
    row(0x81, "PROXIMITY_CONFIG", format: .bytes),
    row(0x83, "RESYNC"),
    row(0x84, "FOV_ENABLE", summary: "Whether the field of view is limited."),
    row(0x85, "AZIMUTH_FIELD_OF_VIEW", format: .bytes, summary: "A pair of antennas and degrees."),
    row(0x86, "SESSION_INFO_FILTER"),
    row(0x8A, "ALIRO_CONFIG", format: .bytes),
    row(0x90, "CSA_FINAL_DATA", format: .bytes),
    row(0x91, "FOM_ENABLE", summary: "Whether angles have a figure of merit."),
    row(0x9F, "USE_CASE_ID"),
    row(0xA0, "RADAR_MODE"),
    row(0xA4, "RADAR_RX_GAIN"),
    row(0xA5, "RADAR_SINGLE_FRAME_NTF"),
    row(0xA7, "RADAR_CIR_SAMPLES"),
    row(0xA8, "RADAR_CIR_START_OFFSET"),
    row(0xA9, "RADAR_FRAME_INTERVAL"),
    row(0xAA, "RADAR_PRESENCE_DETECTION", format: .bytes),
    row(0xAC, "RADAR_FCC_TEST"),
    row(0xAD, "RADAR_DC_FREEZE"),
    row(0xAE, "RADAR_PULSE"),
    row(0xB2, "RADAR_DRIFT_COMPENSATION"),
    row(0xB3, "RADAR_CONFIG", format: .bytes),
    row(0xC2, "INITIAL_SYNC_RX_WINDOW"),
  ]
}
