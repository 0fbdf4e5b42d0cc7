// SPDX-License-Identifier: Apache-2.0

extension DataSizeResponse: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [Field("session", .number(sessionToken)), Field("max_data_size", .number(maxDataSize))]
  }
}

extension DataCreditNotification: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [Field("session", .number(sessionToken)), Field("credit", .number(credit))]
  }
}

extension DataTransferStatusNotification: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [
      Field("session", .number(sessionToken)), Field("sequence", .number(sequenceNumber)),
      Field("status", .code(status)), Field("transmissions", .number(transmissions)),
    ]
  }
}

extension RoleChangeNotification: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [
      Field("session", .number(sessionToken)),
      Field("role", .choice(role, ["INITIATOR", "RESPONDER"])),
    ]
  }
}

extension DataMessageSend: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [
      Field("session", .number(sessionToken)),
      Field("destination", .text(dataAddress(destination))),
      Field("sequence", .number(sequenceNumber)), Field("data", .octets(data)),
    ]
  }
}

extension DataMessageReceived: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [
      Field("session", .number(sessionToken)), Field("status", .status(status)),
      Field("source", .text(dataAddress(source))),
      Field("sequence", .number(sequenceNumber)), Field("data", .octets(data)),
    ]
  }
}

/// Data messages have room for an extended address; a short one leaves the upper octets 0.
func dataAddress(_ value: UInt64) -> String {
  (UInt16(exactly: value).map { MACAddress($0) } ?? MACAddress(extended: value)).description
}

extension AndroidPowerStatsResponse: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    guard let stats else { return [] }
    return [
      Field("idle_ms", .number(stats.idleMilliseconds)),
      Field("tx_ms", .number(stats.txMilliseconds)),
      Field("rx_ms", .number(stats.rxMilliseconds)),
      Field("wake_count", .number(stats.wakeCount)),
    ]
  }
}

extension AndroidSetCountryCode: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [Field("country", .deviceText(String(decoding: [first, second], as: UTF8.self)))]
  }
}

extension RangeDiagnosticsNotification: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    let messages = ["RIM", "RRM", "RFM", "CM", "MRM", "RRRM", "CU"]
    let types = [
      "RSSI", "AOA", "CIR_OLD", "FRAME_STATUS", "CFO", "EMITTER", "SEGMENT_METRICS", "CIR",
    ]
    return [
      Field("session", .number(sessionToken)), Field("sequence", .number(sequenceNumber)),
      Field(
        "reports",
        .list(
          reports.map { report in
            .object([
              Field("message", .choice(report.message, messages)),
              Field("action", .choice(report.action, ["RX", "TX"])),
              Field("antenna_set", .number(report.antennaSet)),
              Field(
                "items",
                .list(
                  report.items.map { item in
                    .object([
                      Field("type", .choice(item.type, types)), Field("value", .octets(item.value)),
                    ])
                  })),
            ])
          })),
    ]
  }
}

extension NXPDeviceInit: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [
      Field("board_variant", .number(boardVariant)), Field("board_version", .number(boardVersion)),
    ]
  }
}

extension QorvoBootNotification: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [Field("reason", .choice(reason, ["UNKNOWN", "FATAL_ERROR"]))]
  }
}
