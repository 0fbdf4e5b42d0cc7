// SPDX-License-Identifier: Apache-2.0

/// SESSION_UPDATE_CONTROLLER_MULTICAST_LIST: adds controlees to a one-to-many session or removes
/// them from it.
public struct UpdateMulticastList: UCICommand, Hashable {
  /// What the chip answers.
  public typealias Response = MulticastListResponse
  /// Group and opcode.
  public static let opcode = Opcode.sessionUpdateMulticastList

  /// What to do with the controlees.
  public struct Action: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The byte on the wire.
    public let rawValue: UInt8
    /// Any byte.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Add them.
    public static let add = Action(rawValue: 0)
    /// Remove them.
    public static let remove = Action(rawValue: 1)
    /// Add them, each with a sub-session key of 16 bytes. FiRa 2.0.
    public static let addWithShortKey = Action(rawValue: 2)
    /// Add them, each with a sub-session key of 32 bytes. FiRa 2.0.
    public static let addWithLongKey = Action(rawValue: 3)

    /// Bytes of key in each controlee; nil for actions that are not known.
    public var keyLength: Int? {
      switch self {
      case .add, .remove: 0
      case .addWithShortKey: 16
      case .addWithLongKey: 32
      default: nil
      }
    }

    /// A name for listings.
    public var description: String {
      switch self {
      case .add: "ADD"
      case .remove: "REMOVE"
      case .addWithShortKey: "ADD_WITH_SHORT_SUB_SESSION_KEY"
      case .addWithLongKey: "ADD_WITH_LONG_SUB_SESSION_KEY"
      default: "ACTION_\(hex(rawValue))"
      }
    }
  }

  /// A controlee to be added or removed.
  public struct Controlee: Hashable, Sendable {
    /// A short address: the command has no extended form.
    public var address: UInt16
    /// 0 where sub-sessions are not used.
    public var subSessionID: UInt32
    /// A secret, as long as the action says; empty for actions without keys.
    public var key: [UInt8]

    /// From its fields.
    public init(address: UInt16, subSessionID: UInt32 = 0, key: [UInt8] = []) {
      self.address = address
      self.subSessionID = subSessionID
      self.key = key
    }
  }

  /// What names the session: its id in FiRa 1.x, its handle since 2.0.
  public var sessionToken: UInt32
  /// What to do.
  public var action: Action
  /// At most 255; their keys have to be as long as the action says.
  public var controlees: [Controlee]

  /// From its fields.
  public init(sessionToken: UInt32, action: Action, controlees: [Controlee]) {
    self.sessionToken = sessionToken
    self.action = action
    self.controlees = controlees
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends, and
  /// for actions that are not known, because the length of an entry depends on them.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    sessionToken = try reader.u32("session token")
    action = Action(rawValue: try reader.u8("action"))
    let count = try reader.u8("number of controlees")
    guard let keyLength = action.keyLength else {
      throw PayloadError.invalid(field: "action", reason: "\(hex(action.rawValue)) is not known")
    }
    controlees = []
    for _ in 0..<count {
      controlees.append(
        Controlee(
          address: try reader.u16("address"), subSessionID: try reader.u32("sub-session id"),
          key: try reader.bytes(keyLength, "key")))
    }
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u32(sessionToken)
    writer.u8(action.rawValue)
    writer.u8(UInt8(controlees.count))
    for controlee in controlees {
      writer.u16(controlee.address)
      writer.u32(controlee.subSessionID)
      writer.bytes(controlee.key)
    }
  }
}

/// A controlee of which the chip says what became of it.
public struct ControleeStatus: Hashable, Sendable {
  /// Its short address.
  public var address: UInt16
  /// FiRa 1.x notifications only.
  public var subSessionID: UInt32?
  /// What became of it.
  public var status: MulticastStatus

  /// From its fields.
  public init(address: UInt16, status: MulticastStatus, subSessionID: UInt32? = nil) {
    self.address = address
    self.status = status
    self.subSessionID = subSessionID
  }
}

/// SESSION_UPDATE_CONTROLLER_MULTICAST_LIST_RSP.
public struct MulticastListResponse: UCIResponse, Hashable {
  /// Whether the chip did what it was asked.
  public var status: Status
  /// nil in FiRa 1.x. Since 2.0 many chips list only failures, and only if there is one.
  public var controlees: [ControleeStatus]?

  /// From its fields; nil for what the response leaves out.
  public init(status: Status, controlees: [ControleeStatus]?) {
    self.status = status
    self.controlees = controlees
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends,
  /// unless an error is what it answers.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    status = Status(rawValue: try reader.u8("status"))
    guard reader.remaining > 0 else { return }
    var attempt = reader
    do {
      controlees = try attempt.controleeStatuses()
      reader = attempt
    } catch {
      guard status != .ok else { throw error }
    }
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(status.rawValue)
    guard let controlees else { return }
    writer.u8(UInt8(controlees.count))
    for controlee in controlees {
      writer.u16(controlee.address)
      writer.u8(controlee.status.rawValue)
    }
  }
}

/// SESSION_UPDATE_CONTROLLER_MULTICAST_LIST_NTF. FiRa 1.x sends it after every command, 2.0 only
/// for removals from a session that is ranging.
public struct MulticastListNotification: UCINotification, Hashable {
  /// Group and opcode.
  public static let opcode = Opcode.sessionUpdateMulticastList

  /// What names the session: its id in FiRa 1.x, its handle since 2.0.
  public var sessionToken: UInt32
  /// FiRa 1.x: controlees left in the list. nil since 2.0, and then entries have no sub-session id.
  public var remaining: UInt8?
  /// What became of each controlee.
  public var controlees: [ControleeStatus]

  /// From its fields.
  public init(sessionToken: UInt32, controlees: [ControleeStatus], remaining: UInt8? = nil) {
    self.sessionToken = sessionToken
    self.controlees = controlees
    self.remaining = remaining
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  ///
  /// Chips do not reliably send the form that goes with their version, so the length decides, and
  /// the version only where both forms fit.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    sessionToken = try reader.u32("session token")
    var older = reader
    var newer = reader
    let olderForm = Result(catching: { () throws(PayloadError) in
      (try older.u8("remaining"), try older.controleeStatuses(withSubSessionID: true))
    })
    let newerForm = Result(catching: { () throws(PayloadError) in
      try newer.controleeStatuses()
    })
    let fitsOlder = (try? olderForm.get()) != nil && older.remaining == 0
    let fitsNewer = (try? newerForm.get()) != nil && newer.remaining == 0
    if fitsOlder == fitsNewer ? dialect.generation == .fira1 : fitsOlder {
      let form = try olderForm.get()
      remaining = form.0
      controlees = form.1
      reader = older
    } else {
      controlees = try newerForm.get()
      reader = newer
    }
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u32(sessionToken)
    if let remaining { writer.u8(remaining) }
    writer.u8(UInt8(controlees.count))
    for controlee in controlees {
      writer.u16(controlee.address)
      if remaining != nil { writer.u32(controlee.subSessionID ?? 0) }
      writer.u8(controlee.status.rawValue)
    }
  }
}

extension PayloadReader {
  /// A count and as many controlees.
  mutating func controleeStatuses(
    withSubSessionID: Bool = false
  ) throws(PayloadError) -> [ControleeStatus] {
    let count = try u8("number of controlees")
    var list: [ControleeStatus] = []
    for _ in 0..<count {
      let address = try u16("address")
      let subSessionID: UInt32? = withSubSessionID ? try u32("sub-session id") : nil
      list.append(
        ControleeStatus(
          address: address, status: MulticastStatus(rawValue: try u8("status")),
          subSessionID: subSessionID))
    }
    return list
  }
}
