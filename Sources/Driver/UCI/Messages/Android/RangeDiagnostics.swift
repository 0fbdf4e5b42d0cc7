// SPDX-License-Identifier: Apache-2.0

/// FIRA_RANGE_DIAGNOSTICS_NTF: the receiver's values for each frame of a round. Android's vendor
/// group and Qorvo's have it with the same layout.
package struct RangeDiagnosticsNotification: UCINotification, Hashable {
  /// Android's form; Qorvo's is `qorvoOpcode`.
  package static let opcode = Opcode(.android, 0x02)
  package static let qorvoOpcode = Opcode(GroupID(rawValue: 0xB), 0x03)

  /// A measure of the receiver.
  package struct Item: FieldGroup, Hashable, Sendable {
    package var type: UInt8 = 0
    /// At most 65535 bytes; their meaning depends on the type.
    package var value: [UInt8] = []

    package init() {}
    package init(type: UInt8, value: [UInt8]) { (self.type, self.value) = (type, value) }

    package mutating func visit<C: FieldCoder & ~Escapable>(
      _ coder: inout C
    ) throws(PayloadError) {
      try coder.field(
        "type", &type,
        .names([
          "RSSI", "AOA", "CIR_OLD", "FRAME_STATUS", "CFO", "EMITTER", "SEGMENT_METRICS", "CIR",
          "CONFIDENCE_METRICS", "RAW_CONFIDENCE",
        ]))
      try coder.bytes("value", &value, .u16)
    }
  }

  /// A frame of the round.
  package struct Report: FieldGroup, Hashable, Sendable {
    package var message: UInt8 = 0
    package var action: UInt8 = 0
    package var antennaSet: UInt8 = 0
    package var items: [Item] = []

    package init() {}
    package init(message: UInt8, action: UInt8, antennaSet: UInt8, items: [Item]) {
      (self.message, self.action) = (message, action)
      (self.antennaSet, self.items) = (antennaSet, items)
    }

    package mutating func visit<C: FieldCoder & ~Escapable>(
      _ coder: inout C
    ) throws(PayloadError) {
      try coder.field(
        "message", &message, .names(["RIM", "RRM", "RFM", "CM", "MRM", "RRRM", "CU"]))
      try coder.field("action", &action, .names(["RX", "TX"]))
      try coder.field("antenna_set", &antennaSet)
      try coder.list("items", &items)
    }
  }

  package var sessionToken: UInt32 = 0
  /// The sequence number of the round, as in its SESSION_INFO_NTF.
  package var sequenceNumber: UInt32 = 0
  package var reports: [Report] = []

  package init() {}
  package init(sessionToken: UInt32, sequenceNumber: UInt32, reports: [Report]) {
    (self.sessionToken, self.sequenceNumber) = (sessionToken, sequenceNumber)
    self.reports = reports
  }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("session", &sessionToken)
    try coder.field("sequence", &sequenceNumber)
    try coder.list("reports", &reports)
  }
}

/// A RANGE_DIAGNOSTICS_NTF, Android's or Qorvo's, read in place, without copying or allocating.
///
/// The view borrows the payload and cannot outlive it. Its bounds are checked once in `init`.
/// `RangeDiagnosticsNotification` has the same contents as a value.
package struct RangeDiagnosticsView: ~Escapable {
  /// The whole payload.
  package let payload: RawSpan
  /// The token of the session.
  package let sessionToken: UInt32
  /// The sequence number of the round, as in its SESSION_INFO_NTF.
  package let sequenceNumber: UInt32
  /// The number of messages of the round with a report.
  package let count: Int

  /// The fields before the items of a report.
  package struct Head: Hashable, Sendable {
    /// The index of the report in the notification, from 0.
    package var index: Int
    /// The message: 0 RIM, 1 RRM, 2 RFM, 3 CM, 4 MRM, 5 RRRM, 6 CU.
    package var message: UInt8
    /// 0 received, 1 sent.
    package var action: UInt8
    /// The antennas that were used.
    package var antennaSet: UInt8
  }

  /// Reads the head of a payload and walks over its items.
  ///
  /// - Throws: `PayloadError` where the payload ends too early.
  @_lifetime(copy payload)
  package init(_ payload: RawSpan) throws(PayloadError) {
    var reader = PayloadReader(payload)
    self.payload = payload
    sessionToken = try reader.u32("session token")
    sequenceNumber = try reader.u32("sequence number")
    count = Int(try reader.u8("number of reports"))
    try Self.walk(payload, count) { _, _, _ in }
  }

  /// Calls `body` with each item: its report, its type and its bytes, in order.
  package func forEachItem(_ body: (Head, UInt8, RawSpan) -> Void) {
    // `init` has read these bytes before.
    try? Self.walk(payload, count, body)
  }

  private static func walk(
    _ payload: RawSpan, _ count: Int, _ body: (Head, UInt8, RawSpan) -> Void
  ) throws(PayloadError) {
    var reader = PayloadReader(payload)
    _ = try reader.u32("session token")
    _ = try reader.u32("sequence number")
    _ = try reader.u8("number of reports")
    for index in 0..<count {
      let head = Head(
        index: index, message: try reader.u8("message"), action: try reader.u8("action"),
        antennaSet: try reader.u8("antenna set"))
      // Computed in Int: without optimisation other ranges allocate.
      for _ in 0..<Int(try reader.u8("number of items")) {
        let type = try reader.u8("item type")
        let length = Int(try reader.u16("item length"))
        let start = reader.offset
        try reader.skip(length, "item")
        body(head, type, payload.extracting(start..<start + length))
      }
    }
  }
}
