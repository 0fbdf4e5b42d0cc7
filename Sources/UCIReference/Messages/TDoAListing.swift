// SPDX-License-Identifier: Apache-2.0

import UCI

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
    fieldValue(
      isCommonTimeBase: control.isCommonTimeBase, tx: txTimestamp, rx: rxTimestamp,
      location: location, activeRounds: activeRounds,
      more: [Field("anchor_location", anchorLocation.map(\.fieldValue) ?? .null)])
  }
}

extension DownlinkTDoAMeasurementV2 {
  var fieldValue: FieldValue {
    var more = [Field("supercluster_id", .number(superclusterID))]
    if !unknownBytes.isEmpty { more.append(Field("unknown", .bytes(unknownBytes))) }
    return fieldValue(
      isCommonTimeBase: control.isCommonTimeBase, tx: txTimestamp, rx: rxTimestamp,
      location: location ?? [], activeRounds: activeRounds ?? [], more: more)
  }
}

extension DownlinkTDoAMessage {
  /// What both versions say, and what only one of them does.
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
