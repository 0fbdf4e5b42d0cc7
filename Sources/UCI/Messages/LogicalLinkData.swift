// SPDX-License-Identifier: Apache-2.0

/// LL_DATA_MESSAGE_SND (DPF 3): data for the other end of a logical link.
public struct LogicalLinkDataSend: LogicalLinkData, Hashable {
  /// The data packet format in the place of the group.
  public static let opcode = Opcode(GroupID(rawValue: 3), 0)
  /// What names the link.
  public var connectionID: UInt32
  /// Counts up with every message.
  public var sequenceNumber: UInt16
  /// At most 65535 bytes.
  public var data: [UInt8]

  /// From its fields.
  public init(connectionID: UInt32, sequenceNumber: UInt16, data: [UInt8]) {
    self.connectionID = connectionID
    self.sequenceNumber = sequenceNumber
    self.data = data
  }
}

/// LL_DATA_MESSAGE_RCV (DPF 4): data from the other end of a logical link.
public struct LogicalLinkDataReceived: LogicalLinkData, Hashable {
  /// The data packet format in the place of the group.
  public static let opcode = Opcode(GroupID(rawValue: 4), 0)
  /// What names the link.
  public var connectionID: UInt32
  /// Counts up with every message.
  public var sequenceNumber: UInt16
  /// At most 65535 bytes.
  public var data: [UInt8]

  /// From its fields.
  public init(connectionID: UInt32, sequenceNumber: UInt16, data: [UInt8]) {
    self.connectionID = connectionID
    self.sequenceNumber = sequenceNumber
    self.data = data
  }
}

/// What both directions of data on a logical link have in common.
public protocol LogicalLinkData: UCIPayload {
  /// What names the link.
  var connectionID: UInt32 { get }
  /// Counts up with every message.
  var sequenceNumber: UInt16 { get }
  /// At most 65535 bytes.
  var data: [UInt8] { get }
  /// From its fields.
  init(connectionID: UInt32, sequenceNumber: UInt16, data: [UInt8])
}

extension LogicalLinkData {
  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    let connectionID = try reader.u32("connection id")
    let sequenceNumber = try reader.u16("sequence number")
    let length = try reader.u16("data length")
    self.init(
      connectionID: connectionID, sequenceNumber: sequenceNumber,
      data: try reader.bytes(Int(length), "data"))
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u32(connectionID)
    writer.u16(sequenceNumber)
    writer.u16(UInt16(data.count))
    writer.bytes(data)
  }
}
