// SPDX-License-Identifier: Apache-2.0

/// GET_CALIBRATION of NXP's group 0xF: one parameter of a channel.
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
  /// Which pair of antennas, for the parameters that have one for each; nil for the others.
  public var antennaPair: UInt8?

  /// From its fields.
  public init(channel: UInt8, parameter: UInt8, antennaPair: UInt8? = nil) {
    self.channel = channel
    self.parameter = parameter
    self.antennaPair = antennaPair
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    channel = try reader.u8("channel")
    parameter = try reader.u8("parameter")
    antennaPair = reader.remaining > 0 ? try reader.u8("antenna pair") : nil
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(channel)
    writer.u8(parameter)
    if let antennaPair { writer.u8(antennaPair) }
  }
}

/// GET_CALIBRATION_RSP of NXP's group 0xF.
///
/// Source: NXP's published host code (deserializeGetCalibResp), and its logs of an SR250.
public struct NXPCalibrationResponse: UCIResponse, Hashable {
  /// What was asked for.
  public struct Value: Hashable, Sendable {
    /// The state of the calibration: 1 and 3 in logs that were published.
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

/// READ_CALIB_DATA of NXP's group 0xA: calibration in the chip's one-time memory.
public struct NXPReadOTPCalibration: UCICommand, Hashable {
  /// What the chip answers; the value comes in a notification.
  public typealias Response = StatusResponse
  /// Group and opcode.
  public static let opcode = Opcode(GroupID(rawValue: 0xA), 0x01)
  /// Asking again changes nothing.
  public static let isIdempotent = true

  /// The channel.
  public var channel: UInt8
  /// Where it is: 1 the one-time memory.
  public var option: UInt8
  /// Which value: 1 TX power, 2 crystal.
  public var parameter: UInt8

  /// From its fields.
  public init(channel: UInt8, option: UInt8 = 1, parameter: UInt8) {
    self.channel = channel
    self.option = option
    self.parameter = parameter
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    channel = try reader.u8("channel")
    option = try reader.u8("option")
    parameter = try reader.u8("parameter")
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    for value in [channel, option, parameter] { writer.u8(value) }
  }
}

/// READ_CALIB_DATA_NTF of NXP's group 0xA.
public struct NXPReadOTPCalibrationNotification: UCINotification, Hashable {
  /// Group and opcode.
  public static let opcode = NXPReadOTPCalibration.opcode

  /// Whether the chip did what it was asked.
  public var status: Status
  /// At most 255 octets.
  public var value: [UInt8]

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    status = Status(rawValue: try reader.u8("status"))
    value = try reader.counted("value")
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(status.rawValue)
    writer.counted(value)
  }
}

/// WRITE_CALIB_DATA of NXP's group 0xA: calibration for the chip's one-time memory.
public struct NXPWriteOTPCalibration: UCICommand, Hashable {
  /// What the chip answers.
  public typealias Response = StatusResponse
  /// Group and opcode.
  public static let opcode = Opcode(GroupID(rawValue: 0xA), 0x00)

  /// The channel.
  public var channel: UInt8
  /// Where it is to be: 1 the one-time memory.
  public var option: UInt8
  /// At most 255 octets.
  public var value: [UInt8]

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    channel = try reader.u8("channel")
    option = try reader.u8("option")
    value = try reader.counted("value")
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(channel)
    writer.u8(option)
    writer.counted(value)
  }
}

extension NXPGetCalibration: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [Field("channel", .number(channel)), Field("parameter", .nxpCalibration(parameter))]
      + (antennaPair.map { [Field("antenna_pair", .number($0))] } ?? [])
  }
}

extension NXPCalibrationResponse: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    guard let value else { return [] }
    return [
      Field("state", .number(value.state)),
      Field("parameter", .nxpCalibration(value.parameter)),
      Field("value", .octets(value.octets)),
    ]
  }
}

extension NXPReadOTPCalibration: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [
      Field("channel", .number(channel)), Field("option", .number(option)),
      Field("parameter", .choice(parameter, ["0", "TX_POWER", "CRYSTAL"])),
    ]
  }
}

extension NXPReadOTPCalibrationNotification: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [Field("status", .status(status)), Field("value", .octets(value))]
  }
}

extension NXPWriteOTPCalibration: Describable {
  func describe(_ context: DescriptionContext) -> [Field] {
    [
      Field("channel", .number(channel)), Field("option", .number(option)),
      Field("value", .octets(value)),
    ]
  }
}

extension FieldValue {
  /// A parameter of NXP's calibration.
  static func nxpCalibration(_ parameter: UInt8) -> FieldValue {
    .code(
      parameter, name: NXPCalibrationID(rawValue: parameter).name, explanation: nil)
  }
}
