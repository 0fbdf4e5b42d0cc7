// SPDX-License-Identifier: Apache-2.0

import UCI

extension SessionInfo {
  /// Returns the vendor's own bytes after the measurements as fields.
  func describe(tail: [UInt8], _ dialect: Dialect) -> [Field] {
    let bytes = Field("vendor_tail", .bytes(tail))
    guard dialect.traits.hasMeasurementTail, !tail.isEmpty else { return [bytes] }
    let vendor: FieldValue?
    if case .twoWay(let list) = measurements {
      vendor = unsafe NXPVendorTail(tail.span.bytes, measurements: list.count)?.fieldValue
    } else {
      let payload: (any FieldGroup)? =
        switch NXPOneWayTail(tail, behind: measurements) {
        case .angles(let angles): angles
        case .uplink(let uplink): uplink
        case nil: nil
        }
      vendor = payload.map { .object(FieldLister.fields(of: $0, .sessionInfo, dialect)) }
    }
    return [bytes] + (vendor.map { [Field("vendor", $0)] } ?? [])
  }
}

extension NXPVendorTail {
  fileprivate var fieldValue: FieldValue {
    var list: [FieldValue] = []
    for index in 0..<count { list.append(measurement(index)) }
    return .object([
      Field("type", .number(type)), Field("message_control", .number(messageControl)),
      Field("tx_antenna", .number(txAntenna)), Field("wifi_coexistence", .number(wifiCoexistence)),
      Field(
        "rx_mode",
        .choice(rxMode, ["TOA", "AOA", "RADAR", "TOA_BY_FRAME", "AOA_BY_FRAME", "CSA", "CSA"])),
      Field("antennas", .list(antennas.map { .number($0) })),
      Field("debug_antennas", .list(debugAntennas.map { .number($0) })),
      Field("measurements", .list(list)),
      Field("authentication_tag", authenticationTag.map { .bytes($0) } ?? .null),
    ])
  }

  private func measurement(_ index: Int) -> FieldValue {
    var (angles, receivers): ([FieldValue], [FieldValue]) = ([], [])
    for angle in 0..<angleCount { angles.append(self.angle(angle, of: index).fieldValue) }
    for receiver in 0..<receiverCount {
      receivers.append(self.receiver(receiver, of: index).fieldValue)
    }
    var fields = [Field("angles", .list(angles)), Field("receivers", .list(receivers))]
    if let distance = secondDistance(of: index) {
      fields.append(Field("second_distance_cm", .number(distance)))
    }
    if let distance = distanceMillimetres(of: index) {
      fields.append(Field("distance_mm", .number(distance)))
    }
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

extension AnchorLocation {
  var fieldValue: FieldValue {
    switch self {
    case .geographic(let latitude, let longitude, let altitude):
      .object([
        Field("latitude_deg", .decimal(latitude)), Field("longitude_deg", .decimal(longitude)),
        Field("altitude_m", .decimal(altitude)),
      ])
    case .relative(let x, let y, let z):
      .object([Field("x", .number(x)), Field("y", .number(y)), Field("z", .number(z))])
    }
  }
}
