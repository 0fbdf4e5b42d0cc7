// SPDX-License-Identifier: Apache-2.0

/// GET_POWER_STATS of Android's vendor group.
struct AndroidGetPowerStats: EmptyCommand, Hashable {
  typealias Response = BodyResponse<AndroidPowerStats>
  static let opcode = Opcode(.android, 0x00)
}

/// GET_POWER_STATS_RSP of Android's vendor group: the times that the chip spent in each state since
/// power-on.
struct AndroidPowerStats: ResponseBody {
  var idleMilliseconds: UInt32 = 0
  var txMilliseconds: UInt32 = 0
  var rxMilliseconds: UInt32 = 0
  var wakeCount: UInt32 = 0

  mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("idle_ms", &idleMilliseconds)
    try coder.field("tx_ms", &txMilliseconds)
    try coder.field("rx_ms", &rxMilliseconds)
    try coder.field("wake_count", &wakeCount)
  }
}

/// SET_COUNTRY_CODE of Android's vendor group: the country whose rules the radio has to follow.
struct AndroidSetCountryCode: UCICommand, Hashable {
  static let opcode = Opcode(.android, 0x01)
  static let isIdempotent = true

  /// Two bytes: the letters of ISO 3166-1 in ASCII, or `00` if unknown.
  var country: [UInt8] = [0x30, 0x30]

  mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.bytes("country", &country, .exactly(2), .text)
  }
}

/// RADAR_SET_APP_CONFIG of Android's vendor group.
struct AndroidRadarSetAppConfig: SetParametersCommand, Hashable {
  static let opcode = Opcode(.android, 0x11)
  static let space = ParameterSpace.radar
  var sessionToken: UInt32 = 0
  var parameters: [TLV] = []
}

/// RADAR_GET_APP_CONFIG of Android's vendor group.
struct AndroidRadarGetAppConfig: GetParametersCommand, Hashable {
  static let opcode = Opcode(.android, 0x12)
  static let space = ParameterSpace.radar
  var sessionToken: UInt32 = 0
  var ids: [UInt8] = []
}
