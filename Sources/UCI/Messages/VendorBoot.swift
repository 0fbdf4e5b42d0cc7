// SPDX-License-Identifier: Apache-2.0

/// NXP's CORE_DEVICE_INIT (GID 0xE, OID 0): an SR1xx or SR2xx accepts nothing else before it.
public struct NXPDeviceInit: UCICommand, Hashable {
  public typealias Response = StatusResponse
  public static let opcode = Opcode(GroupID(rawValue: 0xE), 0x00)
  public static let isIdempotent = true

  /// Board variant; 0 in every published log.
  public var boardVariant: UInt8
  /// Version of the board variant; 0 in every published log.
  public var boardVersion: UInt8

  public init(boardVariant: UInt8 = 0, boardVersion: UInt8 = 0) {
    self.boardVariant = boardVariant
    self.boardVersion = boardVersion
  }

  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    boardVariant = try reader.u8("board variant")
    boardVersion = try reader.u8("board version")
  }
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u8(boardVariant)
    writer.u8(boardVersion)
  }
}
