// SPDX-License-Identifier: Apache-2.0

/// SESSION_DATA_TRANSFER_PHASE_CONFIGURATION, FiRa 2.0: who may send data in which slots.
public struct ConfigureDataTransferPhase: UCICommand, Hashable {
  /// What the chip answers.
  public typealias Response = StatusResponse
  /// Group and opcode.
  public static let opcode = Opcode.sessionDataTransferPhaseConfig
  /// Sending it again changes nothing more.
  public static let isIdempotent = true

  /// A device and its slots.
  public struct Entry: Hashable, Sendable {
    /// The device.
    public var address: MACAddress
    /// A bit for each slot: 1, 2, 4 … bytes, as many as `control` says.
    public var slots: [UInt8]
    /// Whether the device shall stop; nil in the form before 2025, which has no such field.
    public var stop: UInt8?

    /// From its fields.
    public init(address: MACAddress, slots: [UInt8], stop: UInt8?) {
      self.address = address
      self.slots = slots
      self.stop = stop
    }
  }

  /// What names the session.
  public var sessionToken: UInt32
  /// How often the control message is repeated.
  public var repetition: UInt8
  /// Bit 0: addresses are extended; bits 1…3: n, where slot bitmaps have 2^n bytes. The entries
  /// have to agree with it.
  public var control: UInt8
  /// At most 255, all of them with or all of them without `stop`.
  public var entries: [Entry]

  /// Bytes of a slot bitmap.
  public var slotBitmapLength: Int { 1 << Int(control >> 1 & 7) }

  /// From its fields.
  public init(sessionToken: UInt32, repetition: UInt8, control: UInt8, entries: [Entry]) {
    self.sessionToken = sessionToken
    self.repetition = repetition
    self.control = control
    self.entries = entries
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  /// Entries are read without `stop` where the payload is too short for it in all of them.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    sessionToken = try reader.u32("session token")
    repetition = try reader.u8("repetition")
    control = try reader.u8("control")
    entries = []
    let count = Int(try reader.u8("list size"))
    let extended = control & 1 != 0
    let length = 1 << Int(control >> 1 & 7)
    let hasStop = reader.remaining >= count * ((extended ? 8 : 2) + length + 1)
    for _ in 0..<count {
      entries.append(
        Entry(
          address: try reader.address(extended: extended),
          slots: try reader.bytes(length, "slot bitmap"),
          stop: hasStop ? try reader.u8("stop") : nil))
    }
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u32(sessionToken)
    writer.u8(repetition)
    writer.u8(control)
    writer.u8(UInt8(entries.count))
    for entry in entries {
      writer.bytes(entry.address.bytes)
      writer.bytes(entry.slots)
      if let stop = entry.stop { writer.u8(stop) }
    }
  }
}

/// SESSION_DATA_TRANSFER_PHASE_CONFIGURATION_NTF: what became of a configuration.
public struct DataTransferPhaseNotification: UCINotification, Hashable {
  /// Group and opcode.
  public static let opcode = Opcode.sessionDataTransferPhaseConfig

  /// What names the session.
  public var sessionToken: UInt32
  /// 0 accepted, 1 a slot is given twice, 2 too large.
  public var result: UInt8

  /// From its fields.
  public init(sessionToken: UInt32, result: UInt8) {
    self.sessionToken = sessionToken
    self.result = result
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    sessionToken = try reader.u32("session token")
    result = try reader.u8("result")
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u32(sessionToken)
    writer.u8(result)
  }
}
