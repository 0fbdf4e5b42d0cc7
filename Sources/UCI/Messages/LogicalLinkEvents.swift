// SPDX-License-Identifier: Apache-2.0

/// LOGICAL_LINK_CREATE_NTF, FiRa 3.0: what became of a link the host asked for.
public struct LogicalLinkCreateNotification: UCINotification, Hashable {
  /// Group and opcode.
  public static let opcode = Opcode.logicalLinkCreate

  /// What names the link.
  public var connectionID: UInt32
  /// 0 accepted, 1 rejected, 2 connected (connection-oriented), 3 error.
  public var result: UInt8

  /// From its fields.
  public init(connectionID: UInt32, result: UInt8) {
    self.connectionID = connectionID
    self.result = result
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    connectionID = try reader.u32("connection id")
    result = try reader.u8("result")
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u32(connectionID)
    writer.u8(result)
  }
}

/// LOGICAL_LINK_UWBS_CLOSE_NTF, FiRa 3.0: the chip closed a link.
public struct LogicalLinkUWBSCloseNotification: UCINotification, Hashable {
  /// Group and opcode.
  public static let opcode = Opcode.logicalLinkUWBSClose

  /// What names the link.
  public var connectionID: UInt32
  /// 0 the peer asked for it, 1 timeout, 2 transmission error, 3 secure component, 4 unknown, 5 host.
  public var reason: UInt8

  /// From its fields.
  public init(connectionID: UInt32, reason: UInt8) {
    self.connectionID = connectionID
    self.reason = reason
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    connectionID = try reader.u32("connection id")
    reason = try reader.u8("reason")
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u32(connectionID)
    writer.u8(reason)
  }
}

/// LOGICAL_LINK_UWBS_CREATE_NTF, FiRa 3.0: a peer made a link.
public struct LogicalLinkUWBSCreateNotification: UCINotification, Hashable {
  /// Group and opcode.
  public static let opcode = Opcode.logicalLinkUWBSCreate

  /// What names the session.
  public var sessionToken: UInt32
  /// What names the link.
  public var connectionID: UInt32
  /// Which link layer; the values of LOGICAL_LINK_CREATE.
  public var selector: UInt8
  /// The address of the peer. A short one stands in the low 16 bits.
  public var source: UInt64

  /// From its fields.
  public init(sessionToken: UInt32, connectionID: UInt32, selector: UInt8, source: UInt64) {
    self.sessionToken = sessionToken
    self.connectionID = connectionID
    self.selector = selector
    self.source = source
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    sessionToken = try reader.u32("session token")
    connectionID = try reader.u32("connection id")
    selector = try reader.u8("link layer selector")
    source = try reader.u64("source")
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u32(sessionToken)
    writer.u32(connectionID)
    writer.u8(selector)
    writer.u64(source)
  }
}
