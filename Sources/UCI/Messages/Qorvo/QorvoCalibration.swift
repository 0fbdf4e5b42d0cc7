// SPDX-License-Identifier: Apache-2.0

/// SET_CALIBRATION of Qorvo's group 0xE: values by the names of their keys.
public struct QorvoSetCalibration: UCICommand, Hashable {
  /// What the chip answers.
  public typealias Response = StatusResponse
  /// Group and opcode.
  public static let opcode = Opcode(GroupID(rawValue: 0xE), 0x2A)
  /// Sending it again changes nothing more.
  public static let isIdempotent = true

  /// A key and its value.
  public struct Entry: Hashable, Sendable {
    /// The name in ASCII, for example `ant0.ch9.ant_delay`; at most 255 bytes.
    public var key: [UInt8]
    /// At most 255 bytes.
    public var value: [UInt8]

    /// From its fields.
    public init(key: [UInt8], value: [UInt8]) {
      self.key = key
      self.value = value
    }
  }

  /// At most 65535.
  public var entries: [Entry]

  /// From its fields.
  public init(_ entries: [Entry]) { self.entries = entries }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    entries = []
    for _ in 0..<(try reader.u16("number of keys")) {
      let key = try reader.counted("key")
      entries.append(Entry(key: key, value: try reader.counted("value")))
    }
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u16(UInt16(entries.count))
    for entry in entries {
      writer.counted(entry.key)
      writer.counted(entry.value)
    }
  }
}

/// GET_CALIBRATION of Qorvo's group 0xE.
public struct QorvoGetCalibration: UCICommand, Hashable {
  /// What the chip answers.
  public typealias Response = QorvoCalibrationResponse
  /// Group and opcode.
  public static let opcode = Opcode(GroupID(rawValue: 0xE), 0x2B)
  /// Asking again changes nothing.
  public static let isIdempotent = true

  /// The names in ASCII, at most 65535 of at most 255 bytes each; none asks for all of them.
  public var keys: [[UInt8]]

  /// From its fields.
  public init(keys: [[UInt8]]) { self.keys = keys }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    keys = []
    for _ in 0..<(try reader.u16("number of keys")) { keys.append(try reader.counted("key")) }
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u16(UInt16(keys.count))
    for key in keys { writer.counted(key) }
  }
}

/// GET_CALIBRATION_RSP of Qorvo's group 0xE.
public struct QorvoCalibrationResponse: UCIResponse, Hashable {
  /// A key, whether it could be read, and its value.
  public struct Entry: Hashable, Sendable {
    /// The name in ASCII.
    public var key: [UInt8]
    /// Whether it could be read.
    public var status: Status
    /// The value.
    public var value: [UInt8]
  }

  /// Whether the chip did what it was asked.
  public var status: Status
  /// nil where the response ends behind its status.
  public var entries: [Entry]?

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    status = Status(rawValue: try reader.u8("status"))
    // An error may be followed by a stray byte.
    guard reader.remaining >= 2 || (status == .ok && reader.remaining > 0) else { return }
    var list: [Entry] = []
    for _ in 0..<(try reader.u16("number of keys")) {
      let key = try reader.counted("key")
      let status = Status(rawValue: try reader.u8("key status"))
      list.append(Entry(key: key, status: status, value: try reader.counted("value")))
    }
    entries = list
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(status.rawValue)
    guard let entries else { return }
    writer.u16(UInt16(entries.count))
    for entry in entries {
      writer.counted(entry.key)
      writer.u8(entry.status.rawValue)
      writer.counted(entry.value)
    }
  }
}
