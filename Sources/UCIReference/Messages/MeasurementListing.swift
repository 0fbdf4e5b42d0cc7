// SPDX-License-Identifier: Apache-2.0

package import UCI

extension SessionInfo: ListedFields {
  func fields(dialect: Dialect) -> [Field] {
    var fields = [
      Field("sequence", .number(sequenceNumber)),
      Field("session", .number(sessionToken)),
      Field("interval_ms", .number(intervalMilliseconds)),
      Field("type", Self.name(of: type)),
    ]
    switch measurements {
    case .twoWay(let list):
      fields.append(Field("measurements", .list(list.map(\.fieldValue))))
    case .oneWayAoA(let list):
      fields.append(Field("measurements", .list(list.map(\.fieldValue))))
    case .downlinkTDoA(let list):
      fields.append(Field("measurements", .list(list.map(\.fieldValue))))
    case .downlinkTDoAV2(let list):
      fields.append(Field("measurements", .list(list.map(\.fieldValue))))
    case .uplinkTDoA(let list):
      fields.append(Field("measurements", .list(list.map(\.fieldValue))))
    case .other(let count, let bytes):
      fields += [
        Field("measurements", .list([])), Field("count", .number(count)),
        Field("payload", .bytes(bytes)),
      ]
    }
    return fields
  }
}

extension SessionInfo {
  fileprivate static func name(of type: MeasurementType) -> FieldValue {
    type == .downlinkTDoAV2
      ? .code(type.rawValue, name: "DL_TDOA_V2", explanation: nil)
      : .choice(type.rawValue, ["UL_TDOA", "TWO_WAY", "DL_TDOA", "OWR_AOA"])
  }
}

extension LineOfSight {
  /// Whether the path is blocked, as yes, no or null; the byte too where it is none of these.
  var fields: [Field] {
    switch self {
    case .lineOfSight: [Field("nlos", .bool(false))]
    case .nonLineOfSight: [Field("nlos", .bool(true))]
    case .notDetermined: [Field("nlos", .null)]
    default: [Field("nlos", .null), Field("nlos_raw", .number(rawValue))]
    }
  }
}

extension Angle {
  func fields(_ name: String) -> [Field] {
    [Field("\(name)_deg", .decimal(degrees)), Field("\(name)_fom", .number(figureOfMerit))]
  }
}

extension TwoWayMeasurement {
  var fieldValue: FieldValue {
    var fields = [
      Field("mac", .text(peer.description)), Field("status", .status(status)),
      Field("distance_cm", .number(distanceCentimetres)),
    ]
    fields += azimuth.fields("azimuth") + elevation.fields("elevation")
    fields += destinationAzimuth.fields("destination_azimuth")
    fields += destinationElevation.fields("destination_elevation")
    fields += [
      Field("slot", .number(slotIndex)), Field("rssi_dbm", .decimal(rssiDBm)),
    ]
    return .object(fields + lineOfSight.fields)
  }
}

extension OneWayAoAMeasurement {
  var fieldValue: FieldValue {
    var fields = Field.withoutDistance(peer, status, azimuth, elevation)
    fields += [
      Field("rssi_dbm", .null), Field("frame", .number(frameSequenceNumber)),
      Field("block", .number(blockIndex)),
    ]
    return .object(fields + lineOfSight.fields)
  }
}

extension Field {
  /// What one-way measurements have in common. They know no distance; the field is there so that
  /// every measurement has the same ones.
  static func withoutDistance(
    _ peer: MACAddress, _ status: Status, _ azimuth: Angle, _ elevation: Angle
  ) -> [Field] {
    [
      Field("mac", .text(peer.description)), Field("status", .status(status)),
      Field("distance_cm", .null),
    ] + azimuth.fields("azimuth") + elevation.fields("elevation")
  }
}
