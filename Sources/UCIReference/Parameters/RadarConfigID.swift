// SPDX-License-Identifier: Apache-2.0

import UCI

/// A parameter of a radar session in Android's vendor group, by its number on the wire.
public struct RadarConfigID: RawRepresentable, Hashable, Sendable {
  /// The number.
  public let rawValue: UInt8
  /// Any number.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// What is known of the parameter; nil where nothing is.
  public var parameter: RadarConfigParameter? { RadarConfigTable.index[self]?.first }

  /// For example `SAMPLES_PER_SWEEP`; `RADAR_CONFIG_0x20` where there is no name.
  public var name: String { parameter?.name ?? "RADAR_CONFIG_\(hex(rawValue))" }
}

/// A parameter of a radar session in Android's vendor group.
public typealias RadarConfigParameter = Parameter<RadarConfigID>

extension RadarConfigParameter {
  /// Every parameter that is known, in the order of the numbers.
  public static var all: [RadarConfigParameter] { RadarConfigTable.rows }
}

/// Source: AOSP's packet definitions and radar support library.
enum RadarConfigTable {
  static let index = RadarConfigParameter.index(rows)

  private static func row(
    _ number: UInt8, _ name: String, _ lengths: [Int], format: ParameterFormat = .number,
    unit: String? = nil, range: ClosedRange<UInt64>? = nil, default defaultValue: UInt64? = nil,
    values: [UInt64: String] = [:], summary: String = ""
  ) -> RadarConfigParameter {
    RadarConfigParameter(
      RadarConfigID(rawValue: number), name, lengths, format: format, unit: unit, range: range,
      default: defaultValue, values: values, summary: summary)
  }

  static let rows: [RadarConfigParameter] = [
    row(
      0x00, "TIMING_PARAMS", [7], format: .bytes,
      summary: "Period of a burst in ms (4 bytes), of a sweep in RSTU (2), sweeps in a burst (1)."),
    row(
      0x01, "SAMPLES_PER_SWEEP", [1], unit: "samples", range: 0...255, default: 64,
      summary: "Samples in a sweep."),
    row(0x02, "CHANNEL_NUMBER", [1], range: 5...14, summary: "UWB channel."),
    row(0x03, "SWEEP_OFFSET", [2], format: .signed, summary: "Where the samples of a sweep begin."),
    row(
      0x04, "RFRAME_CONFIG", [1], range: 0...3, values: [0: "SP0", 1: "SP1", 3: "SP3"],
      summary: "Where a frame has its STS."),
    row(0x05, "PREAMBLE_DURATION", [1], summary: "Length of the preamble."),
    row(0x06, "PREAMBLE_CODE_INDEX", [1], summary: "Preamble code."),
    row(0x07, "SESSION_PRIORITY", [1], summary: "Which session wins when two collide."),
    row(
      0x08, "BITS_PER_SAMPLE", [1], range: 0...2, values: [0: "32", 1: "48", 2: "64"],
      summary: "Bits of a sample."),
    row(
      0x09, "PRF_MODE", [1], range: 0...2,
      values: [0: "BPRF 62.4 MHz", 1: "HPRF 124.8 MHz", 2: "HPRF 249.6 MHz"],
      summary: "Pulse repetition frequency."),
    row(
      0x0A, "NUMBER_OF_BURSTS", [2], unit: "bursts", range: 0...65535,
      summary: "Bursts after which the session stops."),
    row(
      0x0B, "RADAR_DATA_TYPE", [1, 2], values: [0: "sweep samples"], summary: "What is reported."),
  ]
}
