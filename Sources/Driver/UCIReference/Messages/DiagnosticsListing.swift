// SPDX-License-Identifier: Apache-2.0

package import UCI

extension RangeDiagnosticsNotification.Item: ListedValue {
  var fieldValue: FieldValue {
    let types = [
      "RSSI", "AOA", "CIR_OLD", "FRAME_STATUS", "CFO", "EMITTER", "SEGMENT_METRICS", "CIR",
      "CONFIDENCE_METRICS", "RAW_CONFIDENCE",
    ]
    let fields = [Field("type", .choice(type, types))]
    guard let reading else { return .object(fields + [Field("value", .bytes(value))]) }
    return .object(fields + reading.fields)
  }
}

extension DiagnosticsReading {
  fileprivate var fields: [Field] {
    switch self {
    case .rssi(let values): [Field("rssi", .list(values.map { .number($0) }))]
    case .aoa(let list): [Field("angles", .list(list.map(\.fieldValue)))]
    case .frameStatus(let bits):
      [
        Field("received", .bool(bits & 1 != 0)), Field("wifi_coexistence", .bool(bits & 2 != 0)),
        Field("grant_exceeded", .bool(bits & 4 != 0)),
      ]
    case .clockOffset(let raw): [Field("cfo_ppm", .decimal(Double(raw) / 67.108864))]
    case .emitter(let address): [Field("mac", .text(MACAddress(address).description))]
    case .segments(let list): [Field("segments", .list(list.map(\.fieldValue)))]
    case .impulseResponses(let list): [Field("responses", .list(list.map(\.fieldValue)))]
    }
  }

  /// Returns the segment and the receiver as fields.
  fileprivate static func segment(_ id: UInt8) -> [Field] {
    [
      Field("segment", .choice(id & 7, ["IPATOV", "STS0", "STS1", "STS2", "STS3"])),
      Field("primary", .bool(id & 8 != 0)), Field("receiver", .number(id >> 4)),
    ]
  }
}

extension DiagnosticsReading.AoA {
  fileprivate var fieldValue: FieldValue {
    .object([
      Field("axis", .choice(axis, ["X", "Y", "Z"])), Field("angle_deg", .decimal(degrees)),
      Field("pdoa_rad", .decimal(phaseDifference)), Field("tdoa_raw", .number(rawTDoA)),
      Field("fom", .number(figureOfMerit)),
    ])
  }
}

extension DiagnosticsReading.Segment {
  fileprivate var fieldValue: FieldValue {
    .object(
      DiagnosticsReading.segment(id) + [
        Field("noise_raw", .number(rawNoise)), Field("level_dbm", .decimal(levelDBm)),
        Field("first_path", firstPath.fieldValue), Field("peak_path", peakPath.fieldValue),
      ])
  }
}

extension DiagnosticsReading.Path {
  fileprivate var fieldValue: FieldValue {
    .object([
      Field("index", .number(index)), Field("level_raw", .number(rawLevel)),
      Field("time_raw", .number(rawTime)),
    ])
  }
}

extension DiagnosticsReading.ImpulseResponse {
  fileprivate var fieldValue: FieldValue {
    .object(
      DiagnosticsReading.segment(id) + [
        Field("first_path", .number(firstPathIndex)), Field("count", .number(count)),
        Field("sample_size", .number(sampleSize)), Field("samples", .bytes(samples)),
      ])
  }
}
