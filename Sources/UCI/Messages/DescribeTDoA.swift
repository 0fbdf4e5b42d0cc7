// SPDX-License-Identifier: Apache-2.0

extension UplinkTDoAMeasurement {
  var fieldValue: FieldValue {
    var fields = Field.withoutDistance(peer, status, azimuth, elevation)
    fields += [
      Field("rssi_dbm", .null),
      Field("frame_type", .choice(frameType, ["TAG", "SYNC_ANCHOR"])),
      Field("frame", .number(frameNumber)), Field("rx_timestamp", .number(rxTimestamp)),
      Field("tx_timestamp", .number(txTimestamp)),
      Field("device_id", deviceID.isEmpty ? .null : .octets(deviceID)),
    ]
    return .object(fields + lineOfSight.fields)
  }
}

extension DownlinkTDoAMeasurementV2 {
  var fieldValue: FieldValue {
    var fields = Field.withoutDistance(peer, status, azimuth, elevation)
    fields += [
      Field("rssi_dbm", .decimal(rssiDBm)),
      Field("message", .choice(messageType, ["POLL", "RESPONSE", "FINAL"])),
      Field("block", .number(blockIndex)), Field("round", .number(roundIndex)),
      Field("common_time_base", .bool(control.isCommonTimeBase)),
      Field("tx_timestamp", .number(txTimestamp)), Field("rx_timestamp", .number(rxTimestamp)),
      Field("anchor_cfo_ppm", .decimal(anchorClockOffsetPPM)),
      Field("cfo_ppm", .decimal(clockOffsetPPM)),
      Field("initiator_reply_time", .number(initiatorReplyTime)),
      Field("responder_reply_time", .number(responderReplyTime)),
      Field("time_of_flight", .number(timeOfFlight)),
      Field("location", location.map { .octets($0) } ?? .null),
      Field("active_rounds", .list((activeRounds ?? []).map { .number($0) })),
      Field("supercluster_id", .number(superclusterID)),
    ]
    if !unknownOctets.isEmpty { fields.append(Field("unknown", .octets(unknownOctets))) }
    return .object(fields + lineOfSight.fields)
  }
}
