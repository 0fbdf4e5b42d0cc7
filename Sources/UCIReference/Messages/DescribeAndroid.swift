// SPDX-License-Identifier: Apache-2.0

package import UCI

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

extension AndroidRadarSetAppConfig: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [Field("session", .number(sessionToken)), Field("parameters", .radarConfig(parameters))]
  }
}

extension AndroidRadarGetAppConfig: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [
      Field("session", .number(sessionToken)),
      Field("parameters", .list(ids.map { .text(RadarConfigID(rawValue: $0).name) })),
    ]
  }
}
