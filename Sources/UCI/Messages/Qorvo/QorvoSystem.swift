// SPDX-License-Identifier: Apache-2.0

// Sessions, statistics and frames of Qorvo's group 0xB. Source: DW3_QM33_SDK 1.1.0
// (uci_spec_qorvo.h); UWB Qorvo Tools 13.1.0.

/// Qorvo's DEVICE_BOOT_NTF (GID 0xB, OID 0x31).
package struct QorvoBootNotification: UCINotification, Hashable {
  package static let opcode = Opcode(GroupID(rawValue: 0xB), 0x31)
  package var reason: UInt8 = 0

  package init() {}

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("reason", &reason, .names(["UNKNOWN", "FATAL_ERROR"]))
  }
}

/// PSDU dump (GID 0xB, OID 0x22): the bytes of frames of a session.
package struct QorvoPSDUDumpNotification: UCINotification, Hashable {
  package static let opcode = Opcode(GroupID(rawValue: 0xB), 0x22)

  /// A frame.
  package struct Frame: Hashable, Sendable {
    /// Which frame of the round.
    package var index: UInt8 = 0
    /// Its bytes, at most 65535.
    package var psdu: [UInt8] = []
  }

  package var sessionToken: UInt32 = 0
  /// In the order in which they were on the air.
  package var frames: [Frame] = []

  package init() {}

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("session", &sessionToken)
    try coder.list("frames", &frames, .rest, blank: Frame()) { c, frame throws(PayloadError) in
      try c.field("index", &frame.index)
      try c.bytes("psdu", &frame.psdu, .u16)
    }
  }
}

/// Asks a Qorvo chip for all its sessions (SESSION_GET, GID 0xB, OID 0x07).
package struct QorvoGetSessions: EmptyCommand, Hashable {
  package typealias Response = QorvoSessionsResponse
  package static let opcode = Opcode(GroupID(rawValue: 0xB), 0x07)
  package init() {}
}

/// The sessions of a Qorvo chip.
package struct QorvoSessionsResponse: UCIResponse, Hashable {
  /// A session.
  package struct Session: Hashable, Sendable {
    package var token: UInt32 = 0
    package var type = SessionType.ranging
    package var state = SessionState.initialised
  }

  package var status = Status.ok
  /// At most 255; nil where the response ends behind its status.
  package var sessions: [Session]?

  package init() {}

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.code("status", &status)
    try coder.afterStatus(
      status, &sessions, blank: [], isMandatory: false
    ) { c, list throws(PayloadError) in
      try c.list("sessions", &list, .u8, blank: Session()) { c, session throws(PayloadError) in
        try c.field("session", &session.token)
        try c.code("type", &session.type)
        try c.code("state", &session.state)
      }
    }
  }
}

/// Asks a Qorvo chip for its memory statistics (GID 0xB, OID 0x23).
package struct QorvoGetMemoryStats: EmptyCommand, Hashable {
  package typealias Response = QorvoMemoryStatsResponse
  package static let opcode = Opcode(GroupID(rawValue: 0xB), 0x23)
  package init() {}
}

/// What a Qorvo chip's memory is used for.
package struct QorvoMemoryStatsResponse: UCIResponse, Hashable {
  /// Bytes of memory.
  package struct MemoryStats: FieldGroup, Hashable, Sendable {
    /// What is never given back.
    package var staticBytes: Int32 = 0
    /// What is in use now.
    package var heapUsed: UInt32 = 0
    /// What was in use at most.
    package var heapPeak: UInt32 = 0
    /// What there is.
    package var heapSize: UInt32 = 0
    /// How many threads are described in `threadBytes`.
    package var threadCount: UInt8 = 0
    /// The description of the threads as it comes: its layout is not known well enough.
    package var threadBytes: [UInt8] = []

    package init() {}

    package mutating func visit<C: FieldCoder & ~Escapable>(
      _ coder: inout C
    ) throws(PayloadError) {
      try coder.field("static_octets", &staticBytes)
      try coder.field("heap_used_octets", &heapUsed)
      try coder.field("heap_peak_octets", &heapPeak)
      try coder.field("heap_size_octets", &heapSize)
      try coder.field("thread_count", &threadCount)
      try coder.bytes("threads", &threadBytes, .rest)
    }
  }

  package var status = Status.ok
  /// Missing in error responses.
  package var stats: MemoryStats?

  package init() {}

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.code("status", &status)
    try coder.afterStatus(status, &stats, isMandatory: true)
  }
}

/// Asks a Qorvo chip what it spent its time on (GID 0xB, OID 0x24).
package struct QorvoGetPowerStats: EmptyCommand, Hashable {
  package typealias Response = QorvoPowerStatsResponse
  package static let opcode = Opcode(GroupID(rawValue: 0xB), 0x24)
  package init() {}
}

/// What a Qorvo chip spent its time on.
package struct QorvoPowerStatsResponse: UCIResponse, Hashable {
  /// Names of the numbers in their order; the wake-ups are counted, the others are milliseconds.
  package static let names: [StaticString] = [
    "idle_ms", "tx_ms", "rx_ms", "wakeups", "uptime_ms", "s1_ms", "s3_ms",
  ]

  package var status = Status.ok
  /// A number for each of `names`; fewer where the response ends before.
  package var values: [UInt32] = []

  package init() {}

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.code("status", &status)
    try coder.counters(Self.names, &values)
  }
}

/// Lets a Qorvo chip forget its processor statistics (GID 0xB, OID 0x26).
package struct QorvoResetCPUStats: EmptyCommand, Hashable {
  package static let opcode = Opcode(GroupID(rawValue: 0xB), 0x26)
  package init() {}
}

/// Asks a Qorvo chip for its temperature (GID 0xB, OID 0x27).
package struct QorvoGetDeviceStats: EmptyCommand, Hashable {
  package typealias Response = QorvoDeviceStatsResponse
  package static let opcode = Opcode(GroupID(rawValue: 0xB), 0x27)
  package init() {}
}

/// The temperature of a Qorvo chip.
package struct QorvoDeviceStatsResponse: UCIResponse, Hashable {
  package var status = Status.ok
  /// Hundredths of a degree Celsius; missing in error responses.
  package var centidegrees: Int16?

  package init() {}

  package mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.code("status", &status)
    try coder.optional("temperature_celsius", &centidegrees, .scaled(100))
  }
}
