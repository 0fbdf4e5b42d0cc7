// SPDX-License-Identifier: Apache-2.0
internal import UWB
internal import UCI

/// Session profiles: JSON with comments, and logs of Android phones.
enum ProfileTarget: Target {
  static let name = "profile"

  /// Positions, names and problems are kept for each value.
  static func memoryLimit(for size: Int) -> Int { 1_048_576 + 4_096 * size }

  static func run(_ input: [UInt8]) {
    do {
      _ = try SessionProfile(input)
    } catch {
      // The error may repeat the user's text. The caller makes it printable before it is shown.
      _ = error.description
    }
  }

  static func seeds(_ frames: [[UInt8]]) -> [[UInt8]] {
    let texts = Preset.allCases.map { Array($0.profile().text().utf8) }
    let log = [
      "session_id, value: -7", "device_type, value: 0", "dest_address_list, value: [-1, 7]",
      "has_result_report_phase, value: true", "has_time_of_flight_report, value: true",
      "sts_config, value: 0", "vendor_id, value: [8, 7]",
      "static_sts_iv, value: [1, 2, 3, 4, 5, 6]",
      "sts_config, value: 4", "session_key, value: null", "slot_duration_rstu, value: 2400",
    ].map { "I UwbBackend: UWB parameter: \($0)\n" }
    let beginning = "I UwbBackend: Opens UWB session with bundle parameters:\n"
    return texts + [
      Array((beginning + log.joined()).utf8), Array(log.joined(separator: "\r").utf8),
    ]
      + ["{}", "// a comment\n{ \"session_id\": 1, /* x */ \"CHANNEL_NUMBER\": 9 }", "[1e9]"].map {
        Array($0.utf8)
      }
  }
}

/// Parameters as people write them: `SLOT_DURATION=2 ms`.
enum ParameterTarget: Target {
  static let name = "parameters"

  static func run(_ input: [UInt8]) {
    let text = String(decoding: input, as: UTF8.self)
    for dialect in [0, 1, 2] as [UInt8] {
      do {
        let parameter = try TLV(appConfig: text, for: Dialect(number: dialect).generation)
        if parameter.value.count > 255 { fail("a value of \(parameter.value.count) bytes") }
        _ = parameter.appConfigText()
      } catch {
        _ = error.description
      }
    }
  }

  static func seeds(_ frames: [[UInt8]]) -> [[UInt8]] {
    [
      "SLOT_DURATION=2 ms", "CHANNEL_NUMBER=9", "DST_MAC_ADDRESS=00:01,00:02", "STS_CONFIG=static",
      "0x45=00112233", "RANGING_DURATION=0.2 s", "slot_duration=2400 RSTU",
    ].map { Array($0.utf8) }
  }
}
