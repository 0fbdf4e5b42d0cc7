// SPDX-License-Identifier: Apache-2.0

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
