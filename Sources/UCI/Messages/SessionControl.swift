// SPDX-License-Identifier: Apache-2.0

/// SESSION_START (FiRa 1.x: RANGE_START). OK means accepted; SESSION_STATUS_NTF says what became
/// of it.
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

/// SESSION_GET_RANGING_COUNT.
package struct GetRangingCount: SessionTokenCommand, Hashable {
  package typealias Response = RangingCountResponse
  package static let opcode = Opcode.sessionGetRangingCount
  package static let isIdempotent = true
  package var sessionToken: UInt32 = 0
  package init() {}
}

/// SESSION_GET_RANGING_COUNT_RSP.
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
package struct RoleChangeNotification: UCINotification, Hashable {
  package static let opcode = Opcode.sessionRoleChange

  package var sessionToken: UInt32 = 0
  /// The new role. The inverse of the parameter DEVICE_ROLE.
  package var role: UInt8 = 0

  package init() {}

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("session", &sessionToken)
    try coder.field("role", &role, .names(["INITIATOR", "RESPONDER"]))
  }
}
