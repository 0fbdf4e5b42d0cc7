// SPDX-License-Identifier: Apache-2.0

/// A parameter of the radio tests, by its number on the wire.
public struct TestConfigID: RawRepresentable, Hashable, Sendable {
  /// The number.
  public let rawValue: UInt8
  /// Any number.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// For example `NUM_PACKETS`; `TEST_CONFIG_0x20` where there is no name.
  public var name: String {
    let names = [
      "NUM_PACKETS", "T_GAP", "T_START", "T_WIN", "RANDOMIZE_PSDU", "PHR_RANGING_BIT",
      "RMARKER_TX_START", "RMARKER_RX_START", "STS_INDEX_AUTO_INCR", "STS_DETECT_BITMAP",
    ]
    return rawValue < names.count ? names[Int(rawValue)] : "TEST_CONFIG_\(hex(rawValue))"
  }
}

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
