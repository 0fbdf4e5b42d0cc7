// SPDX-License-Identifier: Apache-2.0

/// Cuts a message into the packets that carry it.
public enum Segmentation {
  /// The packets of a message, header included, in the order in which they go out. Every packet
  /// but the last has its boundary flag (PBF) set; each has a length of its own.
  ///
  /// - Parameters:
  ///   - limit: bytes of payload in one packet. 255 at most for control packets; for data what
  ///     the chip announces as MAX_DATA_PACKET_PAYLOAD_SIZE.
  public static func packets(
    type: MessageType, opcode: Opcode, payload: [UInt8], limit: Int = 255,
    dataLengthInByte3: Bool = false
  ) -> [[UInt8]] {
    precondition(limit > 0)
    var packets: [[UInt8]] = []
    var start = 0
    repeat {
      let end = min(start + limit, payload.count)
      let header = PacketHeader(
        type: type, moreFollows: end < payload.count, group: opcode.group, oid: opcode.oid,
        isExtended: type.isControl && end - start > 255, payloadLength: end - start)
      packets.append(header.encoded(dataLengthInByte3: dataLengthInByte3) + payload[start..<end])
      start = end
    } while start < payload.count
    return packets
  }

  /// The packets of a command.
  package static func packets<C: UCICommand>(
    _ command: C, dialect: Dialect = .assumed, limit: Int = 255
  ) -> [[UInt8]] {
    packets(
      type: .command, opcode: C.opcode, payload: command.encoded(dialect: dialect), limit: limit)
  }
}
