// SPDX-License-Identifier: Apache-2.0

/// A radio test whose payload is what to send or to expect, as bytes.
public protocol TestPSDUCommand: UCICommand {
  /// The payload of the frames; empty where the test takes none.
  var psdu: [UInt8] { get }
  /// With this payload of the frames.
  init(psdu: [UInt8])
}

extension TestPSDUCommand {
  /// Reads everything there is.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    self.init(psdu: reader.rest())
  }
  /// Writes the payload of the frames.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) { writer.bytes(psdu) }
}

/// TEST_PERIODIC_TX: sends frames again and again.
public struct TestPeriodicTX: TestPSDUCommand, Hashable {
  /// What the chip answers.
  public typealias Response = StatusResponse
  /// Group and opcode.
  public static let opcode = Opcode(.test, 0x02)
  /// The payload of the frames.
  public var psdu: [UInt8]
  /// With this payload of the frames.
  public init(psdu: [UInt8]) { self.psdu = psdu }
}

/// TEST_PER_RX: receives frames and counts what went wrong.
public struct TestPERRX: TestPSDUCommand, Hashable {
  /// What the chip answers.
  public typealias Response = StatusResponse
  /// Group and opcode.
  public static let opcode = Opcode(.test, 0x03)
  /// The payload of the frames.
  public var psdu: [UInt8]
  /// With this payload of the frames.
  public init(psdu: [UInt8]) { self.psdu = psdu }
}

/// TEST_RX: receives one frame.
public struct TestRX: TestPSDUCommand, Hashable {
  /// What the chip answers.
  public typealias Response = StatusResponse
  /// Group and opcode.
  public static let opcode = Opcode(.test, 0x05)
  /// Empty on some chips, the payload of the frame on others.
  public var psdu: [UInt8]
  /// With this payload of the frame.
  public init(psdu: [UInt8] = []) { self.psdu = psdu }
}

/// TEST_LOOPBACK: sends a frame and receives it.
public struct TestLoopback: TestPSDUCommand, Hashable {
  /// What the chip answers.
  public typealias Response = StatusResponse
  /// Group and opcode.
  public static let opcode = Opcode(.test, 0x06)
  /// The payload of the frame.
  public var psdu: [UInt8]
  /// With this payload of the frame.
  public init(psdu: [UInt8]) { self.psdu = psdu }
}

/// TEST_STOP_SESSION: ends a test that is running.
public struct TestStopSession: EmptyCommand, Hashable {
  /// What the chip answers.
  public typealias Response = StatusResponse
  /// Group and opcode.
  public static let opcode = Opcode(.test, 0x07)
  /// There is nothing to give.
  public init() {}
}

/// TEST_SS_TWR: one single-sided two-way ranging.
public struct TestSSTWR: EmptyCommand, Hashable {
  /// What the chip answers.
  public typealias Response = StatusResponse
  /// Group and opcode.
  public static let opcode = Opcode(.test, 0x08)
  /// It starts a measurement, so it is not repeated.
  public static let isIdempotent = false
  /// There is nothing to give.
  public init() {}
}
