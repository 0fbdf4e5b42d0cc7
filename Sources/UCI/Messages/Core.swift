// SPDX-License-Identifier: Apache-2.0

/// CORE_DEVICE_RESET: the chip forgets its sessions and reports READY again.
public struct DeviceReset: UCICommand, Hashable {
  /// What the chip answers.
  public typealias Response = StatusResponse
  /// Group and opcode.
  public static let opcode = Opcode.coreDeviceReset
  /// Sending it again changes nothing more.
  public static let isIdempotent = true

  /// 0: reset of the UWB subsystem; other values are reserved. The byte is mandatory.
  public var configuration: UInt8

  /// A reset of the UWB subsystem.
  public init(configuration: UInt8 = 0) { self.configuration = configuration }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    configuration = try reader.u8("reset configuration")
  }
  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(configuration)
  }
}

/// CORE_DEVICE_STATUS_NTF.
public struct DeviceStatusNotification: UCINotification, Hashable {
  /// Group and opcode.
  public static let opcode = Opcode.coreDeviceStatus

  /// The new state.
  public var state: DeviceState

  /// A state.
  public init(state: DeviceState) { self.state = state }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    state = DeviceState(rawValue: try reader.u8("device state"))
  }
  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(state.rawValue)
  }
}

/// CORE_GENERIC_ERROR_NTF: with `commandRetry` it takes the place of a response.
public struct GenericErrorNotification: UCINotification, Hashable {
  /// Group and opcode.
  public static let opcode = Opcode.coreGenericError

  /// What went wrong.
  public var status: Status

  /// A status.
  public init(status: Status) { self.status = status }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    status = Status(rawValue: try reader.u8("status"))
  }
  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(status.rawValue)
  }
}

/// A command without any payload whose answer has one.
public protocol EmptyCommand: UCICommand {
  /// There is nothing to give.
  init()
}

extension EmptyCommand {
  /// Asking again changes nothing.
  public static var isIdempotent: Bool { true }
  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    self.init()
  }
  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {}
}

/// CORE_GET_DEVICE_INFO.
public struct GetDeviceInfo: EmptyCommand, Hashable {
  /// What the chip answers.
  public typealias Response = DeviceInfoResponse
  /// Group and opcode.
  public static let opcode = Opcode.coreGetDeviceInfo
  /// There is nothing to give.
  public init() {}
}

/// CORE_GET_CAPS_INFO.
public struct GetCapabilities: EmptyCommand, Hashable {
  /// What the chip answers.
  public typealias Response = TLVListResponse
  /// Group and opcode.
  public static let opcode = Opcode.coreGetCapsInfo
  /// There is nothing to give.
  public init() {}
}

/// CORE_QUERY_UWBS_TIMESTAMP, FiRa 2.0.
public struct QueryTimestamp: EmptyCommand, Hashable {
  /// What the chip answers.
  public typealias Response = TimestampResponse
  /// Group and opcode.
  public static let opcode = Opcode.coreQueryUWBSTimestamp
  /// There is nothing to give.
  public init() {}
}

/// CORE_QUERY_UWBS_TIMESTAMP_RSP.
public struct TimestampResponse: UCIResponse, Hashable {
  /// Whether the chip did what it was asked.
  public var status: Status
  /// The chip's time in microseconds; missing in some error responses.
  public var microseconds: UInt64?

  /// From its fields; nil for what the response leaves out.
  public init(status: Status, microseconds: UInt64?) {
    self.status = status
    self.microseconds = microseconds
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    status = Status(rawValue: try reader.u8("status"))
    microseconds = reader.remaining >= 8 ? try reader.u64("timestamp") : nil
  }
  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(status.rawValue)
    if let microseconds { writer.u64(microseconds) }
  }
}
