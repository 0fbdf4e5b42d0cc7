// SPDX-License-Identifier: Apache-2.0

/// SESSION_QUERY_DATA_SIZE_IN_RANGING, FiRa 2.0.
public struct QueryDataSize: SessionTokenCommand, Hashable {
  /// What the chip answers.
  public typealias Response = DataSizeResponse
  /// Group and opcode.
  public static let opcode = Opcode.sessionQueryDataSize
  /// Asking again changes nothing.
  public static let isIdempotent = true
  /// What names the session; a connection id in FiRa 3.0.
  public var sessionToken: UInt32
  /// For the session named by this token.
  public init(sessionToken: UInt32) { self.sessionToken = sessionToken }
}

/// SESSION_QUERY_DATA_SIZE_IN_RANGING_RSP: the one response that does not begin with its status.
public struct DataSizeResponse: UCIResponse, Hashable {
  /// What names the session; nil in error responses that are a status only.
  public var sessionToken: UInt32?
  /// Whether the chip did what it was asked.
  public var status: Status
  /// Bytes of data that fit into one ranging round; nil in error responses.
  public var maxDataSize: UInt16?

  /// From its fields; nil for what the response leaves out.
  public init(sessionToken: UInt32?, status: Status, maxDataSize: UInt16?) {
    self.sessionToken = sessionToken
    self.status = status
    self.maxDataSize = maxDataSize
  }

  /// Reads the fields in their order on the wire; a payload too short for a token is a status.
  /// Throws `PayloadError` when the payload is empty.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    sessionToken = reader.remaining >= 5 ? try reader.u32("session token") : nil
    status = Status(rawValue: try reader.u8("status"))
    maxDataSize =
      sessionToken != nil && reader.remaining >= 2 ? try reader.u16("maximum data size") : nil
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    if let sessionToken { writer.u32(sessionToken) }
    writer.u8(status.rawValue)
    if let maxDataSize { writer.u16(maxDataSize) }
  }
}

/// SESSION_DATA_CREDIT_NTF: whether the chip takes another data segment.
public struct DataCreditNotification: UCINotification, Hashable {
  /// Group and opcode.
  public static let opcode = Opcode.sessionDataCredit

  /// What names the session.
  public var sessionToken: UInt32
  /// 0: wait; 1: one segment may be sent.
  public var credit: UInt8

  /// From its fields.
  public init(sessionToken: UInt32, credit: UInt8) {
    self.sessionToken = sessionToken
    self.credit = credit
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    sessionToken = try reader.u32("session token")
    credit = try reader.u8("credit")
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u32(sessionToken)
    writer.u8(credit)
  }
}

/// SESSION_DATA_TRANSFER_STATUS_NTF. Its length says which of three forms it has.
public struct DataTransferStatusNotification: UCINotification, Hashable {
  /// Group and opcode.
  public static let opcode = Opcode.sessionDataTransferStatus

  /// What names the session; a connection id in FiRa 3.0.
  public var sessionToken: UInt32
  /// The sequence number of the data message.
  public var sequenceNumber: UInt16
  /// The sequence number has two bytes (the form of 8 bytes) rather than one.
  public var hasLongSequenceNumber: Bool
  /// What became of the data.
  public var status: DataTransferStatus
  /// How often the data was sent; nil in the form of 6 bytes. The form of 8 always has it.
  public var transmissions: UInt8?

  /// The form of 8 bytes.
  public init(
    sessionToken: UInt32, sequenceNumber: UInt16, status: DataTransferStatus, transmissions: UInt8
  ) {
    self.sessionToken = sessionToken
    self.sequenceNumber = sequenceNumber
    hasLongSequenceNumber = true
    self.status = status
    self.transmissions = transmissions
  }

  /// The older forms of 7 bytes and, without `transmissions`, of 6.
  public init(
    sessionToken: UInt32, shortSequenceNumber: UInt8, status: DataTransferStatus,
    transmissions: UInt8?
  ) {
    self.sessionToken = sessionToken
    sequenceNumber = UInt16(shortSequenceNumber)
    hasLongSequenceNumber = false
    self.status = status
    self.transmissions = transmissions
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    let length = reader.remaining
    sessionToken = try reader.u32("session token")
    hasLongSequenceNumber = length >= 8
    sequenceNumber =
      hasLongSequenceNumber
      ? try reader.u16("sequence number") : UInt16(try reader.u8("sequence number"))
    status = DataTransferStatus(rawValue: try reader.u8("status"))
    transmissions = length >= 7 ? try reader.u8("transmission count") : nil
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u32(sessionToken)
    if hasLongSequenceNumber {
      writer.u16(sequenceNumber)
    } else {
      writer.u8(UInt8(truncatingIfNeeded: sequenceNumber))
    }
    writer.u8(status.rawValue)
    if let transmissions { writer.u8(transmissions) }
  }
}
