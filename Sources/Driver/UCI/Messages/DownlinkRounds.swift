// SPDX-License-Identifier: Apache-2.0

/// SESSION_UPDATE_DT_ANCHOR_RANGING_ROUNDS, FiRa 2.0: the rounds in which a DT-anchor takes part.
package struct UpdateDTAnchorRounds: UCICommand, Hashable {
  package typealias Response = RangingRoundsResponse
  package static let opcode = Opcode(.sessionConfig, 0x08)
  package static let isIdempotent = true

  /// A round in which the anchor takes part.
  package struct Round: Hashable, Sendable {
    package var index: UInt8 = 0
    /// 0 responder, 1 initiator; other values are kept.
    package var role: UInt8 = 0
    /// The responders; for an initiator only.
    package var responders: [MACAddress] = []
    /// Whether slots are given; for an initiator only: 0 no, 1 yes.
    package var slotScheduling: UInt8 = 0
    /// A slot for each responder, where `slotScheduling` is 1.
    package var slots: [UInt8] = []

    package init() {}
    /// Creates a round of a responder.
    package init(index: UInt8) { self.index = index }
    /// Creates a round of an initiator; without slots, the responders follow in their order.
    package init(index: UInt8, responders: [MACAddress], slots: [UInt8]?) {
      (self.index, role, self.responders) = (index, 1, responders)
      (slotScheduling, self.slots) = (slots == nil ? 0 : 1, slots ?? [])
    }
  }

  package var sessionToken: UInt32 = 0
  package var rounds: [Round] = []

  package init() {}
  package init(sessionToken: UInt32, rounds: [Round]) {
    (self.sessionToken, self.rounds) = (sessionToken, rounds)
  }

  // The size of the addresses is in MAC_ADDRESS_MODE, not in this message. Extended addresses are
  // read only if short addresses would not end with the payload.
  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("session", &sessionToken)
    var isExtended = rounds.contains { $0.responders.contains(where: \.isExtended) }
    var rounds = rounds
    try coder.form(&isExtended, oneOf: [false, true]) { c, isExtended throws(PayloadError) in
      try c.list(
        "rounds", &rounds, .u8, blank: Round()
      ) { c, round throws(PayloadError) in try Self.visit(&round, isExtended, &c) }
    }
    self.rounds = rounds
  }

  private static func visit<C: FieldCoder & ~Escapable>(
    _ round: inout Round, _ isExtended: Bool, _ c: inout C
  ) throws(PayloadError) {
    try c.field("index", &round.index)
    try c.field("role", &round.role, .names(["RESPONDER", "INITIATOR"]))
    let isInitiator = round.role == 1
    var count = UInt8(round.responders.count)
    if isInitiator { try c.field("count", &count, .hidden) }
    try c.values(
      "responders", &round.responders, .exactly(isInitiator ? Int(count) : 0), blank: MACAddress(0)
    ) { c, address throws(PayloadError) in
      try c.address("responder", &address, extended: isExtended)
    }
    if isInitiator { try c.field("slot_scheduling", &round.slotScheduling, .hidden) }
    let hasSlots = isInitiator && round.slotScheduling == 1
    try c.numbers("slots", &round.slots, .exactly(hasSlots ? Int(count) : 0))
  }
}

/// SESSION_UPDATE_DT_TAG_RANGING_ROUNDS, FiRa 2.0: the rounds that a DT-tag receives.
package struct UpdateDTTagRounds: UCICommand, Hashable {
  package typealias Response = RangingRoundsResponse
  package static let opcode = Opcode(.sessionConfig, 0x09)
  package static let isIdempotent = true

  package var sessionToken: UInt32 = 0
  /// The indexes of the rounds, at most 255.
  package var rounds: [UInt8] = []

  package init() {}
  package init(sessionToken: UInt32, rounds: [UInt8]) {
    (self.sessionToken, self.rounds) = (sessionToken, rounds)
  }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("session", &sessionToken)
    try coder.numbers("rounds", &rounds)
  }
}

/// A status and the rounds that could not be activated: the answer to the commands for anchors and
/// for tags.
package struct RangingRoundsResponse: UCIResponse, Hashable {
  package var status = Status.ok
  /// Indexes of the rounds that failed; nil where the response ends after its status.
  package var failedRounds: [UInt8]?

  package init() {}
  package init(status: Status, failedRounds: [UInt8]) {
    (self.status, self.failedRounds) = (status, failedRounds)
  }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.code("status", &status)
    try coder.afterStatus(status, &failedRounds) { c, rounds throws(PayloadError) in
      try c.numbers("failed_rounds", &rounds)
    }
  }
}
