// SPDX-License-Identifier: Apache-2.0

package import UCI

extension QorvoBootNotification: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [Field("reason", .choice(reason, ["UNKNOWN", "FATAL_ERROR"]))]
  }
}

extension FieldValue {
  fileprivate static func key(_ bytes: [UInt8]) -> FieldValue {
    .deviceText(String(decoding: bytes, as: UTF8.self))
  }
}

extension QorvoSetCalibration: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    let list = entries.map { entry in
      FieldValue.object([Field("key", .key(entry.key)), Field("value", .bytes(entry.value))])
    }
    return [Field("entries", .list(list))]
  }
}

extension QorvoGetCalibration: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [Field("keys", .list(keys.map { .key($0) }))]
  }
}

extension QorvoCalibrationResponse: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    guard let entries else { return [] }
    let list = entries.map { entry in
      FieldValue.object([
        Field("key", .key(entry.key)), Field("status", .status(entry.status)),
        Field("value", .bytes(entry.value)),
      ])
    }
    return [Field("entries", .list(list))]
  }
}

extension QorvoPSDUDumpNotification: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    let list = frames.map { frame in
      FieldValue.object([
        Field("index", .number(frame.index)), Field("psdu", .bytes(frame.psdu)),
      ])
    }
    return [Field("session", .number(sessionToken)), Field("frames", .list(list))]
  }
}

extension QorvoSessionsResponse: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    guard let sessions else { return [] }
    return [
      Field(
        "sessions",
        .list(
          sessions.map { session in
            .object([
              Field("session", .number(session.token)), Field("type", .sessionType(session.type)),
              Field("state", .code(session.state)),
            ])
          }))
    ]
  }
}

extension QorvoMemoryStatsResponse: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    guard let stats else { return [] }
    return [
      Field("static_octets", .number(stats.staticBytes)),
      Field("heap_used_octets", .number(stats.heapUsed)),
      Field("heap_peak_octets", .number(stats.heapPeak)),
      Field("heap_size_octets", .number(stats.heapSize)),
      Field("thread_count", .number(stats.threadCount)),
      Field("threads", .bytes(stats.threadBytes)),
    ]
  }
}

extension QorvoPowerStatsResponse: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    zip(Self.names, values).map { Field($0, .number($1)) }
  }
}

extension QorvoDeviceStatsResponse: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [Field("temperature_celsius", .decimal(centidegrees.map { Double($0) / 100 }))]
  }
}

extension QorvoTestTXCW: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [Field("action", .choice(action, ["STOP", "START"]))]
  }
}

extension QorvoTestPLLLock: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    guard let settings else { return [] }
    return [
      Field("operation", .number(settings.operation)),
      Field("timeout_ms", .decimal(Double(settings.timeout) / 10)),
    ]
  }
}

extension QorvoTestPLLLockNotification: Describable {}
extension QorvoTestRTCNotification: Describable {}

extension Describable where Self: QorvoTestResults {
  func describe(_ context: DescriptionContext) -> [Field] {
    results.map { Field(Self.names[$0.id] ?? "result_\(hex($0.id))", $0.plainValue) }
  }
}

extension QorvoBeginTransaction: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [Field("option", .choice(option, Self.names))]
  }
}

extension QorvoEndTransaction: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [Field("option", .choice(option, Self.names))]
  }
}
