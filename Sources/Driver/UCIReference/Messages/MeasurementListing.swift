// SPDX-License-Identifier: Apache-2.0

package import UCI

extension SessionInfo: ListedFields {
  func fields(dialect: Dialect) -> [Field] {
    let listed: [FieldValue] =
      switch measurements {
      case .twoWay(let list): list.map(\.fieldValue)
      case .oneWayAoA(let list): list.map(\.fieldValue)
      case .downlinkTDoA(let list): list.map(\.fieldValue)
      case .downlinkTDoAV2(let list): list.map(\.fieldValue)
      case .uplinkTDoA(let list): list.map(\.fieldValue)
      case .other: []
      }
    var fields = [
      Field("sequence", .number(sequenceNumber)),
      Field("session", .number(sessionToken)),
      Field("interval_ms", .number(intervalMilliseconds)),
      Field(
        "type",
        .choice(
          type.rawValue,
          ["UL_TDOA", "TWO_WAY", "DL_TDOA", "OWR_AOA", "0x04", "0x05", "DL_TDOA_V2"])),
      Field("measurements", .list(listed)),
    ]
    if case .other(let count, let bytes) = measurements {
      fields += [Field("count", .number(count)), Field("payload", .bytes(bytes))]
    }
    return fields
  }
}

extension LineOfSight {
  /// Whether the path is blocked: yes, no, or null, with the byte for any other value.
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
  /// Returns the common fields of one-way measurements. They have no distance; the field is
  /// included so that every measurement has the same fields.
  static func withoutDistance(
    _ peer: MACAddress, _ status: Status, _ azimuth: Angle, _ elevation: Angle
  ) -> [Field] {
    [
      Field("mac", .text(peer.description)), Field("status", .status(status)),
      Field("distance_cm", .null),
    ] + azimuth.fields("azimuth") + elevation.fields("elevation")
  }
}

extension UplinkTDoAMeasurement {
  var fieldValue: FieldValue {
    var fields = Field.withoutDistance(peer, status, azimuth, elevation)
    fields += [
      Field("rssi_dbm", .null),
      Field("frame_type", .choice(frameType, ["TAG", "SYNC_ANCHOR"])),
      Field("frame", .number(frameNumber)), Field("rx_timestamp", .number(rxTimestamp)),
      Field("tx_timestamp", .number(txTimestamp)),
      Field("device_id", deviceID.isEmpty ? .null : .bytes(deviceID)),
    ]
    return .object(fields + lineOfSight.fields)
  }
}

extension DownlinkTDoAMeasurement {
  var fieldValue: FieldValue {
    message.fieldValue(
      isCommonTimeBase: isCommonTimeBase, tx: txTimestamp, rx: rxTimestamp,
      location: location, activeRounds: activeRounds,
      more: [Field("anchor_location", anchorLocation.map(\.fieldValue) ?? .null)])
  }
}

extension DownlinkTDoAMeasurementV2 {
  var fieldValue: FieldValue {
    var more = [Field("supercluster_id", .number(superclusterID))]
    if !unknownBytes.isEmpty { more.append(Field("unknown", .bytes(unknownBytes))) }
    return message.fieldValue(
      isCommonTimeBase: isCommonTimeBase, tx: txTimestamp, rx: rxTimestamp,
      location: location ?? [], activeRounds: activeRounds ?? [], more: more)
  }
}

extension DownlinkTDoAMessage {
  /// Returns the common fields of both versions, with the fields of one version.
  fileprivate func fieldValue(
    isCommonTimeBase: Bool, tx: UInt64?, rx: UInt64?, location: [UInt8], activeRounds: [UInt8],
    more: [Field]
  ) -> FieldValue {
    let fields = Field.withoutDistance(peer, status, azimuth, elevation)
    let common = [
      Field("rssi_dbm", .decimal(rssiDBm)),
      Field("message", .choice(messageType, ["POLL", "RESPONSE", "FINAL"])),
      Field("block", .number(blockIndex)), Field("round", .number(roundIndex)),
      Field("common_time_base", .bool(isCommonTimeBase)),
      Field("tx_timestamp", .number(tx)), Field("rx_timestamp", .number(rx)),
      Field("anchor_cfo_ppm", .decimal(anchorClockOffsetPPM)),
      Field("cfo_ppm", .decimal(clockOffsetPPM)),
      Field("initiator_reply_time", .number(initiatorReplyTime)),
      Field("responder_reply_time", .number(responderReplyTime)),
      Field("time_of_flight", .number(timeOfFlight)),
      Field("location", location.isEmpty ? .null : .bytes(location)),
      Field("active_rounds", .list(activeRounds.map { .number($0) })),
    ]
    return .object(fields + common + more + lineOfSight.fields)
  }
}
