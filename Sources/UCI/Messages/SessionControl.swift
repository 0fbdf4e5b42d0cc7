// SPDX-License-Identifier: Apache-2.0

/// SESSION_START (FiRa 1.x: RANGE_START). OK means accepted; SESSION_STATUS_NTF says what became
/// of it.
public struct SessionStart: SessionTokenCommand, Hashable {
  public typealias Response = StatusResponse
  public static let opcode = Opcode.sessionStart
  public var sessionToken: UInt32
  public init(sessionToken: UInt32) { self.sessionToken = sessionToken }
}

/// SESSION_STOP (FiRa 1.x: RANGE_STOP).
public struct SessionStop: SessionTokenCommand, Hashable {
  public typealias Response = StatusResponse
  public static let opcode = Opcode.sessionStop
  public static let isIdempotent = true
  public var sessionToken: UInt32
  public init(sessionToken: UInt32) { self.sessionToken = sessionToken }
}

/// SESSION_GET_RANGING_COUNT.
public struct GetRangingCount: SessionTokenCommand, Hashable {
  public typealias Response = RangingCountResponse
  public static let opcode = Opcode.sessionGetRangingCount
  public static let isIdempotent = true
  public var sessionToken: UInt32
  public init(sessionToken: UInt32) { self.sessionToken = sessionToken }
}

/// SESSION_GET_RANGING_COUNT_RSP.
public struct RangingCountResponse: UCIResponse, Hashable {
  public var status: Status
  /// Ranging rounds attempted since the start.
  public var count: UInt32?

  public init(status: Status, count: UInt32?) {
    self.status = status
    self.count = count
  }

  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    status = Status(rawValue: try reader.u8("status"))
    count = reader.remaining >= 4 ? try reader.u32("ranging count") : nil
  }
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(status.rawValue)
    if let count { writer.u32(count) }
  }
}
