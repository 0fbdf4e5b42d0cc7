// SPDX-License-Identifier: Apache-2.0

import UCI

extension SessionInfo {
  /// What stands behind the measurements: vendors put there what they like.
  func describe(tail: [UInt8], _ dialect: Dialect) -> [Field] {
    let bytes = Field("vendor_tail", .bytes(tail))
    guard dialect.traits.hasMeasurementTail, !tail.isEmpty else { return [bytes] }
    let vendor: FieldValue?
    if case .twoWay(let list) = measurements {
      vendor = NXPVendorTail(tail, measurements: list.count)?.fieldValue
    } else {
      vendor = NXPOneWayTail(tail, behind: measurements)?.fieldValue
    }
    return [bytes] + (vendor.map { [Field("vendor", $0)] } ?? [])
  }
}

extension NXPVendorTail {
  var fieldValue: FieldValue {
    .object([
      Field("type", .number(type)), Field("message_control", .number(messageControl)),
      Field("tx_antenna", .number(txAntenna)), Field("wifi_coexistence", .number(wifiCoexistence)),
      Field(
        "rx_mode",
        .choice(rxMode, ["TOA", "AOA", "RADAR", "TOA_BY_FRAME", "AOA_BY_FRAME", "CSA", "CSA"])),
      Field("antennas", .list(antennas.map { .number($0) })),
      Field("debug_antennas", .list(debugAntennas.map { .number($0) })),
      Field("measurements", .list(measurements.map(\.fieldValue))),
      Field("authentication_tag", authenticationTag.map { .bytes($0) } ?? .null),
    ])
  }
}

extension NXPVendorTail.Measurement {
  fileprivate var fieldValue: FieldValue {
    var fields = [
      Field("angles", .list(angles.map(\.fieldValue))),
      Field("receivers", .list(receivers.map(\.fieldValue))),
    ]
    if let secondDistance { fields.append(Field("second_distance_cm", .number(secondDistance))) }
    if let distanceMillimetres { fields.append(Field("distance_mm", .number(distanceMillimetres))) }
    return .object(fields)
  }
}

extension NXPVendorTail.AngleEntry {
  var fieldValue: FieldValue {
    .object([
      Field("angle_deg", .decimal(degrees)), Field("pdoa_deg", .decimal(phaseDifferenceDegrees)),
      Field("index", .number(index)), Field("field_of_view", .number(fieldOfViewFlag)),
    ])
  }
}

extension NXPVendorTail.ReceiverEntry {
  fileprivate var fieldValue: FieldValue {
    .object([
      Field("snr_first_db", .number(snrFirstPath)), Field("snr_main_db", .number(snrMainPath)),
      Field("first_path_ns", .decimal(firstPathNanoseconds)),
      Field("main_path_ns", .decimal(mainPathNanoseconds)),
      Field("snr_db", .decimal(rawSNR.map { Double($0) / 256 })),
      Field("rssi_dbm", .decimal(rssiDBm)),
    ])
  }
}
