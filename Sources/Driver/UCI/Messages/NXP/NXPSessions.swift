// SPDX-License-Identifier: Apache-2.0

// Sessions in NXP's groups 0xE and 0xF and in the group of session control.

/// GET_ALL_UWB_SESSIONS of NXP's group 0xF.
///
/// Source: a published log of an SR250 (nxp-uwb/sr250-uwbiot-zephyr, demo_nearby_interaction).
struct NXPGetAllSessions: EmptyCommand, Hashable {
  typealias Response = NXPSessionsResponse
  static let opcode = Opcode(GroupID(rawValue: 0xF), 0x02)
}

/// GET_ALL_UWB_SESSIONS_RSP of NXP's group 0xF.
struct NXPSessionsResponse: UCIResponse, Hashable {
  var status = Status.ok
  /// The number of sessions; nil where the response ends after its status.
  var count: UInt8?
  /// The raw entries: their layout is unknown.
  var entries: [UInt8] = []

  mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.code("status", &status)
    try coder.optional("count", &count)
    try coder.bytes("sessions", &entries, count == nil ? .exactly(0) : .rest)
  }
}

/// URSK_DELETE of NXP's group 0xF: the chip deletes the ranging keys of sessions.
///
/// Source: AOSP hardware/nxp/uwb (sessionTrack.cc).
struct NXPDeleteURSK: UCICommand, Hashable {
  static let opcode = Opcode(GroupID(rawValue: 0xF), 0x01)
  static let isIdempotent = true

  /// Ids of the sessions, at most 255.
  var sessionIDs: [UInt32] = []

  mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.numbers("session_ids", &sessionIDs)
  }
}

/// URSK_DELETE_NTF of NXP's group 0xF: the result for the keys.
///
/// Source: AOSP hardware/nxp/uwb (sessionTrack.cc).
struct NXPDeleteURSKNotification: UCINotification, Hashable {
  static let opcode = NXPDeleteURSK.opcode

  /// The result for the key of a session.
  struct Outcome: Hashable, Sendable {
    var sessionID: UInt32 = 0
    /// The result: 0 removed, 1 there was none, 2 the secure element did not answer.
    var result: UInt8 = 0
  }

  var status = Status.ok
  var outcomes: [Outcome] = []

  mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.code("status", &status)
    try coder.list("outcomes", &outcomes, .u8, blank: Outcome()) {
      c, outcome throws(PayloadError) in
      try c.field("session_id", &outcome.sessionID)
      try c.field("result", &outcome.result)
    }
  }
}

/// RANGE_RESUME (GID 2, OID 0x21): continues a CCC session.
///
/// Source: the layout from a published host for NXP's NCJ29D5 (forthink-xyz/python-uwbzero), the
/// opcode from nxp-uwb/sr250-uwbiot-zephyr.
struct NXPRangeResume: UCICommand, Hashable {
  static let opcode = Opcode(.sessionControl, 0x21)

  var sessionToken: UInt32 = 0
  /// The STS index to continue with.
  var stsIndex: UInt32 = 0

  mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("session", &sessionToken)
    try coder.field("sts_index", &stsIndex)
  }
}

/// SCHEDULER_STATUS_NTF of NXP's group 0xE: the number of times that sessions had the radio.
///
/// Source (facts only): nxp-uwb/sr250-uwbiot-zephyr and
/// nxp-appcodehub/an-sr250-uwb-plug-and-play-demo.
struct NXPSchedulerStatusNotification: UCINotification, Hashable {
  static let opcode = Opcode(GroupID(rawValue: 0xE), 0x07)

  struct Session: Hashable, Sendable {
    var token: UInt32 = 0
    /// The scheduler's status of the session.
    var status: UInt8 = 0
    /// The number of times that the session had the radio.
    var successes: UInt32 = 0
    /// The number of times that another session had the radio.
    var failures: UInt32 = 0
    var priority: UInt8 = 0
  }

  var sessions: [Session] = []

  mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.list("sessions", &sessions, .u8, blank: Session()) {
      c, session throws(PayloadError) in
      try c.field("session", &session.token)
      try c.field("scheduler_status", &session.status)
      try c.field("successes", &session.successes)
      try c.field("failures", &session.failures)
      try c.field("priority", &session.priority)
    }
  }
}
