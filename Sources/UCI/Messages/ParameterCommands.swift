// SPDX-License-Identifier: Apache-2.0

/// A command that sets parameters of a session: its token and the parameters.
public protocol SetParametersCommand: UCICommand where Response == ConfigurationResponse {
  /// What names the session: its id in FiRa 1.x, its handle since 2.0.
  var sessionToken: UInt32 { get }
  /// What to set, at most 255, in the order in which the chip shall read them.
  var parameters: [TLV] { get }
  /// From its fields.
  init(sessionToken: UInt32, parameters: [TLV])
}

extension SetParametersCommand {
  /// Sending it again changes nothing more.
  public static var isIdempotent: Bool { true }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    let token = try reader.u32("session token")
    self.init(sessionToken: token, parameters: try reader.tlvs("parameters", longIDsFirst: false))
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u32(sessionToken)
    writer.tlvs(parameters)
  }
}

/// A command that reads parameters of a session: its token and their numbers.
public protocol GetParametersCommand: UCICommand where Response == TLVListResponse {
  /// What names the session: its id in FiRa 1.x, its handle since 2.0.
  var sessionToken: UInt32 { get }
  /// Which parameters to read, at most 255.
  var ids: [UInt8] { get }
  /// From its fields.
  init(sessionToken: UInt32, ids: [UInt8])
}

extension GetParametersCommand {
  /// Asking again changes nothing.
  public static var isIdempotent: Bool { true }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    let token = try reader.u32("session token")
    self.init(sessionToken: token, ids: try reader.counted("ids"))
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u32(sessionToken)
    writer.counted(ids)
  }
}
