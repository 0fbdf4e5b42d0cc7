// SPDX-License-Identifier: Apache-2.0

/// GET_CALIBRATION of NXP's group 0xF: one parameter of a channel.
///
/// Source: published logs of an SR250 (nxp-uwb/sr250-uwbiot-zephyr, demo_device_calibration).
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
  /// A third byte: 0 in the published logs that read AOA_ANTENNAS_PDOA_CALIB, nil in all others.
  public var selector: UInt8?

  /// From its fields.
  public init(channel: UInt8, parameter: UInt8, selector: UInt8? = nil) {
    self.channel = channel
    self.parameter = parameter
    self.selector = selector
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    channel = try reader.u8("channel")
    parameter = try reader.u8("parameter")
    selector = reader.remaining > 0 ? try reader.u8("selector") : nil
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(channel)
    writer.u8(parameter)
    if let selector { writer.u8(selector) }
  }
}

/// GET_CALIBRATION_RSP of NXP's group 0xF.
///
/// Source: published logs of an SR250 (nxp-uwb/sr250-uwbiot-zephyr, demo_device_calibration).
public struct NXPCalibrationResponse: UCIResponse, Hashable {
  /// What was asked for.
  public struct Value: Hashable, Sendable {
    /// The state of the calibration: 1 and 3 in logs that were published.
    public var state: UInt8
    /// Which parameter.
    public var parameter: UInt8
    /// At most 255 bytes.
    public var bytes: [UInt8]

    /// From its fields.
    public init(state: UInt8 = 1, parameter: UInt8, bytes: [UInt8]) {
      self.state = state
      self.parameter = parameter
      self.bytes = bytes
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
    // An error may be followed by a stray byte.
    guard reader.remaining >= 3 || (status == .ok && reader.remaining > 0) else { return }
    let state = try reader.u8("calibration state")
    let parameter = try reader.u8("parameter")
    value = Value(state: state, parameter: parameter, bytes: try reader.counted("value"))
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(status.rawValue)
    guard let value else { return }
    writer.u8(value.state)
    writer.u8(value.parameter)
    writer.counted(value.bytes)
  }
}

/// READ_CALIB_DATA of NXP's group 0xA: calibration in the chip's one-time memory.
///
/// Source: AOSP hardware/nxp/uwb (Apache-2.0), which reads the crystal's values so.
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

/// READ_CALIB_DATA_NTF of NXP's group 0xA. Source: AOSP hardware/nxp/uwb (Apache-2.0).
public struct NXPReadOTPCalibrationNotification: UCINotification, Hashable {
  /// Group and opcode.
  public static let opcode = NXPReadOTPCalibration.opcode

  /// Whether the chip did what it was asked.
  public var status: Status
  /// At most 255 bytes.
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
