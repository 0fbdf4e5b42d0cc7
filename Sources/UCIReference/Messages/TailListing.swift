// SPDX-License-Identifier: Apache-2.0

import UCI

extension NXPOneWayTail {
  var fieldValue: FieldValue {
    switch self {
    case .angles(let tail):
      .object([
        Field("type", .number(tail.type)), Field("rx_mode", .choice(tail.rxMode, ["TOA", "AOA"])),
        Field("antennas", .list(tail.antennas.map { .number($0) })),
        Field(
          "measurements",
          .list(
            tail.measurements.map { measurement in
              .object([
                Field("angles", .list(measurement.angles.map(\.fieldValue))),
                Field("rssi_dbm", .decimal(measurement.rssiDBm)),
              ])
            })),
      ])
    case .uplink(let tail):
      .object([
        Field("rssi_dbm", .list(tail.rawRSSI.map { .decimal(Double($0) / 256) })),
        Field(
          "phases",
          .list(
            tail.phases.map {
              .object([
                Field("pdoa_deg", .decimal(Double($0.rawPDoA) / 128)),
                Field("index", .number($0.index)),
              ])
            })),
        Field("rest", .bytes(tail.rest)),
      ])
    }
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
