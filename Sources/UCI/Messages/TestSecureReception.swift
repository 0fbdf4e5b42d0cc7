// SPDX-License-Identifier: Apache-2.0

/// TEST_SR_RX: receives frames and says which of them had the right scrambled timestamps. FiRa 2.0.
public struct TestSRRX: EmptyCommand, Hashable {
  /// What the chip answers.
  public typealias Response = StatusResponse
  /// Group and opcode.
  public static let opcode = Opcode(.test, 0x09)
  /// It starts a measurement, so it is not repeated.
  public static let isIdempotent = false
  /// There is nothing to give.
  public init() {}
}

/// TEST_SR_RX_NTF: what went right and wrong.
///
/// Source: FiRa UCI as published in AOSP (packages/modules/Uwb, uci_packets.pdl, SrRxData).
public struct TestSRRXNotification: UCINotification, Hashable {
  /// Group and opcode.
  public static let opcode = TestSRRX.opcode

  /// What the counters count, in the order of the wire.
  public static let counterNames = [
    "attempts", "acquisition_detected", "acquisition_rejected", "rx_failed", "sync_cir_ready",
    "sfd_failed", "sfd_found", "sts_found", "end_of_frame",
  ]

  /// Whether the test did what it should.
  public var status: Status
  /// A number for each of `counterNames`; fewer where the notification ends before.
  public var counters: [UInt32]
  /// The bitmap of detected STS as it comes; empty unless STS_DETECT_BITMAP asks for it. Read as a
  /// bit for each frame, from the least significant of the first byte on, as UCI has its bits.
  public var bitmap: [UInt8]

  /// From its fields.
  public init(status: Status, counters: [UInt32], bitmap: [UInt8] = []) {
    self.status = status
    self.counters = counters
    self.bitmap = bitmap
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    status = Status(rawValue: try reader.u8("status"))
    counters = try reader.u32s(atMost: Self.counterNames.count, "counter")
    bitmap = counters.count == Self.counterNames.count ? reader.rest() : []
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(status.rawValue)
    for counter in counters { writer.u32(counter) }
    writer.bytes(bitmap)
  }
}
