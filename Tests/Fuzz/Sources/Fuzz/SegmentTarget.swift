// SPDX-License-Identifier: Apache-2.0
internal import UCI

/// Compares the reassembler with a simple one for packets in any order, and joins messages after
/// segmenting them.
///
/// The input is a byte for the limit, and then packets. Each packet is a header, whose length is
/// limited to the available bytes.
enum SegmentTarget: Target {
  static let name = "segments"

  static func run(_ input: [UInt8]) {
    guard let first = input.first else { return }
    let limit = Int(first) * 8 + 1
    var joiner = Reassembler(limit: limit)
    var model = Model(limit: limit)
    var rest = input.dropFirst()
    while rest.count >= PacketHeader.length {
      let bytes = Array(rest.prefix(PacketHeader.length))
      guard let header = try? PacketHeader(parsing: bytes.span.bytes) else { break }
      rest = rest.dropFirst(PacketHeader.length)
      let payload = Array(rest.prefix(header.payloadLength))
      rest = rest.dropFirst(payload.count)
      let outcome = joiner.take(header, payload: payload.span.bytes)
      if outcome != model.take(header, payload) { fail("\(outcome) is not what follows") }
      if outcome == .completed {
        let joined = joiner.withPayload(of: header.type) { bytes in
          bytes.withUnsafeBytes { Array($0) }
        }
        if joined != model.joined { fail("segments are joined wrongly") }
        if joined.count > limit { fail("a message grew beyond the limit") }
      }
    }
    if joiner.dropped != model.dropped { fail("dropped messages are counted wrongly") }
    roundTrip(Array(input.dropFirst()), limit: limit)
  }

  /// A segmented message is joined again.
  private static func roundTrip(_ payload: [UInt8], limit: Int) {
    guard payload.count >= 2 else { return }
    let type = MessageType(rawValue: payload[0] & 3)
    let opcode = Opcode(
      GroupID(rawValue: payload[0] >> 4), type == .data ? 0 : payload[1] & 0x3F)
    let packets = Segmentation.packets(
      type: type, opcode: opcode, payload: payload,
      limit: type == .data ? limit : min(limit, 255))
    var joiner = Reassembler()
    for (index, packet) in packets.enumerated() {
      guard let header = try? PacketHeader(parsing: packet.span.bytes),
        header.payloadLength == packet.count - PacketHeader.length
      else { fail("a segment has a wrong header") }
      let outcome = joiner.take(
        header, payload: packet.span.bytes.extracting(PacketHeader.length..<packet.count))
      let last = index == packets.count - 1
      let expected: Reassembler.Outcome =
        packets.count == 1 ? .whole : last ? .completed : .incomplete
      if outcome != expected { fail("segment \(index) of \(packets.count) is \(outcome)") }
    }
    if packets.count > 1 {
      let joined = joiner.withPayload(of: type) { bytes in bytes.withUnsafeBytes { Array($0) } }
      if joined != payload { fail("a message is not the same after cutting and joining") }
    }
  }

  /// A model of the rules that is simple and slow.
  private struct Model {
    let limit: Int
    var partial: [Bool: (header: PacketHeader, bytes: [UInt8])] = [:]
    var joined: [UInt8] = []
    var dropped = 0

    mutating func take(_ header: PacketHeader, _ payload: [UInt8]) -> Reassembler.Outcome {
      let isData = header.type == .data
      if let begun = partial[isData]?.header,
        begun.type != header.type || begun.opcode != header.opcode
      {
        partial[isData] = nil
        dropped += 1
      }
      guard partial[isData] != nil || header.moreFollows else { return .whole }
      let bytes = (partial[isData]?.bytes ?? []) + payload
      guard bytes.count <= limit else {
        partial[isData] = nil
        dropped += 1
        return .incomplete
      }
      partial[isData] = header.moreFollows ? (header, bytes) : nil
      joined = bytes
      return header.moreFollows ? .incomplete : .completed
    }
  }

  static func seeds(_ frames: [[UInt8]]) -> [[UInt8]] {
    var seeds = stride(from: 0, to: frames.count, by: 6).map { start in
      [255] + frames[start..<min(start + 6, frames.count)].joined()
    }
    for frame in frames where frame.count > 20 {
      guard let header = try? PacketHeader(parsing: frame.span.bytes) else { continue }
      let packets = Segmentation.packets(
        type: header.type, opcode: header.opcode, payload: Array(frame.dropFirst(4)), limit: 9)
      seeds.append([20] + packets.joined())
    }
    return seeds
  }
}
