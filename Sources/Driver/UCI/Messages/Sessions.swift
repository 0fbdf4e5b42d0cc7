// SPDX-License-Identifier: Apache-2.0

package struct SessionInit: UCICommand, Hashable {
  package typealias Response = SessionInitResponse
  package static let opcode = Opcode.sessionInit

  /// Chosen by the host. Must be the same on both peers: it enters the key derivation on the air.
  package var sessionID: UInt32 = 0
  /// The type of the session.
  package var type = SessionType.ranging

  package init() {}
  package init(sessionID: UInt32, type: SessionType = .ranging) {
    (self.sessionID, self.type) = (sessionID, type)
  }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("session_id", &sessionID)
    try coder.code("type", &type)
  }
}

package struct SessionInitResponse: UCIResponse, Hashable {
  package var status = Status.ok
  /// FiRa 2.0 and later: the name of the session from now on. Absent in 1.x, in error responses and
  /// on chips that report 2.0 but implement 1.x.
  package var handle: UInt32?

  package init() {}
  package init(status: Status, handle: UInt32?) { (self.status, self.handle) = (status, handle) }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.code("status", &status)
    try coder.optional("handle", &handle)
  }
}

/// SESSION_DEINIT. Allowed in every state; stops a session that is ranging.
package struct SessionDeinit: SessionTokenCommand, Hashable {
  package static let opcode = Opcode.sessionDeinit
  package var sessionToken: UInt32 = 0
  package init() {}
}

/// SESSION_STATUS_NTF: sent on every change of state, and authoritative.
public struct SessionStatusNotification: UCINotification, Hashable {
  package static let opcode = Opcode.sessionStatus

  /// The token of the session: its id in FiRa 1.x, its handle since 2.0.
  public var sessionToken: UInt32 = 0
  /// The new state.
  public var state = SessionState.initialised
  /// The reason of the change.
  public var reason = StateChangeReason.managementCommand

  package init() {}
  package init(sessionToken: UInt32, state: SessionState, reason: StateChangeReason) {
    (self.sessionToken, self.state, self.reason) = (sessionToken, state, reason)
  }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("session", &sessionToken)
    try coder.code("state", &state)
    try coder.code("reason", &reason)
  }
}

package struct SetAppConfig: SetParametersCommand, Hashable {
  package static let opcode = Opcode.sessionSetAppConfig
  package static let space = ParameterSpace.app
  package static let firstKeyByte: Int? = 4
  package var sessionToken: UInt32 = 0
  package var parameters: [TLV] = []
  package init() {}
}

package struct GetAppConfig: GetParametersCommand, Hashable {
  package static let opcode = Opcode.sessionGetAppConfig
  package static let space = ParameterSpace.app
  package static let firstKeyByteOfResponse: Int? = 1
  package var sessionToken: UInt32 = 0
  package var ids: [UInt8] = []
  package init() {}
}

package struct GetSessionCount: EmptyCommand, Hashable {
  package typealias Response = SessionCountResponse
  package static let opcode = Opcode.sessionGetCount
  package init() {}
}

package struct SessionCountResponse: UCIResponse, Hashable {
  package var status = Status.ok
  /// Sessions that exist; nil where the response ends after its status.
  package var count: UInt8?

  package init() {}
  package init(status: Status, count: UInt8?) { (self.status, self.count) = (status, count) }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.code("status", &status)
    try coder.optional("count", &count)
  }
}

package struct GetSessionState: SessionTokenCommand, Hashable {
  package typealias Response = SessionStateResponse
  package static let opcode = Opcode.sessionGetState
  package static let isIdempotent = true
  package var sessionToken: UInt32 = 0
  package init() {}
}

package struct SessionStateResponse: UCIResponse, Hashable {
  package var status = Status.ok
  package var state: SessionState?

  package init() {}
  package init(status: Status, state: SessionState?) { (self.status, self.state) = (status, state) }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.code("status", &status)
    try coder.optional("state", &state)
  }
}

/// SESSION_START (FiRa 1.x: RANGE_START). OK only means accepted; SESSION_STATUS_NTF has the
/// result.
package struct SessionStart: SessionTokenCommand, Hashable {
  package static let opcode = Opcode.sessionStart
  package var sessionToken: UInt32 = 0
  package init() {}
}

/// SESSION_STOP (FiRa 1.x: RANGE_STOP).
package struct SessionStop: SessionTokenCommand, Hashable {
  package static let opcode = Opcode.sessionStop
  package static let isIdempotent = true
  package var sessionToken: UInt32 = 0
  package init() {}
}

package struct GetRangingCount: SessionTokenCommand, Hashable {
  package typealias Response = RangingCountResponse
  package static let opcode = Opcode.sessionGetRangingCount
  package static let isIdempotent = true
  package var sessionToken: UInt32 = 0
  package init() {}
}

package struct RangingCountResponse: UCIResponse, Hashable {
  package var status = Status.ok
  /// Ranging rounds attempted since the start.
  package var count: UInt32?

  package init() {}
  package init(status: Status, count: UInt32?) { (self.status, self.count) = (status, count) }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.code("status", &status)
    try coder.optional("count", &count)
  }
}

/// SESSION_ROLE_CHANGE_NTF, FiRa 3.0.
struct RoleChangeNotification: UCINotification, Hashable {
  static let opcode = Opcode(.sessionControl, 0x06)

  var sessionToken: UInt32 = 0
  /// The new role. The opposite numbers of the parameter DEVICE_ROLE.
  var role: UInt8 = 0

  mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("session", &sessionToken)
    try coder.field("role", &role, .names(["INITIATOR", "RESPONDER"]))
  }
}
