// SPDX-License-Identifier: Apache-2.0

// Statistics of Qorvo's group 0xB. Source: DW3_QM33_SDK 1.1.0 (uci_spec_qorvo.h); UWB Qorvo
// Tools 13.1.0.

/// Asks a Qorvo chip for its memory statistics (GID 0xB, OID 0x23).
public struct QorvoGetMemoryStats: EmptyCommand, Hashable {
  /// What the chip answers.
  public typealias Response = QorvoMemoryStatsResponse
  /// Group and opcode.
  public static let opcode = Opcode(GroupID(rawValue: 0xB), 0x23)
  /// There is nothing to give.
  public init() {}
}

/// What a Qorvo chip's memory is used for.
public struct QorvoMemoryStatsResponse: UCIResponse, Hashable {
  /// Bytes of memory.
  public struct MemoryStats: Hashable, Sendable {
    /// What is never given back.
    public var staticBytes: Int32
    /// What is in use now.
    public var heapUsed: UInt32
    /// What was in use at most.
    public var heapPeak: UInt32
    /// What there is.
    public var heapSize: UInt32
    /// How many threads are described in `threadBytes`.
    public var threadCount: UInt8
    /// The description of the threads as it comes: its layout is not known well enough.
    public var threadBytes: [UInt8]
  }

  /// Whether the chip did what it was asked.
  public var status: Status
  /// Missing in error responses.
  public var stats: MemoryStats?

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    status = Status(rawValue: try reader.u8("status"))
    guard status == .ok || reader.remaining >= 17 else { return }
    stats = MemoryStats(
      staticBytes: try reader.i32("static memory"), heapUsed: try reader.u32("heap used"),
      heapPeak: try reader.u32("heap peak"), heapSize: try reader.u32("heap size"),
      threadCount: try reader.u8("number of threads"), threadBytes: reader.rest())
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(status.rawValue)
    guard let stats else { return }
    writer.i32(stats.staticBytes)
    for value in [stats.heapUsed, stats.heapPeak, stats.heapSize] { writer.u32(value) }
    writer.u8(stats.threadCount)
    writer.bytes(stats.threadBytes)
  }
}

/// Asks a Qorvo chip what it spent its time on (GID 0xB, OID 0x24).
public struct QorvoGetPowerStats: EmptyCommand, Hashable {
  /// What the chip answers.
  public typealias Response = QorvoPowerStatsResponse
  /// Group and opcode.
  public static let opcode = Opcode(GroupID(rawValue: 0xB), 0x24)
  /// There is nothing to give.
  public init() {}
}

/// What a Qorvo chip spent its time on.
public struct QorvoPowerStatsResponse: UCIResponse, Hashable {
  /// Names of the numbers in their order; the wake-ups are counted, the others are milliseconds.
  public static let names = ["idle_ms", "tx_ms", "rx_ms", "wakeups", "uptime_ms", "s1_ms", "s3_ms"]

  /// Whether the chip did what it was asked.
  public var status: Status
  /// A number for each of `names`; fewer where the response ends before.
  public var values: [UInt32]

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    status = Status(rawValue: try reader.u8("status"))
    values = try reader.u32s(atMost: Self.names.count, "time")
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(status.rawValue)
    for value in values { writer.u32(value) }
  }
}

/// Lets a Qorvo chip forget its processor statistics (GID 0xB, OID 0x26).
public struct QorvoResetCPUStats: EmptyCommand, Hashable {
  /// What the chip answers.
  public typealias Response = StatusResponse
  /// Group and opcode.
  public static let opcode = Opcode(GroupID(rawValue: 0xB), 0x26)
  /// There is nothing to give.
  public init() {}
}

/// Asks a Qorvo chip for its temperature (GID 0xB, OID 0x27).
public struct QorvoGetDeviceStats: EmptyCommand, Hashable {
  /// What the chip answers.
  public typealias Response = QorvoDeviceStatsResponse
  /// Group and opcode.
  public static let opcode = Opcode(GroupID(rawValue: 0xB), 0x27)
  /// There is nothing to give.
  public init() {}
}

/// The temperature of a Qorvo chip.
public struct QorvoDeviceStatsResponse: UCIResponse, Hashable {
  /// Whether the chip did what it was asked.
  public var status: Status
  /// Hundredths of a degree Celsius; missing in error responses.
  public var centidegrees: Int16?

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    status = Status(rawValue: try reader.u8("status"))
    centidegrees = reader.remaining >= 2 ? try reader.i16("temperature") : nil
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(status.rawValue)
    if let centidegrees { writer.i16(centidegrees) }
  }
}
