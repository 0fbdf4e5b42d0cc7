// SPDX-License-Identifier: Apache-2.0

// Small commands of NXP's groups 0xA, 0xE and 0xF. Sources: GET_ERROR_LOG
// NXPHoverGames/nxp-uwb-ros2 (Apache-2.0); SE_BIND and SE_BINDING_CHECK AOSP hardware/nxp/uwb
// (Apache-2.0); READ_MODULE_MAKER_ID NXP's UWBIoT API Reference Guide.

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
