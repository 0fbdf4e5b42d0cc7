// SPDX-License-Identifier: Apache-2.0

/// SESSION_UPDATE_CONTROLLER_MULTICAST_LIST: adds controlees to a one-to-many session or removes
/// them from it.
public struct UpdateMulticastList: UCICommand, Hashable {
  package typealias Response = MulticastListResponse
  package static let opcode = Opcode.sessionUpdateMulticastList
  // The byte after the token, because the length of the entries depends on the action, which may be
  // unknown.
  package static let firstKeyByte: Int? = 4

  /// The change of the list.
  package struct Action: RawRepresentable, Hashable, Sendable {
    package var rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let add = Action(rawValue: 0)
    package static let remove = Action(rawValue: 1)
    /// Adds the controlees, each with a sub-session key of 16 bytes. FiRa 2.0.
    package static let addWithShortKey = Action(rawValue: 2)
    /// Adds the controlees, each with a sub-session key of 32 bytes. FiRa 2.0.
    package static let addWithLongKey = Action(rawValue: 3)

    /// The bytes of the key in each controlee; nil for unknown actions.
    package var keyLength: Int? {
      switch self {
      case .add, .remove: 0
      case .addWithShortKey: 16
      case .addWithLongKey: 32
      default: nil
      }
    }
  }

  /// A controlee to be added or removed.
  public struct Controlee: Hashable, Sendable {
    /// The short address; the command has no form for extended addresses.
    public var address: UInt16
    /// The id of the sub-session; 0 without sub-sessions.
    public var subSessionID: UInt32
    /// The sub-session key, a secret whose length the action determines; empty for actions without
    /// keys.
    public var key: [UInt8]

    /// Creates a controlee from its address.
    public init(address: UInt16, subSessionID: UInt32 = 0, key: [UInt8] = []) {
      (self.address, self.subSessionID, self.key) = (address, subSessionID, key)
    }
  }

  package var sessionToken: UInt32 = 0
  package var action = Action.add
  /// The controlees, at most 255. The action determines the length of their keys.
  package var controlees: [Controlee] = []

  package init() {}
  package init(sessionToken: UInt32, action: Action, controlees: [Controlee]) {
    (self.sessionToken, self.action, self.controlees) = (sessionToken, action, controlees)
  }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("session", &sessionToken)
    try coder.field(
      "action", &action.rawValue,
      .names([
        "ADD", "REMOVE", "ADD_WITH_SHORT_SUB_SESSION_KEY", "ADD_WITH_LONG_SUB_SESSION_KEY",
      ]))
    let action = action
    var count = UInt8(controlees.count)
    try coder.field("count", &count, .hidden)
    try coder.require(action.keyLength != nil, "action", "\(hex(action.rawValue)) is not known")
    try coder.list(
      "controlees", &controlees, .exactly(Int(count)), blank: Controlee(address: 0)
    ) { c, controlee throws(PayloadError) in
      try c.field("mac", &controlee.address, .shortAddress)
      try c.field("sub_session_id", &controlee.subSessionID)
      if let length = action.keyLength, length > 0 {
        try c.bytes("key", &controlee.key, .exactly(length), .secret)
      }
    }
  }
}

/// A controlee with the chip's result.
public struct ControleeStatus: Hashable, Sendable {
  /// The short address of the controlee.
  public var address: UInt16
  /// The id of the sub-session, in notifications of FiRa 1.x only.
  public var subSessionID: UInt32?
  /// The result for the controlee.
  public var status: MulticastStatus

  package init(address: UInt16, status: MulticastStatus, subSessionID: UInt32? = nil) {
    (self.address, self.status, self.subSessionID) = (address, status, subSessionID)
  }
}

extension FieldCoder where Self: ~Escapable {
  @_lifetime(self: copy self)
  fileprivate mutating func controlees(
    _ list: inout [ControleeStatus], withSubSessionID: Bool
  ) throws(PayloadError) {
    try self.list(
      "controlees", &list, .u8, blank: ControleeStatus(address: 0, status: .ok)
    ) { c, controlee throws(PayloadError) in
      try c.field("mac", &controlee.address, .shortAddress)
      try c.optional(
        "sub_session_id", &controlee.subSessionID, if: withSubSessionID, absent: .omitted)
      try c.code("status", &controlee.status)
    }
  }
}

/// SESSION_UPDATE_CONTROLLER_MULTICAST_LIST_RSP.
package struct MulticastListResponse: UCIResponse, Hashable {
  package var status = Status.ok
  /// The results; nil in FiRa 1.x. Since 2.0 many chips list only failures, and only if there are
  /// any.
  package var controlees: [ControleeStatus]?

  package init() {}

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.code("status", &status)
    try coder.afterStatus(status, &controlees) { c, list throws(PayloadError) in
      try c.controlees(&list, withSubSessionID: false)
    }
  }
}

/// SESSION_UPDATE_CONTROLLER_MULTICAST_LIST_NTF. FiRa 1.x sends it after every command, 2.0 only
/// for removals from a session that is ranging.
package struct MulticastListNotification: UCINotification, Hashable {
  package static let opcode = Opcode.sessionUpdateMulticastList

  package var sessionToken: UInt32 = 0
  /// The number of remaining controlees in FiRa 1.x. Nil since 2.0, where entries have no
  /// sub-session id.
  package var remaining: UInt8?
  package var controlees: [ControleeStatus] = []

  package init() {}

  // Some chips send the form of another version, so the length decides. The version decides only if
  // both forms are possible.
  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("session", &sessionToken)
    var isOlder = remaining != nil
    let forms = coder.dialect.generation == .fira1 ? [true, false] : [false, true]
    var (remaining, controlees) = (remaining, controlees)
    try coder.form(&isOlder, oneOf: forms) { c, isOlder throws(PayloadError) in
      try c.optional("remaining", &remaining, if: isOlder, absent: .omitted)
      try c.controlees(&controlees, withSubSessionID: isOlder)
    }
    (self.remaining, self.controlees) = (remaining, controlees)
  }
}
