// SPDX-License-Identifier: Apache-2.0

/// SESSION_INIT.
public struct SessionInit: UCICommand, Hashable {
  public typealias Response = SessionInitResponse
  public static let opcode = Opcode.sessionInit

  /// Chosen by the host. Must be the same on both peers: it enters the key derivation on the air.
  public var sessionID: UInt32
  public var type: SessionType

  public init(sessionID: UInt32, type: SessionType = .ranging) {
    self.sessionID = sessionID
    self.type = type
  }

  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    sessionID = try reader.u32("session id")
    type = SessionType(rawValue: try reader.u8("session type"))
  }
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u32(sessionID)
    writer.u8(type.rawValue)
  }
}

/// SESSION_INIT_RSP.
public struct SessionInitResponse: UCIResponse, Hashable {
  public var status: Status
  /// FiRa 2.0 and later: what names the session from now on. Absent in 1.x, in error responses and
  /// on chips that say 2.0 but speak 1.x.
  public var handle: UInt32?

  public init(status: Status, handle: UInt32?) {
    self.status = status
    self.handle = handle
  }

  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    status = Status(rawValue: try reader.u8("status"))
    handle = reader.remaining >= 4 ? try reader.u32("session handle") : nil
  }
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(status.rawValue)
    if let handle { writer.u32(handle) }
  }
}

/// A command whose payload is the token of a session: its id in FiRa 1.x, its handle since 2.0.
public protocol SessionTokenCommand: UCICommand {
  var sessionToken: UInt32 { get }
  init(sessionToken: UInt32)
}

extension SessionTokenCommand {
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    self.init(sessionToken: try reader.u32("session token"))
  }
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u32(sessionToken)
  }
}

/// SESSION_DEINIT. Allowed in every state; stops a session that is ranging.
public struct SessionDeinit: SessionTokenCommand, Hashable {
  public typealias Response = StatusResponse
  public static let opcode = Opcode.sessionDeinit
  public var sessionToken: UInt32
  public init(sessionToken: UInt32) { self.sessionToken = sessionToken }
}

/// SESSION_STATUS_NTF: sent on every change of state, and authoritative.
public struct SessionStatusNotification: UCINotification, Hashable {
  public static let opcode = Opcode.sessionStatus

  public var sessionToken: UInt32
  public var state: SessionState
  public var reason: StateChangeReason

  public init(sessionToken: UInt32, state: SessionState, reason: StateChangeReason) {
    self.sessionToken = sessionToken
    self.state = state
    self.reason = reason
  }

  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    sessionToken = try reader.u32("session token")
    state = SessionState(rawValue: try reader.u8("session state"))
    reason = StateChangeReason(rawValue: try reader.u8("reason"))
  }
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u32(sessionToken)
    writer.u8(state.rawValue)
    writer.u8(reason.rawValue)
  }
}

/// SESSION_SET_APP_CONFIG.
public struct SetAppConfig: UCICommand, Hashable {
  public typealias Response = ConfigurationResponse
  public static let opcode = Opcode.sessionSetAppConfig
  public static let isIdempotent = true

  public var sessionToken: UInt32
  public var parameters: [TLV]

  public init(sessionToken: UInt32, parameters: [TLV]) {
    self.sessionToken = sessionToken
    self.parameters = parameters
  }

  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    sessionToken = try reader.u32("session token")
    parameters = try reader.tlvs("parameters")
  }
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u32(sessionToken)
    writer.tlvs(parameters)
  }
}

/// SESSION_GET_APP_CONFIG.
public struct GetAppConfig: UCICommand, Hashable {
  public typealias Response = TLVListResponse
  public static let opcode = Opcode.sessionGetAppConfig
  public static let isIdempotent = true

  public var sessionToken: UInt32
  /// Empty asks some firmwares for all of them.
  public var ids: [UInt8]

  public init(sessionToken: UInt32, ids: [UInt8]) {
    self.sessionToken = sessionToken
    self.ids = ids
  }

  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    sessionToken = try reader.u32("session token")
    let count = try reader.u8("id count")
    ids = try reader.octets(Int(count), "ids")
  }
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u32(sessionToken)
    writer.u8(UInt8(ids.count))
    writer.octets(ids)
  }
}

/// SESSION_GET_COUNT.
public struct GetSessionCount: EmptyCommand, Hashable {
  public typealias Response = SessionCountResponse
  public static let opcode = Opcode.sessionGetCount
  public init() {}
}

/// SESSION_GET_COUNT_RSP.
public struct SessionCountResponse: UCIResponse, Hashable {
  public var status: Status
  public var count: UInt8?

  public init(status: Status, count: UInt8?) {
    self.status = status
    self.count = count
  }

  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    status = Status(rawValue: try reader.u8("status"))
    count = reader.remaining > 0 ? try reader.u8("session count") : nil
  }
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(status.rawValue)
    if let count { writer.u8(count) }
  }
}

/// SESSION_GET_STATE.
public struct GetSessionState: SessionTokenCommand, Hashable {
  public typealias Response = SessionStateResponse
  public static let opcode = Opcode.sessionGetState
  public static let isIdempotent = true
  public var sessionToken: UInt32
  public init(sessionToken: UInt32) { self.sessionToken = sessionToken }
}

/// SESSION_GET_STATE_RSP.
public struct SessionStateResponse: UCIResponse, Hashable {
  public var status: Status
  public var state: SessionState?

  public init(status: Status, state: SessionState?) {
    self.status = status
    self.state = state
  }

  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    status = Status(rawValue: try reader.u8("status"))
    state = reader.remaining > 0 ? SessionState(rawValue: try reader.u8("session state")) : nil
  }
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(status.rawValue)
    if let state { writer.u8(state.rawValue) }
  }
}
