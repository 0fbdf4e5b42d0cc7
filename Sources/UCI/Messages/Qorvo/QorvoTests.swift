// SPDX-License-Identifier: Apache-2.0

// Radio tests of Qorvo's group 0xB. Source: DW3_QM33_SDK 1.1.0 (uci_spec_qorvo.h); UWB Qorvo
// Tools 1.1.1.

/// TX_CW (GID 0xB, OID 0x01): an unmodulated carrier.
public struct QorvoTestTXCW: UCICommand, Hashable {
  /// What the chip answers.
  public typealias Response = StatusResponse
  /// Group and opcode.
  public static let opcode = Opcode(GroupID(rawValue: 0xB), 0x01)
  /// Sending it again changes nothing more.
  public static let isIdempotent = true

  /// 1 start, 0 stop.
  public var action: UInt8

  /// Starts or stops.
  public init(action: UInt8) { self.action = action }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    action = try reader.u8("action")
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) { writer.u8(action) }
}

/// PLL lock test (GID 0xB, OID 0x02).
public struct QorvoTestPLLLock: UCICommand, Hashable {
  /// What the chip answers.
  public typealias Response = StatusResponse
  /// Group and opcode.
  public static let opcode = Opcode(GroupID(rawValue: 0xB), 0x02)

  /// What to test and for how long.
  public struct Settings: Hashable, Sendable {
    /// Which operation.
    public var operation: UInt8
    /// Tenths of a millisecond.
    public var timeout: UInt16

    /// From its fields.
    public init(operation: UInt8, timeout: UInt16) {
      self.operation = operation
      self.timeout = timeout
    }
  }

  /// nil: as the chip likes.
  public var settings: Settings?

  /// From its fields.
  public init(_ settings: Settings? = nil) { self.settings = settings }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    settings =
      reader.remaining > 0
      ? Settings(operation: try reader.u8("operation"), timeout: try reader.u16("timeout")) : nil
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    guard let settings else { return }
    writer.u8(settings.operation)
    writer.u16(settings.timeout)
  }
}

/// A notification of a Qorvo test that is a list of results by number.
public protocol QorvoTestResults: UCINotification {
  /// At most 255.
  var results: [TLV] { get }
  /// From its fields.
  init(results: [TLV])
  /// What the numbers mean.
  static var names: [UInt8: String] { get }
}

extension QorvoTestResults {
  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    self.init(results: try reader.tlvs("results"))
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) { writer.tlvs(results) }
}

/// Result of the PLL lock test (GID 0xB, OID 0x02).
public struct QorvoTestPLLLockNotification: QorvoTestResults, Hashable {
  /// Group and opcode.
  public static let opcode = QorvoTestPLLLock.opcode
  /// 1: 0 well, 1 setting of the channel failed, 2 state of the PLL; 2: flags of the PLL.
  public static let names: [UInt8: String] = [1: "error", 2: "flags"]
  /// At most 255.
  public var results: [TLV]
  /// From its fields.
  public init(results: [TLV]) { self.results = results }
}

/// Result of the test of the real-time clock (GID 0xB, OID 0x04).
public struct QorvoTestRTCNotification: QorvoTestResults, Hashable {
  /// Group and opcode.
  public static let opcode = Opcode(GroupID(rawValue: 0xB), 0x04)
  /// 1: a status; 2: the time that passed.
  public static let names: [UInt8: String] = [1: "status", 2: "elapsed"]
  /// At most 255.
  public var results: [TLV]
  /// From its fields.
  public init(results: [TLV]) { self.results = results }
}
