// SPDX-License-Identifier: Apache-2.0

// Calibration, Qorvo's groups 0xE and 0xF. Source: UWB Qorvo Tools 1.1.1 and 13.1.0.

/// SET_CALIBRATION of Qorvo's group 0xE: values by the names of their keys.
package struct QorvoSetCalibration: UCICommand, Hashable {
  package static let opcode = Opcode(GroupID(rawValue: 0xE), 0x2A)
  package static let isIdempotent = true

  package struct Entry: Hashable, Sendable {
    /// The name in ASCII, for example `ant0.ch9.ant_delay`; at most 255 bytes.
    package var key: [UInt8]
    package var value: [UInt8]

    package init(key: [UInt8], value: [UInt8]) { (self.key, self.value) = (key, value) }
  }

  package var entries: [Entry] = []

  package init() {}
  package init(_ entries: [Entry]) { self.entries = entries }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.list(
      "entries", &entries, .u16, blank: Entry(key: [], value: [])
    ) { c, entry throws(PayloadError) in
      try c.bytes("key", &entry.key, .u8, .text)
      try c.bytes("value", &entry.value, .u8)
    }
  }
}

/// GET_CALIBRATION of Qorvo's group 0xE.
package struct QorvoGetCalibration: UCICommand, Hashable {
  package typealias Response = QorvoCalibrationResponse
  package static let opcode = Opcode(GroupID(rawValue: 0xE), 0x2B)
  package static let isIdempotent = true

  /// The names in ASCII, at most 65535 of at most 255 bytes each; an empty list reads all values.
  package var keys: [[UInt8]] = []

  package init() {}
  package init(keys: [[UInt8]]) { self.keys = keys }

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.values("keys", &keys, .u16, blank: []) { c, key throws(PayloadError) in
      try c.bytes("key", &key, .u8, .text)
    }
  }
}

/// GET_CALIBRATION_RSP of Qorvo's group 0xE.
package struct QorvoCalibrationResponse: UCIResponse, Hashable {
  /// A key, whether it could be read, and its value.
  package struct Entry: Hashable, Sendable {
    /// The name in ASCII.
    package var key: [UInt8] = []
    package var status = Status.ok
    package var value: [UInt8] = []
  }

  package var status = Status.ok
  /// The entries; nil where the response ends after its status.
  package var entries: [Entry]?

  package init() {}

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.code("status", &status)
    try coder.afterStatus(status, &entries) { c, list throws(PayloadError) in
      try c.list("entries", &list, .u16, blank: Entry()) { c, entry throws(PayloadError) in
        try c.bytes("key", &entry.key, .u8, .text)
        try c.code("status", &entry.status)
        try c.bytes("value", &entry.value, .u8)
      }
    }
  }
}

/// Begins a transaction in which calibration is set (GID 0xE, OID 0x2E).
struct QorvoBeginTransaction: UCICommand, Hashable {
  static let opcode = Opcode(GroupID(rawValue: 0xE), 0x2E)
  var option: UInt8 = 0

  mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("option", &option, .names(["CONFIG", "DEFAULT"]))
  }
}

/// Ends a transaction in which calibration was set (GID 0xE, OID 0x2F).
struct QorvoEndTransaction: UCICommand, Hashable {
  static let opcode = Opcode(GroupID(rawValue: 0xE), 0x2F)
  var option: UInt8 = 0

  mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("option", &option, .names(["COMMIT", "ABORT"]))
  }
}

/// Makes a Qorvo chip drop the calibration that was written to it (GID 0xF, OID 0x00).
struct QorvoResetCalibration: EmptyCommand, Hashable {
  static let opcode = Opcode(GroupID(rawValue: 0xF), 0x00)
}
