// SPDX-License-Identifier: Apache-2.0

// Calibration as a whole, Qorvo's groups 0xE and 0xF. Source: UWB Qorvo Tools 1.1.1 and 13.1.0.

/// Begins a transaction in which calibration is set (GID 0xE, OID 0x2E).
public struct QorvoBeginTransaction: QorvoTransactionCommand, Hashable {
  /// Group and opcode.
  public static let opcode = Opcode(GroupID(rawValue: 0xE), 0x2E)
  /// What the values mean.
  package static let names = ["CONFIG", "DEFAULT"]
  /// 0 of the configuration, 1 of the defaults.
  public var option: UInt8
  /// From its field.
  public init(option: UInt8) { self.option = option }
}

/// Ends a transaction in which calibration was set (GID 0xE, OID 0x2F).
public struct QorvoEndTransaction: QorvoTransactionCommand, Hashable {
  /// Group and opcode.
  public static let opcode = Opcode(GroupID(rawValue: 0xE), 0x2F)
  /// What the values mean.
  package static let names = ["COMMIT", "ABORT"]
  /// 0 what was set is valid, 1 it is forgotten.
  public var option: UInt8
  /// From its field.
  public init(option: UInt8) { self.option = option }
}

/// A command on a transaction: one byte.
public protocol QorvoTransactionCommand: UCICommand where Response == StatusResponse {
  /// What to do with the transaction.
  var option: UInt8 { get }
  /// From its field.
  init(option: UInt8)
}

extension QorvoTransactionCommand {
  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    self.init(option: try reader.u8("option"))
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) { writer.u8(option) }
}

/// Lets a Qorvo chip forget the calibration it was given (GID 0xF, OID 0x00).
public struct QorvoResetCalibration: EmptyCommand, Hashable {
  /// What the chip answers.
  public typealias Response = StatusResponse
  /// Group and opcode.
  public static let opcode = Opcode(GroupID(rawValue: 0xF), 0x00)
  /// There is nothing to give.
  public init() {}
}
