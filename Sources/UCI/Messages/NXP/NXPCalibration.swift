// SPDX-License-Identifier: Apache-2.0

/// SET_CALIBRATION of NXP's group 0xF: one parameter of a channel.
public struct NXPSetCalibration: UCICommand, Hashable {
  /// What the chip answers.
  public typealias Response = StatusResponse
  /// Group and opcode.
  public static let opcode = Opcode(GroupID(rawValue: 0xF), 0x21)
  /// Sending it again changes nothing more.
  public static let isIdempotent = true

  /// The channel; 0 where the parameter has none.
  public var channel: UInt8
  /// Which parameter, for example 1 clock accuracy, 2 RX antenna delay, 3 PDoA offset.
  public var parameter: UInt8
  /// At most 255 bytes.
  public var value: [UInt8]

  /// From its fields.
  public init(channel: UInt8, parameter: UInt8, value: [UInt8]) {
    self.channel = channel
    self.parameter = parameter
    self.value = value
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    channel = try reader.u8("channel")
    parameter = try reader.u8("parameter")
    value = try reader.counted("value")
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(channel)
    writer.u8(parameter)
    writer.counted(value)
  }
}

/// GET_TRNG of NXP's group 0xA: bytes of the chip's random number generator.
public struct NXPGetRandom: UCICommand, Hashable {
  /// What the chip answers.
  public typealias Response = NXPRandomResponse
  /// Group and opcode.
  public static let opcode = Opcode(GroupID(rawValue: 0xA), 0x02)
  /// Asking again does no harm.
  public static let isIdempotent = true

  /// How many bytes.
  public var count: UInt8

  /// From a count.
  public init(count: UInt8) { self.count = count }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    count = try reader.u8("count")
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) { writer.u8(count) }
}

/// GET_TRNG_RSP of NXP's group 0xA. What is random may become a key, so it is described as secret.
public struct NXPRandomResponse: UCIResponse, Hashable {
  /// Whether the chip did what it was asked.
  public var status: Status
  /// Everything behind the status.
  public var random: [UInt8]

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    status = Status(rawValue: try reader.u8("status"))
    random = reader.rest()
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(status.rawValue)
    writer.bytes(random)
  }
}

/// SE_BINDING_STATUS_NTF of NXP's group 0xE.
public struct NXPBindingStatusNotification: UCINotification, Hashable {
  /// Group and opcode.
  public static let opcode = Opcode(GroupID(rawValue: 0xE), 0x06)

  /// 0 not bound, 1 bound and unlocked, 2 bound and locked, 3 not known.
  public var binding: UInt8

  /// From its field.
  public init(binding: UInt8) { self.binding = binding }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    binding = try reader.u8("binding status")
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) { writer.u8(binding) }
}
