// SPDX-License-Identifier: Apache-2.0

/// NXP's CORE_DEVICE_INIT (GID 0xE, OID 0): an SR1xx or SR2xx accepts nothing else before it.
public struct NXPDeviceInit: UCICommand, Hashable {
  /// What the chip answers.
  public typealias Response = StatusResponse
  /// Group and opcode.
  public static let opcode = Opcode(GroupID(rawValue: 0xE), 0x00)
  /// Sending it again changes nothing more.
  public static let isIdempotent = true

  /// Board variant; 0 in every published log.
  public var boardVariant: UInt8
  /// Version of the board variant; 0 in every published log.
  public var boardVersion: UInt8

  /// For a board; 0 and 0 is what published logs send.
  public init(boardVariant: UInt8 = 0, boardVersion: UInt8 = 0) {
    self.boardVariant = boardVariant
    self.boardVersion = boardVersion
  }

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    boardVariant = try reader.u8("board variant")
    boardVersion = try reader.u8("board version")
  }
  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(boardVariant)
    writer.u8(boardVersion)
  }
}
