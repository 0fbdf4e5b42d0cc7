// SPDX-License-Identifier: Apache-2.0

/// When a frame of a radio test was sent or received.
public struct TestTimestamp: Hashable, Sendable {
  /// Units of 1/124.8 µs.
  public var units: UInt32
  /// Units of 1/(512 · 124.8) µs.
  public var fraction: UInt16

  /// From both parts.
  public init(units: UInt32, fraction: UInt16) {
    self.units = units
    self.fraction = fraction
  }

  /// Microseconds.
  public var microseconds: Double { (Double(units) + Double(fraction) / 512) / 124.8 }
}

extension PayloadReader {
  fileprivate mutating func testTimestamp(_ field: String) throws(PayloadError) -> TestTimestamp {
    TestTimestamp(units: try u32(field), fraction: try u16(field))
  }
}

extension PayloadWriter {
  fileprivate mutating func testTimestamp(_ timestamp: TestTimestamp) {
    u32(timestamp.units)
    u16(timestamp.fraction)
  }
}

/// What was received in a radio test: TEST_RX_NTF or TEST_LOOPBACK_NTF behind the status.
public struct TestFrame: Hashable, Sendable {
  /// When the frame was sent; nil in TEST_RX_NTF.
  public var txTimestamp: TestTimestamp?
  /// When the frame was received.
  public var rxTimestamp: TestTimestamp
  /// Azimuth in Q9.7 degrees.
  public var rawAzimuth: Int16
  /// Elevation in Q9.7 degrees.
  public var rawElevation: Int16
  /// Time between the main path and the first in ns; nil in TEST_LOOPBACK_NTF.
  public var arrivalGapNanoseconds: UInt8?
  /// The header of the frame.
  public var phr: UInt16
  /// The payload of the frame, at most 65535 bytes.
  public var psdu: [UInt8]

  /// From its fields; `txTimestamp` for a loopback, `arrivalGapNanoseconds` for everything else.
  public init(
    txTimestamp: TestTimestamp? = nil, rxTimestamp: TestTimestamp, rawAzimuth: Int16,
    rawElevation: Int16, arrivalGapNanoseconds: UInt8? = nil, phr: UInt16, psdu: [UInt8]
  ) {
    self.txTimestamp = txTimestamp
    self.rxTimestamp = rxTimestamp
    self.rawAzimuth = rawAzimuth
    self.rawElevation = rawElevation
    self.arrivalGapNanoseconds = arrivalGapNanoseconds
    self.phr = phr
    self.psdu = psdu
  }

  fileprivate init(from reader: inout PayloadReader, isLoopback: Bool) throws(PayloadError) {
    txTimestamp = isLoopback ? try reader.testTimestamp("TX timestamp") : nil
    rxTimestamp = try reader.testTimestamp("RX timestamp")
    rawAzimuth = try reader.i16("azimuth")
    rawElevation = try reader.i16("elevation")
    arrivalGapNanoseconds = isLoopback ? nil : try reader.u8("ToA gap")
    phr = try reader.u16("PHR")
    psdu = try reader.bytes(Int(try reader.u16("PSDU length")), "PSDU")
  }

  fileprivate func encode(into writer: inout PayloadWriter) {
    if let txTimestamp { writer.testTimestamp(txTimestamp) }
    writer.testTimestamp(rxTimestamp)
    writer.i16(rawAzimuth)
    writer.i16(rawElevation)
    if let arrivalGapNanoseconds { writer.u8(arrivalGapNanoseconds) }
    writer.u16(phr)
    writer.u16(UInt16(psdu.count))
    writer.bytes(psdu)
  }
}

/// TEST_RX_NTF: a frame was received.
public struct TestRXNotification: UCINotification, Hashable {
  /// Group and opcode.
  public static let opcode = TestRX.opcode

  /// Whether the test did what it should.
  public var status: Status
  /// The frame; nil where the notification is a status only.
  public var frame: TestFrame?

  /// From its fields.
  public init(status: Status, frame: TestFrame?) {
    self.status = status
    self.frame = frame
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    status = Status(rawValue: try reader.u8("status"))
    frame = reader.remaining > 0 ? try TestFrame(from: &reader, isLoopback: false) : nil
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(status.rawValue)
    frame?.encode(into: &writer)
  }
}

/// TEST_LOOPBACK_NTF: a frame was sent and received.
public struct TestLoopbackNotification: UCINotification, Hashable {
  /// Group and opcode.
  public static let opcode = TestLoopback.opcode

  /// Whether the test did what it should.
  public var status: Status
  /// The frame; nil where the notification is a status only.
  public var frame: TestFrame?

  /// From its fields.
  public init(status: Status, frame: TestFrame?) {
    self.status = status
    self.frame = frame
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    status = Status(rawValue: try reader.u8("status"))
    frame = reader.remaining > 0 ? try TestFrame(from: &reader, isLoopback: true) : nil
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(status.rawValue)
    frame?.encode(into: &writer)
  }
}
