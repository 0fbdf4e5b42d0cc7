// SPDX-License-Identifier: Apache-2.0

/// TEST_PERIODIC_TX_NTF: the frames were sent.
public struct TestPeriodicTXNotification: UCINotification, Hashable {
  /// Group and opcode.
  public static let opcode = TestPeriodicTX.opcode

  /// Whether the test did what it should.
  public var status: Status

  /// From a status.
  public init(status: Status) { self.status = status }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    status = Status(rawValue: try reader.u8("status"))
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(status.rawValue)
  }
}

/// TEST_PER_RX_NTF: what went right and wrong in receiving.
public struct TestPERRXNotification: UCINotification, Hashable {
  /// Group and opcode.
  public static let opcode = TestPERRX.opcode

  /// What the counters count, in the order of the wire.
  public static let counterNames = [
    "attempts", "acquisition_detected", "acquisition_rejected", "rx_failed", "sync_cir_ready",
    "sfd_failed", "sfd_found", "phr_decode_errors", "phr_bit_errors", "psdu_decode_errors",
    "psdu_bit_errors", "sts_found", "end_of_frame",
  ]

  /// Whether the test did what it should.
  public var status: Status
  /// A number for each of `counterNames`; fewer where the notification ends before.
  public var counters: [UInt32]

  /// From its fields.
  public init(status: Status, counters: [UInt32]) {
    self.status = status
    self.counters = counters
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    status = Status(rawValue: try reader.u8("status"))
    counters = try reader.u32s(atMost: Self.counterNames.count, "counter")
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(status.rawValue)
    for counter in counters { writer.u32(counter) }
  }
}

/// TEST_SS_TWR_NTF: a measured time.
public struct TestSSTWRNotification: UCINotification, Hashable {
  /// Group and opcode.
  public static let opcode = TestSSTWR.opcode

  /// Whether the test did what it should.
  public var status: Status
  /// Round trip at the initiator, reply time at the responder: ticks of 1/(128 · 499.2 MHz). Nil
  /// where the notification is a status only.
  public var ticks: UInt32?

  /// From its fields.
  public init(status: Status, ticks: UInt32?) {
    self.status = status
    self.ticks = ticks
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    status = Status(rawValue: try reader.u8("status"))
    ticks = reader.remaining >= 4 ? try reader.u32("time") : nil
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(status.rawValue)
    if let ticks { writer.u32(ticks) }
  }
}
