// SPDX-License-Identifier: Apache-2.0

// Radio tests of Qorvo's group 0xB. Source: DW3_QM33_SDK 1.1.0 (uci_spec_qorvo.h); UWB Qorvo
// Tools 1.1.1.

/// TX_CW (GID 0xB, OID 0x01): an unmodulated carrier.
struct QorvoTestTXCW: UCICommand, Hashable {
  static let opcode = Opcode(GroupID(rawValue: 0xB), 0x01)
  static let isIdempotent = true
  var action: UInt8 = 0

  mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("action", &action, .names(["STOP", "START"]))
  }
}

/// PLL lock test (GID 0xB, OID 0x02).
struct QorvoTestPLLLock: UCICommand, Hashable {
  static let opcode = Opcode(GroupID(rawValue: 0xB), 0x02)

  /// The channel and the duration of the test.
  struct Settings: Hashable, Sendable {
    var operation: UInt8 = 0
    /// Tenths of a millisecond.
    var timeout: UInt16 = 0
  }

  /// The settings; nil: the chip's defaults.
  var settings: Settings?

  mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.optional(
      "settings", &settings, blank: Settings(), .omitted, { $0 > 0 }
    ) { c, settings throws(PayloadError) in
      try c.field("operation", &settings.operation)
      try c.field("timeout_ms", &settings.timeout, .scaled(10))
    }
  }
}

/// A notification of a Qorvo test that is a list of results by number.
protocol QorvoTestResults: UCINotification {
  var results: [TLV] { get set }
  /// The meanings of the numbers.
  static var names: [UInt8: String] { get }
}

extension QorvoTestResults {
  mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.parameters("results", &results, .results(Self.names))
  }
}

/// Result of the PLL lock test (GID 0xB, OID 0x02).
struct QorvoTestPLLLockNotification: QorvoTestResults, Hashable {
  static let opcode = QorvoTestPLLLock.opcode
  /// Result 1: 0 success, 1 setting of the channel failed, 2 state of the PLL. Result 2: flags of
  /// the PLL.
  static let names: [UInt8: String] = [1: "error", 2: "flags"]
  var results: [TLV] = []
}

/// Result of the test of the real-time clock (GID 0xB, OID 0x04).
struct QorvoTestRTCNotification: QorvoTestResults, Hashable {
  static let opcode = Opcode(GroupID(rawValue: 0xB), 0x04)
  /// Result 1: a status. Result 2: the time that passed.
  static let names: [UInt8: String] = [1: "status", 2: "elapsed"]
  var results: [TLV] = []
}
