// SPDX-License-Identifier: Apache-2.0
internal import UCI

/// Zeroes key material in packets: values of secret parameters in SESSION_SET_APP_CONFIG commands
/// and SESSION_GET_APP_CONFIG responses, and the keys of controlees in
/// SESSION_UPDATE_CONTROLLER_MULTICAST_LIST commands.
///
/// Lengths stay. A message that cannot be taken apart, because it is segmented or does not have the
/// layout it should have, loses everything behind its first fields.
struct SecretRedactor: Sendable {
  /// Message types and opcodes of which a last segment is still to come.
  private struct Pending: Hashable {
    var type: MessageType
    var opcode: Opcode
  }
  private var pending: Set<Pending> = []

  mutating func redact(_ packet: [UInt8]) -> [UInt8] {
    guard let header = try? unsafe PacketHeader(parsing: packet.span.bytes),
      Message.canCarryKeys(type: header.type, opcode: header.opcode)
    else { return packet }
    var packet = packet
    let start = PacketHeader.length
    let key = Pending(type: header.type, opcode: header.opcode)
    if pending.contains(key) {
      if !header.moreFollows { pending.remove(key) }
      packet.zero(from: start)
    } else if header.moreFollows {
      pending.insert(key)
      packet.zero(from: start + Self.plainOctets(header.opcode))
    } else if header.opcode == .sessionUpdateMulticastList {
      Self.redactControlees(&packet)
    } else {
      Self.redactParameters(&packet, from: start + Self.plainOctets(header.opcode))
    }
    return packet
  }

  /// Octets before the first that can belong to a key: the session token, or the status.
  private static func plainOctets(_ opcode: Opcode) -> Int {
    opcode == .sessionGetAppConfig ? 1 : 4
  }

  /// - Parameter start: where the number of parameters stands.
  private static func redactParameters(_ packet: inout [UInt8], from start: Int) {
    guard start < packet.count else { return }
    // Which identifiers have two octets cannot be seen; what is secret in any reading is zeroed.
    let readings = [nil, 0xE3...0xE5, 0xE4...0xE5].compactMap {
      secrets(in: packet, from: start, twoOctetIDs: $0)
    }
    guard !readings.isEmpty else { return packet.zero(from: start) }
    for range in readings.joined() { packet.zero(range) }
  }

  /// The values of secret parameters; nil when the list does not end where the packet does.
  private static func secrets(
    in packet: [UInt8], from start: Int, twoOctetIDs: ClosedRange<UInt8>?
  ) -> [Range<Int>]? {
    var secrets: [Range<Int>] = []
    var offset = start + 1
    for _ in 0..<packet[start] {
      guard offset < packet.count else { return nil }
      let id = packet[offset]
      let isLong = twoOctetIDs?.contains(id) == true
      offset += isLong ? 2 : 1
      guard offset < packet.count else { return nil }
      let end = offset + 1 + Int(packet[offset])
      guard end <= packet.count else { return nil }
      // What NXP's own parameters hold is not known.
      if isLong || AppConfigID(rawValue: id).isSecret { secrets.append(offset + 1..<end) }
      offset = end
    }
    return offset == packet.count ? secrets : nil
  }

  private static func redactControlees(_ packet: inout [UInt8]) {
    let first = PacketHeader.length + 6
    guard packet.count >= first else { return }
    let length = UpdateMulticastList.Action(rawValue: packet[first - 2]).keyLength
    let count = Int(packet[first - 1])
    guard let length, packet.count == first + count * (6 + length) else {
      return packet.zero(from: first)
    }
    for index in 0..<count {
      let key = first + index * (6 + length) + 6
      packet.zero(key..<key + length)
    }
  }
}

extension [UInt8] {
  fileprivate mutating func zero(_ range: Range<Int>) {
    for index in range { self[index] = 0 }
  }

  fileprivate mutating func zero(from start: Int) {
    if start < count { zero(start..<count) }
  }
}
