// SPDX-License-Identifier: Apache-2.0

/// Asks a Qorvo chip for all its sessions (SESSION_GET, GID 0xB, OID 0x07).
///
/// Source: DW3_QM33_SDK 1.1.0 (uci_spec_qorvo.h).
public struct QorvoGetSessions: EmptyCommand, Hashable {
  /// What the chip answers.
  public typealias Response = QorvoSessionsResponse
  /// Group and opcode.
  public static let opcode = Opcode(GroupID(rawValue: 0xB), 0x07)
  /// There is nothing to give.
  public init() {}
}

/// The sessions of a Qorvo chip.
public struct QorvoSessionsResponse: UCIResponse, Hashable {
  /// A session.
  public struct Session: Hashable, Sendable {
    /// What names the session.
    public var token: UInt32
    /// What the session is for.
    public var type: SessionType
    /// What it is doing.
    public var state: SessionState

    /// From its fields.
    public init(token: UInt32, type: SessionType, state: SessionState) {
      self.token = token
      self.type = type
      self.state = state
    }
  }

  /// Whether the chip did what it was asked.
  public var status: Status
  /// At most 255; nil where the response ends behind its status.
  public var sessions: [Session]?

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    status = Status(rawValue: try reader.u8("status"))
    guard reader.remaining > 0 else { return }
    var attempt = reader
    do throws(PayloadError) {
      var list: [Session] = []
      for _ in 0..<(try attempt.u8("number of sessions")) {
        list.append(
          Session(
            token: try attempt.u32("session token"),
            type: SessionType(rawValue: try attempt.u8("session type")),
            state: SessionState(rawValue: try attempt.u8("session state"))))
      }
      sessions = list
      reader = attempt
    } catch {
      // An error may be followed by a stray byte.
      guard status != .ok else { throw error }
    }
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(status.rawValue)
    guard let sessions else { return }
    writer.u8(UInt8(sessions.count))
    for session in sessions {
      writer.u32(session.token)
      writer.u8(session.type.rawValue)
      writer.u8(session.state.rawValue)
    }
  }
}
