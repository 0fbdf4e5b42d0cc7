// SPDX-License-Identifier: Apache-2.0

extension Opcode {
  /// LOGICAL_LINK_CREATE, since FiRa 3.0.
  public static let logicalLinkCreate = Opcode(.sessionControl, 0x07)
  /// LOGICAL_LINK_CLOSE, since FiRa 3.0.
  public static let logicalLinkClose = Opcode(.sessionControl, 0x08)
  /// LOGICAL_LINK_UWBS_CLOSE, notification only, since FiRa 3.0.
  public static let logicalLinkUWBSClose = Opcode(.sessionControl, 0x09)
  /// LOGICAL_LINK_UWBS_CREATE, notification only, since FiRa 3.0.
  public static let logicalLinkUWBSCreate = Opcode(.sessionControl, 0x0A)
  /// LOGICAL_LINK_GET_PARAM, since FiRa 3.0.
  public static let logicalLinkGetParam = Opcode(.sessionControl, 0x0B)
}

/// LOGICAL_LINK_CREATE, FiRa 3.0: a link for data to a peer of a session.
public struct LogicalLinkCreate: UCICommand, Hashable {
  /// What the chip answers.
  public typealias Response = LogicalLinkCreateResponse
  /// Group and opcode.
  public static let opcode = Opcode.logicalLinkCreate

  /// What names the session.
  public var sessionToken: UInt32
  /// Which link layer: 0 connectionless, 1 the same and secure, 2 connection-oriented, 3 the same and
  /// secure, 4 connectionless and 5 connection-oriented within the chip, 0xB0 and 0xB1 proprietary.
  public var selector: UInt8
  /// The address of the peer. A short one stands in the low 16 bits.
  public var destination: UInt64
  /// Parameters of the link as they go on the wire, at most 255 bytes.
  public var parameters: [UInt8]

  /// From its fields.
  public init(sessionToken: UInt32, selector: UInt8, destination: UInt64, parameters: [UInt8] = [])
  {
    self.sessionToken = sessionToken
    self.selector = selector
    self.destination = destination
    self.parameters = parameters
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    sessionToken = try reader.u32("session token")
    selector = try reader.u8("link layer selector")
    destination = try reader.u64("destination")
    parameters = try reader.counted("link parameters")
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u32(sessionToken)
    writer.u8(selector)
    writer.u64(destination)
    writer.counted(parameters)
  }
}

/// LOGICAL_LINK_CREATE_RSP: the link is being made; LOGICAL_LINK_CREATE_NTF says what became of it.
public struct LogicalLinkCreateResponse: UCIResponse, Hashable {
  /// Whether the chip did what it was asked.
  public var status: Status
  /// What names the link; nil in error responses.
  public var connectionID: UInt32?

  /// From its fields; nil for what the response leaves out.
  public init(status: Status, connectionID: UInt32?) {
    self.status = status
    self.connectionID = connectionID
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    status = Status(rawValue: try reader.u8("status"))
    connectionID = reader.remaining >= 4 ? try reader.u32("connection id") : nil
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(status.rawValue)
    if let connectionID { writer.u32(connectionID) }
  }
}

/// LOGICAL_LINK_CLOSE, FiRa 3.0.
public struct LogicalLinkClose: UCICommand, Hashable {
  /// What the chip answers.
  public typealias Response = StatusResponse
  /// Group and opcode.
  public static let opcode = Opcode.logicalLinkClose

  /// What names the link.
  public var connectionID: UInt32

  /// For the link named by this id.
  public init(connectionID: UInt32) { self.connectionID = connectionID }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    connectionID = try reader.u32("connection id")
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u32(connectionID)
  }
}
