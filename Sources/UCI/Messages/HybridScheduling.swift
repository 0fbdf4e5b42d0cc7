// SPDX-License-Identifier: Apache-2.0

/// SESSION_SET_HUS_CONTROLLER_CONFIG, FiRa 2.0: the phases of a hybrid schedule, at its controller.
package struct SetHUSControllerConfig: UCICommand, Hashable {
  package static let opcode = Opcode.sessionSetHUSControllerConfig
  package static let isIdempotent = true

  /// A phase of the schedule: a session of its own with some of the slots.
  package struct Phase: FieldGroup, Hashable, Sendable {
    /// What names the session of the phase.
    package var sessionToken: UInt32 = 0
    /// The first slot.
    package var startSlot: UInt16 = 0
    /// The last slot.
    package var endSlot: UInt16 = 0
    /// Bit 0: the address is an extended one, and has to agree with it; bit 1: access is by
    /// contention.
    package var control: UInt8 = 0
    /// The address in the phase.
    package var address = MACAddress(0)

    package var isContentionAccess: Bool { control & 2 != 0 }

    package init() {}
    package init(
      sessionToken: UInt32, startSlot: UInt16, endSlot: UInt16, isContentionAccess: Bool,
      address: MACAddress
    ) {
      (self.sessionToken, self.startSlot, self.endSlot) = (sessionToken, startSlot, endSlot)
      control = (address.isExtended ? 1 : 0) | (isContentionAccess ? 2 : 0)
      self.address = address
    }

    package mutating func visit<C: FieldCoder & ~Escapable>(
      _ coder: inout C
    ) throws(PayloadError) {
      try coder.field("session", &sessionToken)
      try coder.field("start_slot", &startSlot)
      try coder.field("end_slot", &endSlot)
      try coder.field("access", &control, .bit(1, ["CFP", "CAP"]))
      try coder.address("mac", &address, extended: control & 1 != 0)
    }
  }

  /// What names the primary session.
  package var sessionToken: UInt32 = 0
  /// At most 255.
  package var phases: [Phase] = []

  package init() {}
  package init(sessionToken: UInt32, phases: [Phase]) {
    (self.sessionToken, self.phases) = (sessionToken, phases)
  }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("session", &sessionToken)
    try coder.list("phases", &phases)
  }
}

/// SESSION_SET_HUS_CONTROLEE_CONFIG, FiRa 2.0: in which phases of a hybrid schedule a controlee
/// takes part.
package struct SetHUSControleeConfig: UCICommand, Hashable {
  package static let opcode = Opcode.sessionSetHUSControleeConfig
  package static let isIdempotent = true

  /// What names the primary session.
  package var sessionToken: UInt32 = 0
  /// What names the sessions of the phases, at most 255.
  package var phases: [UInt32] = []

  package init() {}

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("session", &sessionToken)
    try coder.numbers("phases", &phases)
  }
}

/// SESSION_DATA_TRANSFER_PHASE_CONFIGURATION, FiRa 2.0: who may send data in which slots.
package struct ConfigureDataTransferPhase: UCICommand, Hashable {
  package static let opcode = Opcode.sessionDataTransferPhaseConfig
  package static let isIdempotent = true

  /// A device and its slots.
  package struct Entry: Hashable, Sendable {
    package var address = MACAddress(0)
    /// A bit for each slot: 1, 2, 4 … bytes, as many as `control` says.
    package var slots: [UInt8] = []
    /// Whether the device shall stop; nil in the form before 2025, which has no such field.
    package var stop: UInt8?
  }

  package var sessionToken: UInt32 = 0
  /// How often the control message is repeated.
  package var repetition: UInt8 = 0
  /// Bit 0: addresses are extended; bits 1…3: n, where slot bitmaps have 2^n bytes. The entries
  /// have to agree with it.
  package var control: UInt8 = 0
  /// At most 255, all of them with or all of them without `stop`.
  package var entries: [Entry] = []

  package var slotBitmapLength: Int { 1 << Int(control >> 1 & 7) }

  package init() {}

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("session", &sessionToken)
    try coder.field("repetition", &repetition)
    try coder.field("control", &control)
    let (isExtended, length) = (control & 1 != 0, slotBitmapLength)
    var count = UInt8(entries.count)
    try coder.field("count", &count, .hidden)
    // Without `stop` where the payload is too short for it in all of them.
    let hasStop = coder.holds(entries.contains { $0.stop != nil }) {
      $0 >= Int(count) * ((isExtended ? 8 : 2) + length + 1)
    }
    try coder.list(
      "entries", &entries, .exactly(Int(count)), blank: Entry()
    ) { c, entry throws(PayloadError) in
      try c.address("mac", &entry.address, extended: isExtended)
      try c.bytes("slots", &entry.slots, .exactly(length))
      try c.optional("stop", &entry.stop, if: hasStop)
    }
  }
}

/// SESSION_DATA_TRANSFER_PHASE_CONFIGURATION_NTF: what became of a configuration.
package struct DataTransferPhaseNotification: UCINotification, Hashable {
  package static let opcode = Opcode.sessionDataTransferPhaseConfig

  package var sessionToken: UInt32 = 0
  package var result: UInt8 = 0

  package init() {}

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("session", &sessionToken)
    try coder.field("result", &result, .names(["OK", "DUPLICATE_SLOT_ASSIGNMENT", "OVERSIZE"]))
  }
}
