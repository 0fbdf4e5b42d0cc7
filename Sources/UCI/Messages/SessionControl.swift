// SPDX-License-Identifier: Apache-2.0

/// SESSION_START (FiRa 1.x: RANGE_START). OK means accepted; SESSION_STATUS_NTF says what became
/// of it.
public struct SessionStart: SessionTokenCommand, Hashable {
  /// What the chip answers.
  public typealias Response = StatusResponse
  /// Group and opcode.
  public static let opcode = Opcode.sessionStart
  /// What names the session: its id in FiRa 1.x, its handle since 2.0.
  public var sessionToken: UInt32
  /// For the session named by this token.
  public init(sessionToken: UInt32) { self.sessionToken = sessionToken }
}

/// SESSION_STOP (FiRa 1.x: RANGE_STOP).
public struct SessionStop: SessionTokenCommand, Hashable {
  /// What the chip answers.
  public typealias Response = StatusResponse
  /// Group and opcode.
  public static let opcode = Opcode.sessionStop
  /// Sending it again changes nothing more.
  public static let isIdempotent = true
  /// What names the session: its id in FiRa 1.x, its handle since 2.0.
  public var sessionToken: UInt32
  /// For the session named by this token.
  public init(sessionToken: UInt32) { self.sessionToken = sessionToken }
}

/// SESSION_GET_RANGING_COUNT.
public struct GetRangingCount: SessionTokenCommand, Hashable {
  /// What the chip answers.
  public typealias Response = RangingCountResponse
  /// Group and opcode.
  public static let opcode = Opcode.sessionGetRangingCount
  /// Sending it again changes nothing more.
  public static let isIdempotent = true
  /// What names the session: its id in FiRa 1.x, its handle since 2.0.
  public var sessionToken: UInt32
  /// For the session named by this token.
  public init(sessionToken: UInt32) { self.sessionToken = sessionToken }
}

/// SESSION_GET_RANGING_COUNT_RSP.
public struct RangingCountResponse: UCIResponse, Hashable {
  /// Whether the chip did what it was asked.
  public var status: Status
  /// Ranging rounds attempted since the start.
  public var count: UInt32?

  /// From its fields; nil for what the response leaves out.
  public init(status: Status, count: UInt32?) {
    self.status = status
    self.count = count
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    status = Status(rawValue: try reader.u8("status"))
    count = reader.remaining >= 4 ? try reader.u32("ranging count") : nil
  }
  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(status.rawValue)
    if let count { writer.u32(count) }
  }
}

/// SESSION_ROLE_CHANGE_NTF, FiRa 3.0.
public struct RoleChangeNotification: UCINotification, Hashable {
  /// Group and opcode.
  public static let opcode = Opcode.sessionRoleChange

  /// What names the session.
  public var sessionToken: UInt32
  /// The new role: 0 initiator, 1 responder. The inverse of the parameter DEVICE_ROLE.
  public var role: UInt8

  /// From its fields.
  public init(sessionToken: UInt32, role: UInt8) {
    self.sessionToken = sessionToken
    self.role = role
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    sessionToken = try reader.u32("session token")
    role = try reader.u8("role")
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u32(sessionToken)
    writer.u8(role)
  }
}
