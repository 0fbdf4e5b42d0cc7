// SPDX-License-Identifier: Apache-2.0

/// GET_POWER_STATS of Android's vendor group.
package struct AndroidGetPowerStats: EmptyCommand, Hashable {
  package typealias Response = AndroidPowerStatsResponse
  package static let opcode = Opcode(.android, 0x00)
  package init() {}
}

/// GET_POWER_STATS_RSP of Android's vendor group.
package struct AndroidPowerStatsResponse: UCIResponse, Hashable {
  /// How long the chip was doing what since it was powered.
  package struct PowerStats: FieldGroup, Hashable, Sendable {
    package var idleMilliseconds: UInt32 = 0
    package var txMilliseconds: UInt32 = 0
    package var rxMilliseconds: UInt32 = 0
    package var wakeCount: UInt32 = 0

    package init() {}

    package mutating func visit<C: FieldCoder & ~Escapable>(
      _ coder: inout C
    ) throws(PayloadError) {
      try coder.field("idle_ms", &idleMilliseconds)
      try coder.field("tx_ms", &txMilliseconds)
      try coder.field("rx_ms", &rxMilliseconds)
      try coder.field("wake_count", &wakeCount)
    }
  }

  package var status = Status.ok
  /// Missing in error responses.
  package var stats: PowerStats?

  package init() {}

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.code("status", &status)
    try coder.afterStatus(status, &stats, isMandatory: true)
  }
}

/// SET_COUNTRY_CODE of Android's vendor group: which country's rules the radio has to follow.
package struct AndroidSetCountryCode: UCICommand, Hashable {
  package static let opcode = Opcode(.android, 0x01)
  package static let isIdempotent = true

  /// Two bytes: the letters of ISO 3166-1 in ASCII, or `00` where it is not known.
  package var country: [UInt8] = [0x30, 0x30]

  package init() {}

  /// From two ASCII characters; nil for anything else.
  package init?(_ country: String) {
    self.country = Array(country.utf8)
    guard self.country.count == 2, self.country.allSatisfy({ $0 < 0x80 }) else { return nil }
  }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.bytes("country", &country, .exactly(2), .text)
  }
}

/// RADAR_SET_APP_CONFIG of Android's vendor group.
package struct AndroidRadarSetAppConfig: SetParametersCommand, Hashable {
  package static let opcode = Opcode(.android, 0x11)
  package static let space = ParameterSpace.radar
  package var sessionToken: UInt32 = 0
  package var parameters: [TLV] = []
  package init() {}
}

/// RADAR_GET_APP_CONFIG of Android's vendor group.
package struct AndroidRadarGetAppConfig: GetParametersCommand, Hashable {
  package static let opcode = Opcode(.android, 0x12)
  package static let space = ParameterSpace.radar
  package var sessionToken: UInt32 = 0
  package var ids: [UInt8] = []
  package init() {}
}
