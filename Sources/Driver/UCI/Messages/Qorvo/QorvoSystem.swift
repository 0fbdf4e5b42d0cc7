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
struct QorvoPSDUDumpNotification: UCINotification, Hashable {
  static let opcode = Opcode(GroupID(rawValue: 0xB), 0x22)

  struct Frame: Hashable, Sendable {
    /// The index of the frame in the round.
    var index: UInt8 = 0
    /// The bytes of the frame, at most 65535.
    var psdu: [UInt8] = []
  }

  var sessionToken: UInt32 = 0
  /// The frames in their order on the air.
  var frames: [Frame] = []

  mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("session", &sessionToken)
    try coder.list("frames", &frames, .rest, blank: Frame()) { c, frame throws(PayloadError) in
      try c.field("index", &frame.index)
      try c.bytes("psdu", &frame.psdu, .u16)
    }
  }
}

/// Asks a Qorvo chip for all its sessions (SESSION_GET, GID 0xB, OID 0x07).
struct QorvoGetSessions: EmptyCommand, Hashable {
  typealias Response = QorvoSessionsResponse
  static let opcode = Opcode(GroupID(rawValue: 0xB), 0x07)
}

struct QorvoSessionsResponse: UCIResponse, Hashable {
  struct Session: Hashable, Sendable {
    var token: UInt32 = 0
    var type = SessionType.ranging
    var state = SessionState.initialised
  }

  var status = Status.ok
  /// At most 255 sessions; nil where the response ends after its status.
  var sessions: [Session]?

  mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.code("status", &status)
    try coder.afterStatus(status, &sessions) { c, list throws(PayloadError) in
      try c.list("sessions", &list, .u8, blank: Session()) { c, session throws(PayloadError) in
        try c.field("session", &session.token)
        try c.code("type", &session.type)
        try c.code("state", &session.state)
      }
    }
  }
}

/// Asks a Qorvo chip for its memory statistics (GID 0xB, OID 0x23).
struct QorvoGetMemoryStats: EmptyCommand, Hashable {
  typealias Response = BodyResponse<QorvoMemoryStats>
  static let opcode = Opcode(GroupID(rawValue: 0xB), 0x23)
}

/// The use of a Qorvo chip's memory, in bytes.
struct QorvoMemoryStats: ResponseBody {
  /// The memory that is never released.
  var staticBytes: Int32 = 0
  var heapUsed: UInt32 = 0
  var heapPeak: UInt32 = 0
  var heapSize: UInt32 = 0
  /// The number of threads described in `threadBytes`.
  var threadCount: UInt8 = 0
  /// The raw description of the threads: too little is known about its layout.
  var threadBytes: [UInt8] = []

  mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.field("static_octets", &staticBytes)
    try coder.field("heap_used_octets", &heapUsed)
    try coder.field("heap_peak_octets", &heapPeak)
    try coder.field("heap_size_octets", &heapSize)
    try coder.field("thread_count", &threadCount)
    try coder.bytes("threads", &threadBytes, .rest)
  }
}

/// Asks a Qorvo chip for the use of its time (GID 0xB, OID 0x24).
struct QorvoGetPowerStats: EmptyCommand, Hashable {
  typealias Response = QorvoPowerStatsResponse
  static let opcode = Opcode(GroupID(rawValue: 0xB), 0x24)
}

struct QorvoPowerStatsResponse: UCIResponse, Hashable {
  /// Names of the numbers in their order. Wake-ups are a count; the other numbers are milliseconds.
  static let names: [StaticString] = [
    "idle_ms", "tx_ms", "rx_ms", "wakeups", "uptime_ms", "s1_ms", "s3_ms",
  ]

  var status = Status.ok
  /// A number for each of `names`; fewer if the response ends early.
  var values: [UInt32] = []

  mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.code("status", &status)
    try coder.counters(Self.names, &values)
  }
}

/// Makes a Qorvo chip clear its processor statistics (GID 0xB, OID 0x26).
struct QorvoResetCPUStats: EmptyCommand, Hashable {
  static let opcode = Opcode(GroupID(rawValue: 0xB), 0x26)
}

/// Asks a Qorvo chip for its temperature (GID 0xB, OID 0x27).
struct QorvoGetDeviceStats: EmptyCommand, Hashable {
  typealias Response = QorvoDeviceStatsResponse
  static let opcode = Opcode(GroupID(rawValue: 0xB), 0x27)
}

struct QorvoDeviceStatsResponse: UCIResponse, Hashable {
  var status = Status.ok
  /// Hundredths of a degree Celsius; missing in error responses.
  var centidegrees: Int16?

  mutating func visit<C: FieldCoder & ~Escapable>(_ coder: inout C) throws(PayloadError) {
    try coder.code("status", &status)
    try coder.optional("temperature_celsius", &centidegrees, .scaled(100))
  }
}
