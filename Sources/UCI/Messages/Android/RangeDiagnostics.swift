// SPDX-License-Identifier: Apache-2.0

/// FIRA_RANGE_DIAGNOSTICS_NTF: what the receiver saw in each frame of a round. Android's vendor
/// group and Qorvo's have it with the same layout.
package struct RangeDiagnosticsNotification: UCINotification, Hashable {
  /// Android's form; Qorvo's is `qorvoOpcode`.
  package static let opcode = Opcode(.android, 0x02)
  package static let qorvoOpcode = Opcode(GroupID(rawValue: 0xB), 0x03)

  /// A measure of the receiver.
  package struct Item: FieldGroup, Hashable, Sendable {
    package var type: UInt8 = 0
    /// At most 65535 bytes; what they mean depends on the type.
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
    /// Which message of the round.
    package var message: UInt8 = 0
    package var action: UInt8 = 0
    /// Which antennas were used.
    package var antennaSet: UInt8 = 0
    /// At most 255.
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
  /// The same as in the SESSION_INFO_NTF of the round.
  package var sequenceNumber: UInt32 = 0
  /// At most 255.
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
