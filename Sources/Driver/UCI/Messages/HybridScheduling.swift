// SPDX-License-Identifier: Apache-2.0

/// SESSION_SET_HUS_CONTROLLER_CONFIG, FiRa 2.0: the phases of a hybrid schedule, at its controller.
struct SetHUSControllerConfig: UCICommand, Hashable {
  static let opcode = Opcode(.sessionConfig, 0x0C)
  static let isIdempotent = true

  /// A phase of the schedule: a session of its own with some of the slots.
  struct Phase: FieldGroup, Hashable, Sendable {
    var sessionToken: UInt32 = 0
    var startSlot: UInt16 = 0
    var endSlot: UInt16 = 0
    /// Bit 0: the address is extended, and `address` has to agree; bit 1: access is by contention.
    var control: UInt8 = 0
    var address = MACAddress(0)

    var isContentionAccess: Bool { control & 2 != 0 }

    mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
      try coder.field("session", &sessionToken)
      try coder.field("start_slot", &startSlot)
      try coder.field("end_slot", &endSlot)
      try coder.field("access", &control, .bit(1, ["CFP", "CAP"]))
      try coder.address("mac", &address, extended: control & 1 != 0)
    }
  }

  var sessionToken: UInt32 = 0
  var phases: [Phase] = []

  mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("session", &sessionToken)
    try coder.list("phases", &phases)
  }
}

/// SESSION_SET_HUS_CONTROLEE_CONFIG, FiRa 2.0: the phases of a hybrid schedule in which a controlee
/// takes part.
struct SetHUSControleeConfig: UCICommand, Hashable {
  static let opcode = Opcode(.sessionConfig, 0x0D)
  static let isIdempotent = true

  var sessionToken: UInt32 = 0
  /// The tokens of the sessions of the phases, at most 255.
  var phases: [UInt32] = []

  mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("session", &sessionToken)
    try coder.numbers("phases", &phases)
  }
}

/// SESSION_DATA_TRANSFER_PHASE_CONFIGURATION, FiRa 2.0: the slots in which each device may send
/// data.
struct ConfigureDataTransferPhase: UCICommand, Hashable {
  static let opcode = Opcode(.sessionConfig, 0x0E)
  static let isIdempotent = true

  struct Entry: Hashable, Sendable {
    var address = MACAddress(0)
    /// A bit for each slot: 1, 2, 4 … bytes, depending on `control`.
    var slots: [UInt8] = []
    /// Whether the device has to stop; nil in the form before 2025, which has no such field.
    var stop: UInt8?
  }

  var sessionToken: UInt32 = 0
  /// The number of repetitions of the control message.
  var repetition: UInt8 = 0
  /// Bit 0: addresses are extended; bits 1…3: n, where slot bitmaps have 2^n bytes. The entries
  /// have to agree with it.
  var control: UInt8 = 0
  /// The slots of each device, at most 255 entries: all of them with `stop`, or all of them
  /// without.
  var entries: [Entry] = []

  var slotBitmapLength: Int { 1 << Int(control >> 1 & 7) }

  mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("session", &sessionToken)
    try coder.field("repetition", &repetition)
    try coder.field("control", &control)
    let (isExtended, length) = (control & 1 != 0, slotBitmapLength)
    var count = UInt8(entries.count)
    try coder.field("count", &count, .hidden)
    // If the payload is too short for `stop` in each entry, no entry has it.
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

/// SESSION_DATA_TRANSFER_PHASE_CONFIGURATION_NTF: the result of a configuration.
struct DataTransferPhaseNotification: UCINotification, Hashable {
  static let opcode = Opcode(.sessionConfig, 0x0E)

  var sessionToken: UInt32 = 0
  var result: UInt8 = 0

  mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("session", &sessionToken)
    try coder.field("result", &result, .names(["OK", "DUPLICATE_SLOT_ASSIGNMENT", "OVERSIZE"]))
  }
}
