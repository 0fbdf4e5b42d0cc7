// SPDX-License-Identifier: Apache-2.0

/// Qorvo's DEVICE_BOOT_NTF (GID 0xB, OID 0x31).
public struct QorvoBootNotification: UCINotification, Hashable {
  /// Group and opcode.
  public static let opcode = Opcode(GroupID(rawValue: 0xB), 0x31)

  /// 0 not known, 1 after a fatal error.
  public var reason: UInt8

  /// From a reason.
  public init(reason: UInt8) { self.reason = reason }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    reason = try reader.u8("reason")
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(reason)
  }
}
