// SPDX-License-Identifier: Apache-2.0

// NXP's own parameters of sessions, group 0xF. Source: NXP's published host code.

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

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    sessionToken = try reader.u32("session token")
    parameters = try reader.tlvs("parameters")
  }
}

/// GET_VENDOR_APP_CONFIG of NXP's group 0xF.
public struct NXPGetAppConfig: GetParametersCommand, Hashable {
  /// What the chip answers.
  public typealias Response = NXPAppConfigResponse
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

/// GET_VENDOR_APP_CONFIG_RSP of NXP's group 0xF.
public struct NXPAppConfigResponse: UCIResponse, Hashable {
  /// Whether the chip did what it was asked.
  public var status: Status
  /// nil where the response ends behind its status.
  public var parameters: [TLV]?

  /// From its fields; nil for what the response leaves out.
  public init(status: Status, parameters: [TLV]?) {
    self.status = status
    self.parameters = parameters
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    status = Status(rawValue: try reader.u8("status"))
    guard reader.remaining > 0 else { return }
    var attempt = reader
    do throws(PayloadError) {
      parameters = try attempt.tlvs("parameters")
      reader = attempt
    } catch {
      // An error may be followed by a stray octet.
      guard status != .ok else { throw error }
    }
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(status.rawValue)
    if let parameters { writer.tlvs(parameters) }
  }
}

extension NXPSetAppConfig: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [Field("session", .number(sessionToken)), Field("parameters", .nxpAppConfig(parameters))]
  }
}

extension NXPGetAppConfig: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [
      Field("session", .number(sessionToken)),
      Field("parameters", .list(ids.map { .text(NXPAppConfigID(rawValue: $0).name) })),
    ]
  }
}

extension NXPAppConfigResponse: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    parameters.map { [Field("parameters", .nxpAppConfig($0))] } ?? []
  }
}
