// SPDX-License-Identifier: Apache-2.0
import Testing
import UCI
import UCIReference
import UWB
import UWBTestSupport

/// The parameters that an Android phone prints with the tag `UwbBackend`.
@Suite(.computes) struct AndroidLogTests {
  // The names, the order of the first ones and the forms of the lines are from the logs of phones
  // at github.com/sasodoma/uwb-ranging and github.com/dustedrob/multi-platform-uwb. The other
  // names and kinds of values are from AOSP's `FiraOpenSessionParams`, whose keys have no order.
  static let values = [
    ("aoa_result_request", "1"), ("has_ranging_control_phase", "false"),
    ("ul_tdoa_random_window", "0"), ("session_data_transfer_status_ntf_config", "false"),
    ("range_data_ntf_proximity_near", "0"), ("is_tx_adaptive_payload_power_enabled", "false"),
    ("is_diagnostics_enabled", "false"), ("rframe_config", "3"), ("max_ranging_round_retries", "0"),
    ("psdu_data_rate", "0"), ("is_rssi_reporting_enabled", "false"),
    ("data_repetition_count", "0"), ("fcs_type", "0"), ("range_data_ntf_proximity_far", "20000"),
    ("bprf_phr_data_rate", "0"), ("sts_length", "1"), ("initiation_time_ms", "0"),
    ("aoa_type", "0"), ("has_time_of_flight_report", "true"),
    ("has_angle_of_arrival_figure_of_merit_report", "false"), ("session_key", "null"),
    ("mtu_size", "1048"), ("protocol_version", "1.1"), ("session_id", "-1985229329"),
    ("session_type", "0"), ("device_type", "0"), ("device_role", "0"),
    ("ranging_round_usage", "2"), ("multi_node_mode", "0"),
    ("device_address", "6390889346215444480"), ("dest_address_list", "[-6727251943384678400]"),
    ("slot_duration_rstu", "2400"), ("slots_per_ranging_round", "6"),
    ("ranging_interval_ms", "120"), ("block_stride_length", "0"), ("hopping_mode", "1"),
    ("session_priority", "50"), ("mac_address_mode", "0"), ("has_result_report_phase", "true"),
    ("has_control_message", "true"), ("measurement_report_type", "0"),
    ("in_band_termination_attempt_count", "3"), ("channel_number", "9"),
    ("preamble_code_index", "9"), ("prf_mode", "0"), ("cap_size_range", "[5, 24]"),
    ("scheduled_mode", "1"), ("preamble_duration", "1"), ("sfd_id", "2"),
    ("sts_segment_count", "1"), ("sts_config", "0"), ("vendor_id", "[8, 7]"),
    ("static_sts_iv", "[1, 2, 3, 4, 5, 6]"), ("is_key_rotation_enabled", "false"),
    ("key_rotation_rate", "0"), ("range_data_ntf_config", "1"), ("ranging_time_struct", "1"),
    ("range_data_ntf_aoa_azimuth_lower", "-3.141592653589793"),
  ]

  static func log(
    _ changes: [String: String] = [:], tag: String = "11-19 18:23:18.301 11570 32495 I UwbBackend: "
  ) -> String {
    (["\(tag)Opens UWB session with bundle parameters:"]
      + values.map { "\(tag)UWB parameter: \($0.0), value: \(changes[$0.0] ?? $0.1)" })
      .joined(separator: "\n") + "\n"
  }

  private func read(_ text: String) throws -> SessionProfile {
    try SessionProfile(Array(text.utf8))
  }

  @Test(
    "Both forms of logcat, with other lines between",
    arguments: [
      log(),
      log(
        tag:
          "2026-07-16 01:06:06.640  6182-24027 UwbBackend              com.google  I  "),
      "--------- beginning of main\r\n"
        + log().replacing("\n", with: "\r\n11-19 18:23:18.300 1 1 D Other: value: 9\r\n"),
    ])
  func forms(_ text: String) throws {
    let profile = try read(text)
    #expect(profile.sessionID == 0x89AB_CDEF && profile.type == .ranging)
    for tlv in [
      TLV(.deviceMACAddress, [0x58, 0xB1]), TLV(.dstMACAddress, [0xA2, 0xA4]),
      TLV(.numberOfControlees, [1]), TLV(.slotDuration, [0x60, 0x09]),
      TLV(.rangingDuration, [120, 0, 0, 0]), TLV(.rangingRoundControl, [3]),
      TLV(.resultReportConfig, [1]), TLV(.vendorID, [8, 7]),
      TLV(.staticSTSIV, [1, 2, 3, 4, 5, 6]), TLV(.farProximity, [0x20, 0x4E]),
      TLV(.rssiReporting, [0]), TLV(.hoppingMode, [1]),
    ] { #expect(profile.parameters.contains(tlv), "\(tlv)") }
    #expect(!profile.parameters.contains { $0.id == AppConfigID.sessionKey.rawValue })
  }

  @Test("A phone in a preset's session can range with a chip that has the preset")
  func preset() throws {
    var chip = Preset.android.profile(.controller)
    chip.parameters.removeAll { [0x06, 0x07].contains($0.id) }
    chip.parameters += [
      TLV(.deviceMACAddress, [0xA2, 0xA4]), TLV(.dstMACAddress, [0x58, 0xB1]),
    ]
    let phone = try read(Self.log())
    let ends = [chip, phone].map {
      SessionPeerConfiguration(sessionID: 42, parameters: $0.parameters(for: .assumed))
    }
    let found = ends[0].differences(from: ends[1])
    #expect(!found.contains { $0.effect == .preventsRanging }, "\(found)")
    let slow = try read(Self.log(["ranging_interval_ms": "240"]))
    let other = SessionPeerConfiguration(
      sessionID: 42, parameters: slow.parameters(for: .assumed))
    #expect(
      ends[0].differences(from: other).filter { $0.effect == .preventsRanging }.map(\.name)
        == ["RANGING_DURATION"])
  }

  @Test("The last session counts, and a session without its first line is one as well")
  func several() throws {
    let both = Self.log() + Self.log(["session_id": "7"])
    #expect(try read(both).sessionID == 7)
    let cut = both.split(separator: "\n").dropFirst().joined(separator: "\n")
    #expect(
      try read(cut + "\n11-19 I UwbBackend: Opens UWB session with bundle parameters:")
        .sessionID == 7)
  }

  @Test("Provisioned keys are read, and printed only when requested")
  func keys() throws {
    let key = (0..<16).map { "\($0 * 17)" }.joined(separator: ", ")
    let text = Self.log(["sts_config": "3", "session_key": "[\(key)]"])
    let profile = try read(text)
    #expect(profile.parameters.contains(TLV(.sessionKey, (0..<16).map { UInt8($0 * 17) })))
    #expect(!profile.parameters.contains { $0.id == AppConfigID.vendorID.rawValue })
    #expect(!profile.text().contains("11:22:33"))
    let bytes = try read(Self.log(["vendor_id": "[-8, 7]"]))
    #expect(bytes.parameters.contains(TLV(.vendorID, [0xF8, 7])))
  }

  @Test("Extended addresses have eight bytes")
  func extended() throws {
    let profile = try read(
      Self.log(["mac_address_mode": "2", "device_address": "72623859790382856"]))
    #expect(profile.parameters.contains(TLV(.deviceMACAddress, [1, 2, 3, 4, 5, 6, 7, 8])))
  }

  @Test(
    "A wrong value is an error with its line, without the value of a key",
    arguments: [
      ("channel_number", "nine", "Line 44: channel_number takes a number, 0…255."),
      ("slot_duration_rstu", "65536", "Line 33: slot_duration_rstu takes a number, 0…65535."),
      ("vendor_id", "[8, 7, 6]", "Line 53: vendor_id takes a list of numbers in brackets."),
      ("static_sts_iv", "[1, 2", "Line 54: static_sts_iv takes a list of numbers in brackets."),
      (
        "dest_address_list", "[]]",
        "Line 32: dest_address_list takes a list of numbers in brackets."
      ),
      ("session_id", "null", "The profile lacks session_id."),
    ])
  func wrong(name: String, value: String, sentence: String) {
    let error = #expect(throws: ProfileError.self) { try read(Self.log([name: value])) }
    #expect(error?.description == sentence)
  }

  @Test("Comments of a profile are not a log")
  func comments() throws {
    let text = "// UWB parameter: session_id, value: 9\n{session_id: 1, parameters: {}}"
    #expect(try read(text).sessionID == 1)
  }

  @Test("Whatever the bytes, reading ends with a profile or an error")
  func fuzz() {
    let seed = Array(Self.log().utf8)
    var random = SystemRandomNumberGenerator.Seeded(state: 7)
    var read = 0
    for _ in 0..<300 {
      var bytes = seed
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        if Bool.random(using: &random) {
          bytes[place] = UInt8.random(in: 0x20...0x7E, using: &random)
        } else {
          bytes.removeSubrange(place..<min(bytes.count, place + 3))
        }
      }
      if (try? SessionProfile(bytes)) != nil { read += 1 }
    }
    // Most changes are in other lines, or in names.
    #expect(read > 100 && read < 300)
  }
}
