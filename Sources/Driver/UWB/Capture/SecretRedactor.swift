// SPDX-License-Identifier: Apache-2.0
internal import UCI

/// Zeroes key material in packets: values of secret parameters, keys of controlees, and messages
/// that the tables of UCI mark as secret.
///
/// Lengths are unchanged. In a message that cannot be parsed (segmented or malformed), everything
/// after its first fields becomes zero. The chip's device information determines the vendor of
/// vendor groups. Before it arrives, the secrets of all vendors are zeroed.
struct SecretRedactor: Sendable {
  /// Message types and opcodes of messages without their last segment yet.
  private struct Pending: Hashable {
    var type: MessageType
    var opcode: Opcode
  }
  private var pending: Set<Pending> = []
  private var dialect = Dialect.assumed

  mutating func redact(_ packet: [UInt8]) -> [UInt8] {
    guard let header = try? unsafe PacketHeader(parsing: packet.span.bytes) else { return packet }
    learn(header, packet)
    guard
      let location = Message.keyMaterialLocation(
        type: header.type, opcode: header.opcode, dialect: dialect)
    else { return packet }
    var packet = packet
    func zero(from start: Int, to end: Int = .max) {
      for index in start..<max(start, min(end, packet.count)) { packet[index] = 0 }
    }
    let start = PacketHeader.length
    let key = Pending(type: header.type, opcode: header.opcode)
    if pending.contains(key) {
      if !header.moreFollows { pending.remove(key) }
      zero(from: start)
    } else if header.moreFollows {
      pending.insert(key)
      zero(from: start + location.plainBytes)
    } else {
      for range in location.secrets(in: Array(packet[min(start, packet.count)...])) {
        zero(from: start + range.lowerBound, to: start + range.upperBound)
      }
    }
    return packet
  }

  private mutating func learn(_ header: PacketHeader, _ packet: [UInt8]) {
    guard header.opcode == .coreGetDeviceInfo, header.type == .response, !header.moreFollows,
      let message = try? Message(packet: packet)
    else { return }
    dialect.learn(from: message)
  }
}
