// SPDX-License-Identifier: Apache-2.0

// Small commands of NXP's groups 0xA, 0xE and 0xF. Source: NXP's published host code.

/// GET_ERROR_LOG of NXP's group 0xE: what went wrong before the last reset.
public struct NXPGetErrorLog: EmptyCommand, Hashable {
  /// What the chip answers.
  public typealias Response = StatusResponse
  /// Group and opcode.
  public static let opcode = Opcode(GroupID(rawValue: 0xE), 0x02)
  /// There is nothing to give.
  public init() {}
}

/// SE_BIND of NXP's group 0xF: the chip and its secure element agree on a key.
public struct NXPBind: EmptyCommand, Hashable {
  /// What the chip answers.
  public typealias Response = StatusResponse
  /// Group and opcode.
  public static let opcode = Opcode(GroupID(rawValue: 0xF), 0x31)
  /// What is done once cannot be done again.
  public static let isIdempotent = false
  /// There is nothing to give.
  public init() {}
}

/// SE_BINDING_CHECK of NXP's group 0xF: whether the chip and its secure element know each other.
public struct NXPCheckBinding: EmptyCommand, Hashable {
  /// What the chip answers.
  public typealias Response = StatusResponse
  /// Group and opcode.
  public static let opcode = Opcode(GroupID(rawValue: 0xF), 0x32)
  /// There is nothing to give.
  public init() {}
}

/// SE test loop of NXP's group 0xE: the chip talks to its secure element again and again.
public struct NXPTestSecureElementLoop: UCICommand, Hashable {
  /// What the chip answers.
  public typealias Response = StatusResponse
  /// Group and opcode.
  public static let opcode = Opcode(GroupID(rawValue: 0xE), 0x04)

  /// How often.
  public var count: UInt16
  /// How long between two times.
  public var interval: UInt16

  /// From its fields.
  public init(count: UInt16, interval: UInt16) {
    self.count = count
    self.interval = interval
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    count = try reader.u16("count")
    interval = try reader.u16("interval")
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u16(count)
    writer.u16(interval)
  }
}

/// READ_MODULE_MAKER_ID of NXP's group 0xA.
public struct NXPReadModuleID: EmptyCommand, Hashable {
  /// What the chip answers.
  public typealias Response = NXPModuleIDResponse
  /// Group and opcode.
  public static let opcode = Opcode(GroupID(rawValue: 0xA), 0x04)
  /// There is nothing to give.
  public init() {}
}

/// READ_MODULE_MAKER_ID_RSP of NXP's group 0xA.
public struct NXPModuleIDResponse: UCIResponse, Hashable {
  /// Whether the chip did what it was asked.
  public var status: Status
  /// Who made the module; missing in error responses.
  public var id: UInt16?

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    status = Status(rawValue: try reader.u8("status"))
    id = reader.remaining >= 2 ? try reader.u16("module id") : nil
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(status.rawValue)
    if let id { writer.u16(id) }
  }
}

extension NXPTestSecureElementLoop: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [Field("count", .number(count)), Field("interval", .number(interval))]
  }
}

extension NXPModuleIDResponse: Describable {
  func describe(_ context: DescriptionContext) -> [Field] { [Field("module_id", .number(id))] }
}
