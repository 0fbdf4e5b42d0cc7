// SPDX-License-Identifier: Apache-2.0

/// SESSION_SET_HUS_CONTROLLER_CONFIG, FiRa 2.0: the phases of a hybrid schedule, at its controller.
public struct SetHUSControllerConfig: UCICommand, Hashable {
  /// What the chip answers.
  public typealias Response = StatusResponse
  /// Group and opcode.
  public static let opcode = Opcode.sessionSetHUSControllerConfig
  /// Sending it again changes nothing more.
  public static let isIdempotent = true

  /// A phase of the schedule: a session of its own with some of the slots.
  public struct Phase: Hashable, Sendable {
    /// What names the session of the phase.
    public var sessionToken: UInt32
    /// The first slot.
    public var startSlot: UInt16
    /// The last slot.
    public var endSlot: UInt16
    /// Bit 0: the address is an extended one, and has to agree with it; bit 1: access is by
    /// contention.
    public var control: UInt8
    /// The address in the phase.
    public var address: MACAddress

    /// Access to the slots is by contention.
    public var isContentionAccess: Bool { control & 2 != 0 }

    /// From its fields.
    public init(
      sessionToken: UInt32, startSlot: UInt16, endSlot: UInt16, isContentionAccess: Bool,
      address: MACAddress
    ) {
      self.sessionToken = sessionToken
      self.startSlot = startSlot
      self.endSlot = endSlot
      control = (address.isExtended ? 1 : 0) | (isContentionAccess ? 2 : 0)
      self.address = address
    }

    fileprivate init(from reader: inout PayloadReader) throws(PayloadError) {
      sessionToken = try reader.u32("phase session token")
      startSlot = try reader.u16("start slot")
      endSlot = try reader.u16("end slot")
      control = try reader.u8("phase control")
      address = try reader.address(extended: control & 1 != 0)
    }
  }

  /// What names the primary session.
  public var sessionToken: UInt32
  /// At most 255.
  public var phases: [Phase]

  /// From its fields.
  public init(sessionToken: UInt32, phases: [Phase]) {
    self.sessionToken = sessionToken
    self.phases = phases
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    sessionToken = try reader.u32("session token")
    phases = []
    for _ in 0..<(try reader.u8("number of phases")) { phases.append(try Phase(from: &reader)) }
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u32(sessionToken)
    writer.u8(UInt8(phases.count))
    for phase in phases {
      writer.u32(phase.sessionToken)
      writer.u16(phase.startSlot)
      writer.u16(phase.endSlot)
      writer.u8(phase.control)
      writer.bytes(phase.address.bytes)
    }
  }
}

/// SESSION_SET_HUS_CONTROLEE_CONFIG, FiRa 2.0: in which phases of a hybrid schedule a controlee
/// takes part.
public struct SetHUSControleeConfig: UCICommand, Hashable {
  /// What the chip answers.
  public typealias Response = StatusResponse
  /// Group and opcode.
  public static let opcode = Opcode.sessionSetHUSControleeConfig
  /// Sending it again changes nothing more.
  public static let isIdempotent = true

  /// What names the primary session.
  public var sessionToken: UInt32
  /// What names the sessions of the phases, at most 255.
  public var phases: [UInt32]

  /// From its fields.
  public init(sessionToken: UInt32, phases: [UInt32]) {
    self.sessionToken = sessionToken
    self.phases = phases
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    sessionToken = try reader.u32("session token")
    phases = []
    for _ in 0..<(try reader.u8("number of phases")) {
      phases.append(try reader.u32("phase session token"))
    }
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u32(sessionToken)
    writer.u8(UInt8(phases.count))
    for phase in phases { writer.u32(phase) }
  }
}
