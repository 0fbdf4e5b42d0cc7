// SPDX-License-Identifier: Apache-2.0

// Sessions in NXP's groups 0xE and 0xF and in the group of session control.

/// GET_ALL_UWB_SESSIONS of NXP's group 0xF.
///
/// Source: a published log of an SR250 (nxp-uwb/sr250-uwbiot-zephyr, demo_nearby_interaction).
public struct NXPGetAllSessions: EmptyCommand, Hashable {
  /// What the chip answers.
  public typealias Response = NXPSessionsResponse
  /// Group and opcode.
  public static let opcode = Opcode(GroupID(rawValue: 0xF), 0x02)
  /// There is nothing to give.
  public init() {}
}

/// GET_ALL_UWB_SESSIONS_RSP of NXP's group 0xF.
public struct NXPSessionsResponse: UCIResponse, Hashable {
  /// Whether the chip did what it was asked.
  public var status: Status
  /// How many sessions there are; nil where the response ends behind its status.
  public var count: UInt8?
  /// What is said of them, as it comes: the layout is not known.
  public var entries: [UInt8]

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    status = Status(rawValue: try reader.u8("status"))
    count = reader.remaining > 0 ? try reader.u8("number of sessions") : nil
    entries = reader.rest()
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(status.rawValue)
    if let count { writer.u8(count) }
    writer.bytes(entries)
  }
}

/// URSK_DELETE of NXP's group 0xF: the chip forgets the ranging keys of sessions.
///
/// Source: AOSP hardware/nxp/uwb (sessionTrack.cc).
public struct NXPDeleteURSK: UCICommand, Hashable {
  /// What the chip answers.
  public typealias Response = StatusResponse
  /// Group and opcode.
  public static let opcode = Opcode(GroupID(rawValue: 0xF), 0x01)
  /// Sending it again changes nothing more.
  public static let isIdempotent = true

  /// Ids of the sessions, at most 255.
  public var sessionIDs: [UInt32]

  /// From its fields.
  public init(sessionIDs: [UInt32]) { self.sessionIDs = sessionIDs }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    sessionIDs = []
    for _ in 0..<(try reader.u8("number of sessions")) {
      sessionIDs.append(try reader.u32("session id"))
    }
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(UInt8(sessionIDs.count))
    for id in sessionIDs { writer.u32(id) }
  }
}

/// URSK_DELETE_NTF of NXP's group 0xF: what became of the keys.
///
/// Source: AOSP hardware/nxp/uwb (sessionTrack.cc).
public struct NXPDeleteURSKNotification: UCINotification, Hashable {
  /// Group and opcode.
  public static let opcode = NXPDeleteURSK.opcode

  /// What became of the key of a session.
  public struct Outcome: Hashable, Sendable {
    /// The session.
    public var sessionID: UInt32
    /// What became of its key: 0 removed, 1 there was none, 2 the secure element did not answer.
    public var result: UInt8
  }

  /// Whether the chip did what it was asked.
  public var status: Status
  /// At most 255.
  public var outcomes: [Outcome]

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    status = Status(rawValue: try reader.u8("status"))
    outcomes = []
    for _ in 0..<(try reader.u8("number of sessions")) {
      outcomes.append(
        Outcome(sessionID: try reader.u32("session id"), result: try reader.u8("result")))
    }
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(status.rawValue)
    writer.u8(UInt8(outcomes.count))
    for outcome in outcomes {
      writer.u32(outcome.sessionID)
      writer.u8(outcome.result)
    }
  }
}

/// RANGE_RESUME (GID 2, OID 0x21): a CCC session goes on.
///
/// Source: the layout from a published host for NXP's NCJ29D5 (forthink-xyz/python-uwbzero), the
/// opcode from nxp-uwb/sr250-uwbiot-zephyr.
public struct NXPRangeResume: UCICommand, Hashable {
  /// What the chip answers.
  public typealias Response = StatusResponse
  /// Group and opcode.
  public static let opcode = Opcode(.sessionControl, 0x21)

  /// What names the session.
  public var sessionToken: UInt32
  /// STS index with which it goes on.
  public var stsIndex: UInt32

  /// From its fields.
  public init(sessionToken: UInt32, stsIndex: UInt32) {
    self.sessionToken = sessionToken
    self.stsIndex = stsIndex
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    sessionToken = try reader.u32("session token")
    stsIndex = try reader.u32("STS index")
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u32(sessionToken)
    writer.u32(stsIndex)
  }
}

/// SCHEDULER_STATUS_NTF of NXP's group 0xE: how often sessions had the radio.
///
/// Source (facts only): nxp-uwb/sr250-uwbiot-zephyr and
/// nxp-appcodehub/an-sr250-uwb-plug-and-play-demo.
public struct NXPSchedulerStatusNotification: UCINotification, Hashable {
  /// Group and opcode.
  public static let opcode = Opcode(GroupID(rawValue: 0xE), 0x07)

  /// A session.
  public struct Session: Hashable, Sendable {
    /// What names the session.
    public var token: UInt32
    /// How the scheduler sees it.
    public var status: UInt8
    /// How often it had the radio.
    public var successes: UInt32
    /// How often another session had it.
    public var failures: UInt32
    /// Its priority.
    public var priority: UInt8
  }

  /// At most 255.
  public var sessions: [Session]

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    sessions = []
    for _ in 0..<(try reader.u8("number of sessions")) {
      sessions.append(
        Session(
          token: try reader.u32("session token"), status: try reader.u8("status"),
          successes: try reader.u32("successes"), failures: try reader.u32("failures"),
          priority: try reader.u8("priority")))
    }
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(UInt8(sessions.count))
    for session in sessions {
      writer.u32(session.token)
      writer.u8(session.status)
      writer.u32(session.successes)
      writer.u32(session.failures)
      writer.u8(session.priority)
    }
  }
}
