// SPDX-License-Identifier: Apache-2.0

/// SESSION_INIT.
public struct SessionInit: UCICommand, Hashable {
  /// What the chip answers.
  public typealias Response = SessionInitResponse
  /// Group and opcode.
  public static let opcode = Opcode.sessionInit

  /// Chosen by the host. Must be the same on both peers: it enters the key derivation on the air.
  public var sessionID: UInt32
  /// What the session is for.
  public var type: SessionType

  /// From its fields.
  public init(sessionID: UInt32, type: SessionType = .ranging) {
    self.sessionID = sessionID
    self.type = type
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    sessionID = try reader.u32("session id")
    type = SessionType(rawValue: try reader.u8("session type"))
  }
  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u32(sessionID)
    writer.u8(type.rawValue)
  }
}

/// SESSION_INIT_RSP.
public struct SessionInitResponse: UCIResponse, Hashable {
  /// Whether the chip did what it was asked.
  public var status: Status
  /// FiRa 2.0 and later: what names the session from now on. Absent in 1.x, in error responses and
  /// on chips that say 2.0 but speak 1.x.
  public var handle: UInt32?

  /// From its fields; nil for what the response leaves out.
  public init(status: Status, handle: UInt32?) {
    self.status = status
    self.handle = handle
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    status = Status(rawValue: try reader.u8("status"))
    handle = reader.remaining >= 4 ? try reader.u32("session handle") : nil
  }
  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(status.rawValue)
    if let handle { writer.u32(handle) }
  }
}

/// A command whose payload is the token of a session: its id in FiRa 1.x, its handle since 2.0.
public protocol SessionTokenCommand: UCICommand {
  /// What names the session: its id in FiRa 1.x, its handle since 2.0.
  var sessionToken: UInt32 { get }
  init(sessionToken: UInt32)
}

extension SessionTokenCommand {
  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    self.init(sessionToken: try reader.u32("session token"))
  }
  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u32(sessionToken)
  }
}

/// SESSION_DEINIT. Allowed in every state; stops a session that is ranging.
public struct SessionDeinit: SessionTokenCommand, Hashable {
  /// What the chip answers.
  public typealias Response = StatusResponse
  /// Group and opcode.
  public static let opcode = Opcode.sessionDeinit
  /// What names the session: its id in FiRa 1.x, its handle since 2.0.
  public var sessionToken: UInt32
  /// For the session named by this token.
  public init(sessionToken: UInt32) { self.sessionToken = sessionToken }
}

/// SESSION_STATUS_NTF: sent on every change of state, and authoritative.
public struct SessionStatusNotification: UCINotification, Hashable {
  /// Group and opcode.
  public static let opcode = Opcode.sessionStatus

  /// What names the session: its id in FiRa 1.x, its handle since 2.0.
  public var sessionToken: UInt32
  /// The state of the session.
  public var state: SessionState
  /// Why the state changed.
  public var reason: StateChangeReason

  /// From its fields.
  public init(sessionToken: UInt32, state: SessionState, reason: StateChangeReason) {
    self.sessionToken = sessionToken
    self.state = state
    self.reason = reason
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    sessionToken = try reader.u32("session token")
    state = SessionState(rawValue: try reader.u8("session state"))
    reason = StateChangeReason(rawValue: try reader.u8("reason"))
  }
  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u32(sessionToken)
    writer.u8(state.rawValue)
    writer.u8(reason.rawValue)
  }
}

/// SESSION_SET_APP_CONFIG.
public struct SetAppConfig: SetParametersCommand, Hashable {
  /// What the chip answers.
  public typealias Response = ConfigurationResponse
  /// Group and opcode.
  public static let opcode = Opcode.sessionSetAppConfig

  /// What names the session: its id in FiRa 1.x, its handle since 2.0.
  public var sessionToken: UInt32
  /// What to set, at most 255, in the order in which the chip shall read them.
  public var parameters: [TLV]

  /// From its fields.
  public init(sessionToken: UInt32, parameters: [TLV]) {
    self.sessionToken = sessionToken
    self.parameters = parameters
  }
}

/// SESSION_GET_APP_CONFIG.
public struct GetAppConfig: GetParametersCommand, Hashable {
  /// What the chip answers.
  public typealias Response = TLVListResponse
  /// Group and opcode.
  public static let opcode = Opcode.sessionGetAppConfig

  /// What names the session: its id in FiRa 1.x, its handle since 2.0.
  public var sessionToken: UInt32
  /// Empty asks some firmwares for all of them.
  public var ids: [UInt8]

  /// From its fields.
  public init(sessionToken: UInt32, ids: [UInt8]) {
    self.sessionToken = sessionToken
    self.ids = ids
  }
}

/// SESSION_GET_COUNT.
public struct GetSessionCount: EmptyCommand, Hashable {
  /// What the chip answers.
  public typealias Response = SessionCountResponse
  /// Group and opcode.
  public static let opcode = Opcode.sessionGetCount
  /// There is nothing to give.
  public init() {}
}

/// SESSION_GET_COUNT_RSP.
public struct SessionCountResponse: UCIResponse, Hashable {
  /// Whether the chip did what it was asked.
  public var status: Status
  /// Sessions that exist; nil where the response ends behind its status.
  public var count: UInt8?

  /// From its fields; nil for what the response leaves out.
  public init(status: Status, count: UInt8?) {
    self.status = status
    self.count = count
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    status = Status(rawValue: try reader.u8("status"))
    count = reader.remaining > 0 ? try reader.u8("session count") : nil
  }
  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(status.rawValue)
    if let count { writer.u8(count) }
  }
}

/// SESSION_GET_STATE.
public struct GetSessionState: SessionTokenCommand, Hashable {
  /// What the chip answers.
  public typealias Response = SessionStateResponse
  /// Group and opcode.
  public static let opcode = Opcode.sessionGetState
  /// Sending it again changes nothing more.
  public static let isIdempotent = true
  /// What names the session: its id in FiRa 1.x, its handle since 2.0.
  public var sessionToken: UInt32
  /// For the session named by this token.
  public init(sessionToken: UInt32) { self.sessionToken = sessionToken }
}

/// SESSION_GET_STATE_RSP.
public struct SessionStateResponse: UCIResponse, Hashable {
  /// Whether the chip did what it was asked.
  public var status: Status
  /// The state of the session.
  public var state: SessionState?

  /// From its fields; nil for what the response leaves out.
  public init(status: Status, state: SessionState?) {
    self.status = status
    self.state = state
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    status = Status(rawValue: try reader.u8("status"))
    state = reader.remaining > 0 ? SessionState(rawValue: try reader.u8("session state")) : nil
  }
  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(status.rawValue)
    if let state { writer.u8(state.rawValue) }
  }
}
