// SPDX-License-Identifier: Apache-2.0

/// TEST_CONFIG_SET: parameters of the radio tests, in a session of type 0xD0.
public struct TestConfigSet: SetParametersCommand, Hashable {
  /// What the chip answers.
  public typealias Response = ConfigurationResponse
  /// Group and opcode.
  public static let opcode = Opcode(.test, 0x00)

  /// What names the session.
  public var sessionToken: UInt32
  /// What to set, at most 255; their numbers are those of `TestConfigID`.
  public var parameters: [TLV]

  /// From its fields.
  public init(sessionToken: UInt32, parameters: [TLV]) {
    self.sessionToken = sessionToken
    self.parameters = parameters
  }
}

/// TEST_CONFIG_GET.
public struct TestConfigGet: GetParametersCommand, Hashable {
  /// What the chip answers.
  public typealias Response = TLVListResponse
  /// Group and opcode.
  public static let opcode = Opcode(.test, 0x01)

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
