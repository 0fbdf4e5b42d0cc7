// SPDX-License-Identifier: Apache-2.0

// NXP's own parameters of sessions, group 0xF. Source: the commands of
// nxp-appcodehub/an-sr250-uwb-plug-and-play-demo; NXP's UWBIoT API Reference Guide.

/// SET_VENDOR_APP_CONFIG of NXP's group 0xF.
public struct NXPSetAppConfig: SetParametersCommand, Hashable {
  /// What the chip answers.
  public typealias Response = ConfigurationResponse
  /// Group and opcode.
  public static let opcode = Opcode(GroupID(rawValue: 0xF), 0x00)

  /// What names the session.
  public var sessionToken: UInt32
  /// What to set, at most 255; their numbers are those of `NXPAppConfigID`.
  public var parameters: [TLV]

  /// From its fields.
  public init(sessionToken: UInt32, parameters: [TLV]) {
    self.sessionToken = sessionToken
    self.parameters = parameters
  }
}

/// GET_VENDOR_APP_CONFIG of NXP's group 0xF.
public struct NXPGetAppConfig: GetParametersCommand, Hashable {
  /// What the chip answers.
  public typealias Response = TLVListResponse
  /// Group and opcode.
  public static let opcode = Opcode(GroupID(rawValue: 0xF), 0x03)

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
