// SPDX-License-Identifier: Apache-2.0

extension NXPSessionsResponse: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [Field("count", .number(count)), Field("sessions", .bytes(entries))]
  }
}

extension NXPDeleteURSK: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [Field("session_ids", .list(sessionIDs.map { .number($0) }))]
  }
}

extension NXPDeleteURSKNotification: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    let list = outcomes.map {
      FieldValue.object([
        Field("session_id", .number($0.sessionID)), Field("result", .number($0.result)),
      ])
    }
    return [Field("status", .status(status)), Field("outcomes", .list(list))]
  }
}

extension NXPRangeResume: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [Field("session", .number(sessionToken)), Field("sts_index", .number(stsIndex))]
  }
}

extension NXPSchedulerStatusNotification: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    let list = sessions.map {
      FieldValue.object([
        Field("session", .number($0.token)), Field("scheduler_status", .number($0.status)),
        Field("successes", .number($0.successes)), Field("failures", .number($0.failures)),
        Field("priority", .number($0.priority)),
      ])
    }
    return [Field("sessions", .list(list))]
  }
}

extension NXPRFrameLogNotification: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [
      Field("session", .number(sessionToken)), Field("sequence", .number(sequenceNumber)),
      Field("tx_antenna", .number(txAntenna)),
      Field(
        "frames",
        .list(entries.map { NXPReceivedFrame($0).map(\.fieldValue) ?? .bytes($0) })),
    ]
  }
}

extension NXPReceivedFrame {
  var fieldValue: FieldValue {
    .object(
      [
        Field("mapping", .number(mapping)), Field("decode_status", .number(decodeStatus)),
        Field("first_path_ns", .decimal(Double(rawFirstPath) / 64)),
        Field("main_path_ns", .decimal(Double(rawMainPath) / 64)),
        Field("snr_main_db", .number(snrMainPath)), Field("snr_first_db", .number(snrFirstPath)),
        Field("snr_db", .decimal(Double(rawSNR) / 256)),
        Field("rssi_dbm", .decimal(Double(rawRSSI) / 256)),
        Field("main_path_power", .number(mainPathPower)),
        Field("first_path_power", .number(firstPathPower)),
        Field("noise_variance", .number(noiseVariance)),
        Field("cfo_ppm", .decimal(Double(rawClockOffset) / 2048)),
        Field("phase_deg", .decimal(Double(rawPhase) / 128)),
        Field("taps", .list(taps.map { .number($0) })),
        Field(
          "rx_time_us",
          .decimal((Double(timestamp) + Double(timestampFraction) / 512) / 124.8)),
      ] + lineOfSight.fields)
  }
}

extension NXPCIRLogNotification: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [
      Field("session", .number(sessionToken)), Field("slot", .number(slot)),
      Field("rx_antenna", .number(rxAntenna)), Field("count", .number(count)),
      Field("samples", .bytes(samples)),
    ]
  }
}
