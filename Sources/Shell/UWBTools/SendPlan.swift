// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Formats
package import UCI
import UCIReference
import UWB

/// The messages to send, of one or more packets each.
package struct SendPlan {
  /// The packets of each message, in order.
  package private(set) var messages: [[[UInt8]]] = []
  /// The reasons not to send the messages, one sentence each.
  package private(set) var problems: [String] = []

  /// Returns the packets that arguments contain.
  ///
  /// - Parameters:
  ///   - hex: Packets, or the payload of `command`.
  ///   - command: A command as GID:OID.
  ///   - segment: The payload bytes in one packet of `command`.
  /// - Throws: `ValidationError`.
  package static func packets(
    _ hex: [String], command: String? = nil, segment: Int = 255
  ) throws -> [[UInt8]] {
    try require((1...255).contains(segment), "--segment takes 1 to 255.")
    do throws(FrameTextError) {
      guard let command else {
        var packets: [[UInt8]] = []
        for line in FrameText.lines(arguments: hex) { packets += try FrameText.frames(line) }
        return packets
      }
      let payload = try FrameText.bytes(hex.joined(separator: " "))
      return Segmentation.packets(
        type: .command, opcode: try opcode(command), payload: payload, limit: segment)
    } catch {
      throw ValidationError("\(error)")
    }
  }

  private static func opcode(_ text: String) throws(FrameTextError) -> Opcode {
    let numbers = text.split(separator: ":").compactMap { text in
      text.lowercased().hasPrefix("0x") ? UInt8(hexDigits: text.dropFirst(2)) : UInt8(text)
    }
    guard numbers.count == 2 && numbers[0] < 16 && numbers[1] < 64 else {
      throw FrameTextError("--command takes GID:OID, such as 1:3 or 0x1:0x03.")
    }
    return Opcode(GroupID(rawValue: numbers[0]), numbers[1])
  }

  package init(_ frames: [[UInt8]], dialect: Dialect) {
    var reassembler = Reassembler()
    var open: PacketHeader?
    var packets: [[UInt8]] = []
    for frame in frames {
      guard var header = try? unsafe PacketHeader(parsing: frame.span.bytes) else { continue }
      header.payloadLength = frame.count - PacketHeader.length
      if let open, open.type != header.type || open.opcode != header.opcode {
        problems.append("A message of several segments is interrupted by another one.")
        messages.append(packets)
        packets = []
      }
      packets.append(frame)
      open = header.moreFollows ? header : nil
      let payload = unsafe frame.span.bytes.extracting(PacketHeader.length..<frame.count)
      let whole = reassembler.take(header, whole: payload) {
        Message(type: header.type, opcode: header.opcode, payload: $0, dialect: dialect)
      }
      guard let message = whole else { continue }
      messages.append(packets)
      packets = []
      if let problem = Self.problem(of: message, dialect) { problems.append(problem) }
    }
    if !packets.isEmpty {
      problems.append(
        "The last packet announces another segment, which is missing; the chip would wait for it.")
      messages.append(packets)
    }
    for word in ["STOP", "SAVE"] where Self.contains(frames.flatMap { $0 }, word) {
      problems.append(
        "The packets contain \"\(word)\" in ASCII, which ends UCI on some firmware of Qorvo's.")
    }
  }

  private static func problem(of message: Message, _ dialect: Dialect) -> String? {
    let name = message.name(dialect: dialect)
    if message.type.direction == .inbound { return "\(name) is sent by chips, not to them." }
    if case .opaque(_, let error?) = message.content { return "Not a valid \(name): \(error)" }
    let count = message.trailing.count
    return count == 0
      ? nil : "\(name) has \(counted(count, "byte")) too many; chips reject it."
  }

  /// Reports whether the bytes contain a word, ignoring case. Source: uci_parser.c of Qorvo's
  /// DW3_QM33_SDK 1.1.0.
  private static func contains(_ bytes: [UInt8], _ word: String) -> Bool {
    bytes.map { (0x61...0x7A).contains($0) ? $0 - 0x20 : $0 }
      .firstRange(of: Array(word.utf8)) != nil
  }
}
