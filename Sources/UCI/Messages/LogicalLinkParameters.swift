// SPDX-License-Identifier: Apache-2.0

/// LOGICAL_LINK_GET_PARAM, FiRa 3.0.
public struct LogicalLinkGetParam: UCICommand, Hashable {
  /// What the chip answers.
  public typealias Response = LogicalLinkParametersResponse
  /// Group and opcode.
  public static let opcode = Opcode.logicalLinkGetParam
  /// Asking again changes nothing.
  public static let isIdempotent = true

  /// What names the link.
  public var connectionID: UInt32

  /// For the link named by this id.
  public init(connectionID: UInt32) { self.connectionID = connectionID }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    connectionID = try reader.u32("connection id")
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u32(connectionID)
  }
}

/// LOGICAL_LINK_GET_PARAM_RSP: the parameters of a link of which the chip has values.
public struct LogicalLinkParametersResponse: UCIResponse, Hashable {
  /// Whether the chip did what it was asked.
  public var status: Status
  /// Which values follow, a bit each, as it came; nil in responses that are a status only. Bits 0…6
  /// are the values below, in their order, and have to agree with them.
  public var control: UInt16?
  /// Bytes of a service data unit at most.
  public var sduSize: UInt16?
  /// Bytes of a protocol data unit at most.
  public var pduSize: UInt16?
  /// Units that may be sent without an acknowledgement.
  public var txWindow: UInt8?
  /// Units that may be received without an acknowledgement.
  public var rxWindow: UInt8?
  /// How often a unit is repeated.
  public var repetitionCount: UInt8?
  /// When a silent link is given up.
  public var linkTimeout: UInt8?
  /// The port of the link.
  public var port: UInt8?

  /// A response without values.
  public init(status: Status) { self.status = status }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    status = Status(rawValue: try reader.u8("status"))
    // An error may be followed by a stray byte.
    guard reader.remaining >= 2 || (status == .ok && reader.remaining > 0) else { return }
    let control = try reader.u16("control")
    self.control = control
    if control & 0x01 != 0 { sduSize = try reader.u16("SDU size") }
    if control & 0x02 != 0 { pduSize = try reader.u16("PDU size") }
    if control & 0x04 != 0 { txWindow = try reader.u8("TX window") }
    if control & 0x08 != 0 { rxWindow = try reader.u8("RX window") }
    if control & 0x10 != 0 { repetitionCount = try reader.u8("repetition count") }
    if control & 0x20 != 0 { linkTimeout = try reader.u8("link timeout") }
    if control & 0x40 != 0 { port = try reader.u8("port") }
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(status.rawValue)
    guard let control else { return }
    writer.u16(control)
    for value in [sduSize, pduSize] { if let value { writer.u16(value) } }
    for value in [txWindow, rxWindow, repetitionCount, linkTimeout, port] {
      if let value { writer.u8(value) }
    }
  }
}
