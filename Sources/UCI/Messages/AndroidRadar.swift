// SPDX-License-Identifier: Apache-2.0

/// A parameter of a radar session in Android's vendor group, by its number on the wire.
public struct RadarConfigID: RawRepresentable, Hashable, Sendable {
  /// The number.
  public let rawValue: UInt8
  /// Any number.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// For example `SAMPLES_PER_SWEEP`; `RADAR_CONFIG_0x20` where there is no name.
  public var name: String {
    let names = [
      "TIMING_PARAMS", "SAMPLES_PER_SWEEP", "CHANNEL_NUMBER", "SWEEP_OFFSET", "RFRAME_CONFIG",
      "PREAMBLE_DURATION", "PREAMBLE_CODE_INDEX", "SESSION_PRIORITY", "BITS_PER_SAMPLE",
      "PRF_MODE", "NUMBER_OF_BURSTS", "RADAR_DATA_TYPE",
    ]
    return rawValue < names.count ? names[Int(rawValue)] : "RADAR_CONFIG_\(hex(rawValue))"
  }
}

/// RADAR_SET_APP_CONFIG of Android's vendor group.
public struct AndroidRadarSetAppConfig: SetParametersCommand, Hashable {
  /// What the chip answers.
  public typealias Response = ConfigurationResponse
  /// Group and opcode.
  public static let opcode = Opcode(.android, 0x11)

  /// What names the session.
  public var sessionToken: UInt32
  /// What to set, at most 255; their numbers are those of `RadarConfigID`.
  public var parameters: [TLV]

  /// From its fields.
  public init(sessionToken: UInt32, parameters: [TLV]) {
    self.sessionToken = sessionToken
    self.parameters = parameters
  }
}

/// RADAR_GET_APP_CONFIG of Android's vendor group.
public struct AndroidRadarGetAppConfig: GetParametersCommand, Hashable {
  /// What the chip answers.
  public typealias Response = TLVListResponse
  /// Group and opcode.
  public static let opcode = Opcode(.android, 0x12)

  /// What names the session.
  public var sessionToken: UInt32
  /// Which parameters to read, at most 255.
  public var ids: [UInt8]

  /// From its fields.
  public init(sessionToken: UInt32, ids: [UInt8]) {
    self.sessionToken = sessionToken
    self.ids = ids
  }
}

extension FieldValue {
  /// Parameters of a radar session by name.
  static func radarConfig(_ parameters: [TLV]) -> FieldValue {
    .list(
      parameters.map { tlv in
        .object([
          Field("name", .text(RadarConfigID(rawValue: tlv.id).name)), Field("id", .number(tlv.id)),
          Field("value", tlv.plainValue),
        ])
      })
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
