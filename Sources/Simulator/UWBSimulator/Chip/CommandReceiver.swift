// SPDX-License-Identifier: Apache-2.0

import UCI

/// Splits the bytes from a host into packets as the firmware does, including its defects.
struct CommandReceiver: Sendable {
  let rule: ChipProfile.Reception
  private var packet: [UInt8] = []
  private var began: UInt64 = 0

  init(rule: ChipProfile.Reception) { self.rule = rule }

  /// Returns the complete packets; `now` in nanoseconds.
  mutating func take(_ bytes: [UInt8], at now: UInt64) -> [[UInt8]] {
    var packets: [[UInt8]] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      if packet.isEmpty { began = now }
      let missing = length - packet.count
      packet += rest.prefix(missing)
      rest = rest.dropFirst(missing)
      // A header that is complete by now has changed the length.
      if packet.count == length {
        packets.append(packet)
        packet.removeAll(keepingCapacity: true)
      }
    }
    // The firmware checks the time only when bytes arrive that do not complete the packet, so it
    // accepts a late end.
    if case .fourthByte(let timeout) = rule, !packet.isEmpty, now - began > timeout {
      packet.removeAll(keepingCapacity: true)
    }
    return packets
  }

  private var length: Int {
    guard packet.count >= PacketHeader.length else { return PacketHeader.length }
    if case .fourthByte = rule { return PacketHeader.length + Int(packet[3]) }
    guard let header = try? unsafe PacketHeader(parsing: packet.span.bytes) else {
      return packet.count
    }
    return PacketHeader.length + header.payloadLength
  }
}

/// Joins the segments of a command. A segment that does not continue the pending command replaces
/// it.
struct CommandAssembler: Sendable {
  private var opcode: Opcode?
  private var bytes: [UInt8] = []

  /// Returns the whole payload after the last segment.
  mutating func take(_ header: PacketHeader, _ payload: [UInt8]) -> [UInt8]? {
    if opcode != header.opcode { bytes = [] }
    bytes += payload
    opcode = header.moreFollows ? header.opcode : nil
    guard !header.moreFollows else { return nil }
    defer { bytes = [] }
    return bytes
  }
}

/// Joins the segments of a host's messages: segments of a data message may come between segments of
/// a command.
struct RequestAssembler: Sendable {
  private var commands = CommandAssembler()
  private var data = CommandAssembler()

  mutating func take(_ header: PacketHeader, _ payload: [UInt8]) -> Recording.Request? {
    let whole = header.type == .data ? data.take(header, payload) : commands.take(header, payload)
    return whole.map { .init(type: header.type, opcode: header.opcode, payload: $0) }
  }
}
