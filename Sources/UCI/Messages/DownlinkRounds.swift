// SPDX-License-Identifier: Apache-2.0

/// SESSION_UPDATE_DT_ANCHOR_RANGING_ROUNDS, FiRa 2.0: in which rounds a DT-anchor takes part.
public struct UpdateDTAnchorRounds: UCICommand, Hashable {
  /// What the chip answers.
  public typealias Response = RangingRoundsResponse
  /// Group and opcode.
  public static let opcode = Opcode.sessionUpdateDTAnchorRounds
  /// Sending it again changes nothing more.
  public static let isIdempotent = true

  /// A round in which the anchor takes part.
  public struct Round: Hashable, Sendable {
    /// Which round.
    public var index: UInt8
    /// 0 responder, 1 initiator; other values are kept.
    public var role: UInt8
    /// The responders, of an initiator only.
    public var responders: [MACAddress]
    /// Whether slots are given, of an initiator only: 0 no, 1 yes.
    public var slotScheduling: UInt8
    /// A slot for each responder, where `slotScheduling` is 1.
    public var slots: [UInt8]

    /// A round as responder.
    public init(respondingIn index: UInt8) {
      self.index = index
      role = 0
      responders = []
      slotScheduling = 0
      slots = []
    }

    /// A round as initiator; `slots` is empty or has one slot for each responder.
    public init(initiating index: UInt8, responders: [MACAddress], slots: [UInt8] = []) {
      self.index = index
      role = 1
      self.responders = responders
      slotScheduling = slots.isEmpty ? 0 : 1
      self.slots = slots
    }
  }

  /// What names the session.
  public var sessionToken: UInt32
  /// At most 255.
  public var rounds: [Round]

  /// From its fields.
  public init(sessionToken: UInt32, rounds: [Round]) {
    self.sessionToken = sessionToken
    self.rounds = rounds
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  ///
  /// The size of the addresses is in MAC_ADDRESS_MODE, not in this message: extended ones are read
  /// where only they make the payload end where it does.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    sessionToken = try reader.u32("session token")
    var short = reader
    var extended = reader
    let withShort = Result(catching: { () throws(PayloadError) in
      try Self.rounds(&short, extended: false)
    })
    let withExtended = Result(catching: { () throws(PayloadError) in
      try Self.rounds(&extended, extended: true)
    })
    let fitsExtended = (try? withExtended.get()) != nil && extended.remaining == 0
    if fitsExtended && !((try? withShort.get()) != nil && short.remaining == 0) {
      rounds = try withExtended.get()
      reader = extended
    } else {
      rounds = try withShort.get()
      reader = short
    }
  }

  private static func rounds(
    _ reader: inout PayloadReader, extended: Bool
  ) throws(PayloadError) -> [Round] {
    var list: [Round] = []
    for _ in 0..<(try reader.u8("number of rounds")) {
      var round = Round(respondingIn: try reader.u8("round index"))
      round.role = try reader.u8("role")
      if round.role == 1 {
        let count = try reader.u8("number of responders")
        for _ in 0..<count { round.responders.append(try reader.address(extended: extended)) }
        round.slotScheduling = try reader.u8("slot scheduling")
        if round.slotScheduling == 1 { round.slots = try reader.bytes(Int(count), "slots") }
      }
      list.append(round)
    }
    return list
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u32(sessionToken)
    writer.u8(UInt8(rounds.count))
    for round in rounds {
      writer.u8(round.index)
      writer.u8(round.role)
      guard round.role == 1 else { continue }
      writer.u8(UInt8(round.responders.count))
      for responder in round.responders { writer.bytes(responder.bytes) }
      writer.u8(round.slotScheduling)
      if round.slotScheduling == 1 { writer.bytes(round.slots) }
    }
  }
}

/// SESSION_UPDATE_DT_TAG_RANGING_ROUNDS, FiRa 2.0: to which rounds a DT-tag listens.
public struct UpdateDTTagRounds: UCICommand, Hashable {
  /// What the chip answers.
  public typealias Response = RangingRoundsResponse
  /// Group and opcode.
  public static let opcode = Opcode.sessionUpdateDTTagRounds
  /// Sending it again changes nothing more.
  public static let isIdempotent = true

  /// What names the session.
  public var sessionToken: UInt32
  /// The indexes of the rounds, at most 255.
  public var rounds: [UInt8]

  /// From its fields.
  public init(sessionToken: UInt32, rounds: [UInt8]) {
    self.sessionToken = sessionToken
    self.rounds = rounds
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    sessionToken = try reader.u32("session token")
    rounds = try reader.bytes(Int(try reader.u8("number of rounds")), "rounds")
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u32(sessionToken)
    writer.u8(UInt8(rounds.count))
    writer.bytes(rounds)
  }
}

/// A status and the rounds that could not be activated: the answer to both commands above.
public struct RangingRoundsResponse: UCIResponse, Hashable {
  /// Whether the chip did what it was asked.
  public var status: Status
  /// Indexes of the rounds that failed; nil where the response ends behind its status.
  public var failedRounds: [UInt8]?

  /// From its fields; nil for what the response leaves out.
  public init(status: Status, failedRounds: [UInt8]?) {
    self.status = status
    self.failedRounds = failedRounds
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends,
  /// unless an error is what it answers.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    status = Status(rawValue: try reader.u8("status"))
    guard reader.remaining > 0 else { return }
    var attempt = reader
    do {
      failedRounds = try attempt.bytes(Int(try attempt.u8("number of rounds")), "rounds")
      reader = attempt
    } catch {
      guard status != .ok else { throw error }
    }
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(status.rawValue)
    guard let failedRounds else { return }
    writer.u8(UInt8(failedRounds.count))
    writer.bytes(failedRounds)
  }
}

extension PayloadReader {
  /// An address of two or eight bytes.
  mutating func address(extended: Bool) throws(PayloadError) -> MACAddress {
    extended ? MACAddress(extended: try u64("address")) : MACAddress(try u16("address"))
  }
}
