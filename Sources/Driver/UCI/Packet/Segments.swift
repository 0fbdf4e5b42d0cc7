// SPDX-License-Identifier: Apache-2.0

/// Splits a message into the packets that carry it.
package enum Segmentation {
  /// Returns the packets of a message, header included, in the order of sending. Every packet but
  /// the last has its boundary flag (PBF) set; each has a length of its own.
  ///
  /// - Parameters:
  ///   - limit: bytes of payload in one packet. 255 at most for control packets; for data the
  ///     chip's MAX_DATA_PACKET_PAYLOAD_SIZE.
  package static func packets(
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

  package static func packets<C: UCICommand>(
    _ command: C, dialect: Dialect = .assumed, limit: Int = 255
  ) -> [[UInt8]] {
    packets(
      type: .command, opcode: C.opcode, payload: command.encoded(dialect: dialect), limit: limit)
  }
}

/// Joins the segments of messages: one partial control message and one partial data message at a
/// time, so that a data packet between two control segments does no harm.
///
/// A segment that does not continue the partial message drops it, and begins a message of its own:
/// so one message is lost instead of two. Packets that are whole messages are not copied, and
/// nothing is allocated once the buffers have grown to the longest message seen.
package struct Reassembler {
  /// The result of adding a packet.
  package enum Outcome: Hashable, Sendable {
    /// The packet is a whole message: read its own payload.
    case whole
    /// The packet ended a message: read `payload(of:)`.
    case completed
    /// More segments are needed.
    case incomplete
  }

  private struct Partial {
    var bytes: [UInt8] = []
    var opcode: Opcode?
    var type = MessageType.data
  }

  private var control = Partial()
  private var data = Partial()
  /// The number of partial messages that were dropped because another message began or they grew
  /// too long.
  package private(set) var dropped = 0
  /// The length above which messages are dropped: no known chip sends messages of nearly this
  /// length.
  package let limit: Int

  /// Creates a reassembler without partial messages.
  package init(limit: Int = 65_536) {
    self.limit = limit
    control.bytes.reserveCapacity(1_024)
  }

  /// Adds the next packet.
  package mutating func take(_ header: PacketHeader, payload: RawSpan) -> Outcome {
    if !header.moreFollows && (header.type == .data ? data : control).opcode == nil {
      return .whole
    }
    return header.type == .data
      ? Self.add(header, payload, to: &data, limit: limit, dropped: &dropped)
      : Self.add(header, payload, to: &control, limit: limit, dropped: &dropped)
  }

  private static func add(
    _ header: PacketHeader, _ payload: RawSpan, to partial: inout Partial, limit: Int,
    dropped: inout Int
  ) -> Outcome {
    if let pending = partial.opcode, pending != header.opcode || partial.type != header.type {
      dropped += 1
      partial.opcode = nil
    }
    if partial.opcode == nil {
      guard header.moreFollows else { return .whole }
      partial.bytes.removeAll(keepingCapacity: true)
      partial.opcode = header.opcode
      partial.type = header.type
    }
    guard partial.bytes.count + payload.byteCount <= limit else {
      dropped += 1
      partial.opcode = nil
      return .incomplete
    }
    unsafe payload.withUnsafeBytes { unsafe partial.bytes.append(contentsOf: $0) }
    guard !header.moreFollows else { return .incomplete }
    partial.opcode = nil
    return .completed
  }

  /// Passes on the joined payload after `.completed`, until the next segment is added.
  package func withPayload<R, E: Error>(
    of type: MessageType, _ body: (RawSpan) throws(E) -> R
  ) throws(E) -> R {
    try unsafe body((type == .data ? data : control).bytes.span.bytes)
  }

  /// Drops partial messages, for example after the boundary between frames was lost.
  package mutating func reset() {
    if control.opcode != nil || data.opcode != nil { dropped += 1 }
    control.opcode = nil
    data.opcode = nil
  }
}
