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
  /// At most 255 octets.
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

/// GET_CALIBRATION of NXP's group 0xF.
public struct NXPGetCalibration: UCICommand, Hashable {
  /// What the chip answers.
  public typealias Response = NXPCalibrationResponse
  /// Group and opcode.
  public static let opcode = Opcode(GroupID(rawValue: 0xF), 0x22)
  /// Asking again changes nothing.
  public static let isIdempotent = true

  /// The channel; 0 where the parameter has none.
  public var channel: UInt8
  /// Which parameter.
  public var parameter: UInt8

  /// From its fields.
  public init(channel: UInt8, parameter: UInt8) {
    self.channel = channel
    self.parameter = parameter
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    channel = try reader.u8("channel")
    parameter = try reader.u8("parameter")
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(channel)
    writer.u8(parameter)
  }
}

/// GET_CALIBRATION_RSP of NXP's group 0xF.
///
/// Source: NXP's published host code (deserializeGetCalibResp), and its logs of an SR250.
public struct NXPCalibrationResponse: UCIResponse, Hashable {
  /// What was asked for.
  public struct Value: Hashable, Sendable {
    /// The state of the calibration; 1 in all logs that were published.
    public var state: UInt8
    /// Which parameter.
    public var parameter: UInt8
    /// At most 255 octets.
    public var octets: [UInt8]

    /// From its fields.
    public init(state: UInt8 = 1, parameter: UInt8, octets: [UInt8]) {
      self.state = state
      self.parameter = parameter
      self.octets = octets
    }
  }

  /// Whether the chip did what it was asked.
  public var status: Status
  /// nil where the response ends behind its status.
  public var value: Value?

  /// From its fields.
  public init(status: Status, value: Value?) {
    self.status = status
    self.value = value
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    status = Status(rawValue: try reader.u8("status"))
    // An error may be followed by a stray octet.
    guard reader.remaining >= 3 || (status == .ok && reader.remaining > 0) else { return }
    let state = try reader.u8("calibration state")
    let parameter = try reader.u8("parameter")
    value = Value(state: state, parameter: parameter, octets: try reader.counted("value"))
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(status.rawValue)
    guard let value else { return }
    writer.u8(value.state)
    writer.u8(value.parameter)
    writer.counted(value.octets)
  }
}

/// GET_TRNG of NXP's group 0xA: octets of the chip's random number generator.
public struct NXPGetRandom: UCICommand, Hashable {
  /// What the chip answers.
  public typealias Response = NXPRandomResponse
  /// Group and opcode.
  public static let opcode = Opcode(GroupID(rawValue: 0xA), 0x02)
  /// Asking again does no harm.
  public static let isIdempotent = true

  /// How many octets.
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
    writer.octets(random)
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

extension NXPSetCalibration: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [
      Field("channel", .number(channel)), Field("parameter", .number(parameter)),
      Field("value", .octets(value)),
    ]
  }
}

extension NXPGetCalibration: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [Field("channel", .number(channel)), Field("parameter", .number(parameter))]
  }
}

extension NXPCalibrationResponse: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    guard let value else { return [] }
    return [
      Field("state", .number(value.state)), Field("parameter", .number(value.parameter)),
      Field("value", .octets(value.octets)),
    ]
  }
}

extension NXPGetRandom: Describable {
  func describe(_ context: DescriptionContext) -> [Field] { [Field("count", .number(count))] }
}

extension NXPRandomResponse: Describable {
  func describe(_ context: DescriptionContext) -> [Field] { [Field("random", .secret(random))] }
}

extension NXPBindingStatusNotification: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    let names = ["NOT_BOUND", "BOUND_UNLOCKED", "BOUND_LOCKED", "UNKNOWN"]
    return [Field("binding", .choice(binding, names))]
  }
}
