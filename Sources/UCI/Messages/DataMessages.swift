// SPDX-License-Identifier: Apache-2.0

/// DATA_MESSAGE_SND (DPF 1): data for a peer of a session.
public struct DataMessageSend: UCIPayload, Hashable {
  /// The data packet format in the place of the group.
  public static let opcode = Opcode(GroupID(rawValue: 1), 0)

  /// What names the session.
  public var sessionToken: UInt32
  /// The address of the peer. A short one stands in the low 16 bits.
  public var destination: UInt64
  /// Counts up with every message; SESSION_DATA_TRANSFER_STATUS_NTF refers to it.
  public var sequenceNumber: UInt16
  /// At most 65535 bytes.
  public var data: [UInt8]

  /// From its fields.
  public init(sessionToken: UInt32, destination: UInt64, sequenceNumber: UInt16, data: [UInt8]) {
    self.sessionToken = sessionToken
    self.destination = destination
    self.sequenceNumber = sequenceNumber
    self.data = data
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    sessionToken = try reader.u32("session token")
    destination = try reader.u64("destination")
    sequenceNumber = try reader.u16("sequence number")
    data = try reader.bytes(Int(try reader.u16("data length")), "data")
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u32(sessionToken)
    writer.u64(destination)
    writer.u16(sequenceNumber)
    writer.u16(UInt16(data.count))
    writer.bytes(data)
  }
}

/// DATA_MESSAGE_RCV (DPF 2): data from a peer of a session.
public struct DataMessageReceived: UCIPayload, Hashable {
  /// The data packet format in the place of the group.
  public static let opcode = Opcode(GroupID(rawValue: 2), 0)

  /// What names the session.
  public var sessionToken: UInt32
  /// 0: received. Other values are statuses on some chips and an enumeration of their own on others.
  public var status: Status
  /// The address of the peer. A short one stands in the low 16 bits.
  public var source: UInt64
  /// Counts up with every message.
  public var sequenceNumber: UInt16
  /// At most 65535 bytes.
  public var data: [UInt8]

  /// From its fields.
  public init(
    sessionToken: UInt32, status: Status, source: UInt64, sequenceNumber: UInt16, data: [UInt8]
  ) {
    self.sessionToken = sessionToken
    self.status = status
    self.source = source
    self.sequenceNumber = sequenceNumber
    self.data = data
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    sessionToken = try reader.u32("session token")
    status = Status(rawValue: try reader.u8("status"))
    source = try reader.u64("source")
    sequenceNumber = try reader.u16("sequence number")
    data = try reader.bytes(Int(try reader.u16("data length")), "data")
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u32(sessionToken)
    writer.u8(status.rawValue)
    writer.u64(source)
    writer.u16(sequenceNumber)
    writer.u16(UInt16(data.count))
    writer.bytes(data)
  }
}
