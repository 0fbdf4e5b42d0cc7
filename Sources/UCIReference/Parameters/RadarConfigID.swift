// SPDX-License-Identifier: Apache-2.0

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
      0x0B, "RADAR_DATA_TYPE", [1, 2], values: [0: "sweep samples"], summary: "What is reported."),
  ])
}
