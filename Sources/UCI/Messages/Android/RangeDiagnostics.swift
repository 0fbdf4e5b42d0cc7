// SPDX-License-Identifier: Apache-2.0

/// FIRA_RANGE_DIAGNOSTICS_NTF: what the receiver saw in each frame of a round. Android's vendor
/// group and Qorvo's have it with the same layout.
public struct RangeDiagnosticsNotification: UCINotification, Hashable {
  /// Group and opcode of Android's form; Qorvo's is `qorvoOpcode`.
  public static let opcode = Opcode(.android, 0x02)
  /// Group and opcode of Qorvo's form.
  public static let qorvoOpcode = Opcode(GroupID(rawValue: 0xB), 0x03)

  /// A measure of the receiver.
  public struct Item: Hashable, Sendable {
    /// 0 RSSI, 1 AoA, 2 CIR (old), 3 frame status, 4 CFO, 5 emitter, 6 segment metrics, 7 CIR.
    public var type: UInt8
    /// At most 65535 bytes; what they mean depends on the type.
    public var value: [UInt8]

    /// From its fields.
    public init(type: UInt8, value: [UInt8]) {
      self.type = type
      self.value = value
    }
  }

  /// A frame of the round.
  public struct Report: Hashable, Sendable {
    /// Which message: 0 RIM, 1 RRM, 2 RFM, 3 CM, 4 MRM, 5 RRRM, 6 CU.
    public var message: UInt8
    /// 0 received, 1 sent.
    public var action: UInt8
    /// Which antennas were used.
    public var antennaSet: UInt8
    /// At most 255.
    public var items: [Item]

    /// From its fields.
    public init(message: UInt8, action: UInt8, antennaSet: UInt8, items: [Item]) {
      self.message = message
      self.action = action
      self.antennaSet = antennaSet
      self.items = items
    }
  }

  /// What names the session.
  public var sessionToken: UInt32
  /// The same as in the SESSION_INFO_NTF of the round.
  public var sequenceNumber: UInt32
  /// At most 255.
  public var reports: [Report]

  /// From its fields.
  public init(sessionToken: UInt32, sequenceNumber: UInt32, reports: [Report]) {
    self.sessionToken = sessionToken
    self.sequenceNumber = sequenceNumber
    self.reports = reports
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    sessionToken = try reader.u32("session token")
    sequenceNumber = try reader.u32("sequence number")
    reports = []
    for _ in 0..<(try reader.u8("number of reports")) {
      var report = Report(
        message: try reader.u8("message"), action: try reader.u8("action"),
        antennaSet: try reader.u8("antenna set"), items: [])
      for _ in 0..<(try reader.u8("number of items")) {
        let type = try reader.u8("item type")
        let length = try reader.u16("item length")
        report.items.append(Item(type: type, value: try reader.bytes(Int(length), "item")))
      }
      reports.append(report)
    }
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u32(sessionToken)
    writer.u32(sequenceNumber)
    writer.u8(UInt8(reports.count))
    for report in reports {
      writer.u8(report.message)
      writer.u8(report.action)
      writer.u8(report.antennaSet)
      writer.u8(UInt8(report.items.count))
      for item in report.items {
        writer.u8(item.type)
        writer.u16(UInt16(item.value.count))
        writer.bytes(item.value)
      }
    }
  }
}
