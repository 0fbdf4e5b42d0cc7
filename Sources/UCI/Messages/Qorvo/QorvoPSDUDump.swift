// SPDX-License-Identifier: Apache-2.0

/// PSDU dump (GID 0xB, OID 0x22): the bytes of frames of a session.
///
/// Source: DW3_QM33_SDK 1.1.0 (uci_spec_qorvo.h).
public struct QorvoPSDUDumpNotification: UCINotification, Hashable {
  /// Group and opcode.
  public static let opcode = Opcode(GroupID(rawValue: 0xB), 0x22)

  /// A frame.
  public struct Frame: Hashable, Sendable {
    /// Which frame of the round.
    public var index: UInt8
    /// Its bytes, at most 65535.
    public var psdu: [UInt8]
  }

  /// What names the session.
  public var sessionToken: UInt32
  /// In the order in which they were on the air.
  public var frames: [Frame]

  /// Reads the fields in their order on the wire; throws `PayloadError` where the payload ends.
  public init(from reader: inout PayloadReader, dialect: Dialect) throws(PayloadError) {
    sessionToken = try reader.u32("session token")
    frames = []
    while reader.remaining > 0 {
      let index = try reader.u8("frame index")
      frames.append(Frame(index: index, psdu: try reader.longCounted("PSDU")))
    }
  }

  /// Writes the fields in their order on the wire.
  public func encode(into writer: inout PayloadWriter, dialect: Dialect) {
    writer.u32(sessionToken)
    for frame in frames {
      writer.u8(frame.index)
      writer.longCounted(frame.psdu)
    }
  }
}
