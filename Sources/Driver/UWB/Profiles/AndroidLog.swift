// SPDX-License-Identifier: Apache-2.0
internal import UCI

/// The last session in the log of an Android phone. The phone prints its parameters with the tag
/// `UwbBackend`.
///
/// Sources: AOSP's packages/modules/Uwb. `androidx_backend` prints the lines,
/// `FiraOpenSessionParams` has the names, and `FiraEncoder` maps them to parameters. Addresses and
/// vendor ids are in the order of the wire since Android 14, and reversed before.
struct AndroidLog {
  private static let beginning = Array("Opens UWB session with bundle parameters".utf8)
  private static let mark = Array("UWB parameter: ".utf8)
  private static let separator = Array(", value: ".utf8)

  /// The values of a session as they are printed, with the line of each.
  private var values: [String: (text: String, line: Int)] = [:]

  /// Reads a log, or returns nil for a text without such lines.
  init?(_ bytes: [UInt8]) {
    let first = bytes.first { !" \t\r\n".utf8.contains($0) }
    // The text is a profile, whose comments may contain any text.
    guard first != UInt8(ascii: "{"), first != UInt8(ascii: "/") else { return nil }
    var isNew = true
    let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() {
      if line.firstRange(of: Self.beginning) != nil { isNew = true }
      guard let mark = line.firstRange(of: Self.mark),
        let separator = line[mark.upperBound...].firstRange(of: Self.separator)
      else { continue }
      let name = String(decoding: line[mark.upperBound..<separator.lowerBound], as: UTF8.self)
      if isNew || values[name] != nil { values = [:] }
      isNew = false
      let text = line[separator.upperBound...].filter { !" \t\r".utf8.contains($0) }
      values[name] = (String(decoding: text, as: UTF8.self), index + 1)
    }
    if values.isEmpty { return nil }
  }

  /// Returns the session as a profile.
  ///
  /// - Throws: `ProfileError` when a value is not of its kind, or the log has no session id.
  func profile() throws(ProfileError) -> SessionProfile {
    // Java prints the id as a signed integer.
    guard let id = try number("session_id", -0x8000_0000...0xFFFF_FFFF) else {
      throw .missing("session_id")
    }
    var parameters: [TLV] = []
    for field in Self.fields {
      guard let value = try number(field.name, 0...(1 << (8 * field.length) - 1)) else { continue }
      let bytes = UInt64(value).littleEndianBytes.prefix(field.length)
      parameters.append(TLV(field.id, Array(bytes)))
    }
    parameters += try flags() + addresses() + sts()
    let type = try number("session_type", 0...255).map { SessionType(rawValue: UInt8($0)) }
    return SessionProfile(
      sessionID: UInt32(truncatingIfNeeded: id), type: type ?? .ranging, parameters: parameters)
  }

  /// The parameters whose values are the same in the log and on the wire.
  private static let fields: [(name: String, id: AppConfigID, length: Int)] = [
    ("device_type", .deviceType, 1), ("ranging_round_usage", .rangingRoundUsage, 1),
    ("sts_config", .stsConfig, 1), ("multi_node_mode", .multiNodeMode, 1),
    ("channel_number", .channelNumber, 1), ("slot_duration_rstu", .slotDuration, 2),
    ("ranging_interval_ms", .rangingDuration, 4), ("fcs_type", .macFCSType, 1),
    ("aoa_result_request", .aoaResultRequest, 1),
    ("range_data_ntf_config", .sessionInfoNotificationConfig, 1),
    ("range_data_ntf_proximity_near", .nearProximity, 2),
    ("range_data_ntf_proximity_far", .farProximity, 2), ("device_role", .deviceRole, 1),
    ("rframe_config", .rframeConfig, 1), ("is_rssi_reporting_enabled", .rssiReporting, 1),
    ("preamble_code_index", .preambleCodeIndex, 1), ("sfd_id", .sfdID, 1),
    ("psdu_data_rate", .psduDataRate, 1), ("preamble_duration", .preambleDuration, 1),
    ("ranging_time_struct", .rangingTimeStruct, 1), ("slots_per_ranging_round", .slotsPerRR, 1),
    ("prf_mode", .prfMode, 1), ("scheduled_mode", .scheduleMode, 1),
    ("is_key_rotation_enabled", .keyRotation, 1), ("key_rotation_rate", .keyRotationRate, 1),
    ("session_priority", .sessionPriority, 1), ("mac_address_mode", .macAddressMode, 1),
    ("sts_segment_count", .numberOfSTSSegments, 1), ("max_ranging_round_retries", .maxRRRetry, 2),
    ("hopping_mode", .hoppingMode, 1), ("block_stride_length", .blockStrideLength, 1),
    ("in_band_termination_attempt_count", .inBandTerminationAttemptCount, 1),
    ("bprf_phr_data_rate", .bprfPHRDataRate, 1),
    ("max_number_of_measurements", .maxNumberOfMeasurements, 2), ("sts_length", .stsLength, 1),
  ]

  /// Returns the two parameters whose bits the log has separately.
  private func flags() throws(ProfileError) -> [TLV] {
    func bit(_ name: String, _ place: Int64) throws(ProfileError) -> Int64 {
      try number(name, 0...1).map { $0 << place } ?? 0
    }
    var list: [TLV] = []
    if let reports = try number("has_result_report_phase", 0...1) {
      let control =
        try reports + (number("has_control_message", 0...1) ?? 1) << 1
        + bit("has_ranging_control_phase", 2) + bit("measurement_report_type", 7)
      list.append(TLV(.rangingRoundControl, [UInt8(control)]))
    }
    if let distance = try number("has_time_of_flight_report", 0...1) {
      let report =
        try distance + bit("has_angle_of_arrival_azimuth_report", 1)
        + bit("has_angle_of_arrival_elevation_report", 2)
        + bit("has_angle_of_arrival_figure_of_merit_report", 3)
      list.append(TLV(.resultReportConfig, [UInt8(report)]))
    }
    return list
  }

  /// Returns the addresses. The log has each as a number whose highest bytes are the bytes of the
  /// address in order.
  private func addresses() throws(ProfileError) -> [TLV] {
    let length = try number("mac_address_mode", 0...2) == 2 ? 8 : 2
    func bytes(_ value: Int64) -> [UInt8] {
      Array(UInt64(bitPattern: value).littleEndianBytes.reversed().prefix(length))
    }
    var list: [TLV] = []
    if let own = try number("device_address", .min ... .max) {
      list.append(TLV(.deviceMACAddress, bytes(own)))
    }
    if let others = try numbers("dest_address_list", .min ... .max, 0...(255 / length)) {
      list.append(TLV(.numberOfControlees, [UInt8(others.count)]))
      list.append(TLV(.dstMACAddress, others.flatMap(bytes)))
    }
    return list
  }

  /// Returns the STS parameters that a phone sends with this STS_CONFIG.
  private func sts() throws(ProfileError) -> [TLV] {
    func key(_ name: String, _ id: AppConfigID, _ count: ClosedRange<Int>) throws(ProfileError)
      -> [TLV]
    {
      guard let bytes = try numbers(name, -128...255, count) else { return [] }
      return [TLV(id, bytes.map { UInt8(truncatingIfNeeded: $0) })]
    }
    switch try number("sts_config", 0...255) {
    case 0:
      return try key("vendor_id", .vendorID, 2...2) + key("static_sts_iv", .staticSTSIV, 6...6)
    case 3: return try key("session_key", .sessionKey, 16...32)
    case 4:
      let id = try number("sub_session_id", -0x8000_0000...0xFFFF_FFFF).map {
        [TLV(.subSessionID, UInt32(truncatingIfNeeded: $0).littleEndianBytes)]
      }
      return try key("session_key", .sessionKey, 16...32) + (id ?? [])
        + key("subsession_key", .subSessionKey, 16...32)
    default: return []
    }
  }

  /// Returns a number or a truth value; nil if it is not set.
  private func number(
    _ name: String, _ range: ClosedRange<Int64>
  ) throws(ProfileError) -> Int64? {
    guard let (text, line) = values[name], text != "null" else { return nil }
    let value = text == "true" ? 1 : text == "false" ? 0 : Int64(text)
    guard let value, range.contains(value) else {
      throw .wrongValue(
        field: name, accepted: "a number, \(range.lowerBound)…\(range.upperBound)", line: line)
    }
    return value
  }

  /// Returns a list of numbers; nil if it is not set.
  private func numbers(
    _ name: String, _ range: ClosedRange<Int64>, _ count: ClosedRange<Int>
  ) throws(ProfileError) -> [Int64]? {
    guard let (text, line) = values[name], text != "null" else { return nil }
    let parts = text.dropFirst().dropLast().split(separator: ",", omittingEmptySubsequences: false)
    let list = text == "[]" ? [] : parts.compactMap { Int64($0) }
    guard text.hasPrefix("["), text.hasSuffix("]"), text == "[]" || list.count == parts.count,
      count.contains(list.count), list.allSatisfy(range.contains)
    else {
      throw .wrongValue(field: name, accepted: "a list of numbers in brackets", line: line)
    }
    return list
  }
}
