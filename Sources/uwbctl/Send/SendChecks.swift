// SPDX-License-Identifier: Apache-2.0

import UCI
import UCIReference

/// Why packets should not be sent.
enum SendProblem: Equatable, CustomStringConvertible {
  /// Only commands and data are sent to a chip.
  case wrongDirection(String)
  /// A segmented message that is incomplete.
  case unfinished
  /// A segment of a different message than the one before it.
  case interrupted
  /// The payload does not match the layout of this command.
  case malformed(String, PayloadError)
  /// The payload is longer than the layout of this command.
  case tooLong(String, Int)
  /// This word in the bytes ends UCI on Qorvo's firmware with several applications.
  case escapesUCI(String)

  /// One sentence.
  var description: String {
    switch self {
    case .wrongDirection(let name):
      "\(name) is sent by chips, not to them."
    case .unfinished:
      "The last packet announces another segment, which is missing; the chip would wait for it."
    case .interrupted: "A message of several segments is interrupted by another one."
    case .malformed(let name, let error): "Not a valid \(name): \(error)"
    case .tooLong(let name, let count):
      "\(name) has \(count) byte\(count == 1 ? "" : "s") too many; chips reject it."
    case .escapesUCI(let word):
      "The packets contain \"\(word)\" in ASCII, which ends UCI on some firmware of Qorvo's."
    }
  }
}

/// The messages to send, of one or more packets each.
struct SendPlan {
  /// The packets of each message, in order.
  private(set) var messages: [[[UInt8]]] = []
  private(set) var problems: [SendProblem] = []

  init(_ frames: [[UInt8]], dialect: Dialect) {
    var reassembler = Reassembler()
    var open: PacketHeader?
    var packets: [[UInt8]] = []
    for frame in frames {
      guard var header = try? PacketHeader(parsing: frame.span.bytes) else { continue }
      header.payloadLength = frame.count - PacketHeader.length
      if let open, open.type != header.type || open.opcode != header.opcode {
        problems.append(.interrupted)
        messages.append(packets)
        packets = []
      }
      packets.append(frame)
      open = header.moreFollows ? header : nil
      let payload = frame.span.bytes.extracting(PacketHeader.length..<frame.count)
      let message: Message
      switch reassembler.take(header, payload: payload) {
      case .incomplete: continue
      case .whole:
        message = Message(
          type: header.type, opcode: header.opcode, payload: payload, dialect: dialect)
      case .completed:
        message = reassembler.withPayload(of: header.type) {
          Message(type: header.type, opcode: header.opcode, payload: $0, dialect: dialect)
        }
      }
      messages.append(packets)
      packets = []
      problems += Self.problems(of: message, dialect)
    }
    if !packets.isEmpty {
      problems.append(.unfinished)
      messages.append(packets)
    }
    for word in ["STOP", "SAVE"] where Self.contains(frames.flatMap { $0 }, word) {
      problems.append(.escapesUCI(word))
    }
  }

  private static func problems(of message: Message, _ dialect: Dialect) -> [SendProblem] {
    let name = message.name(dialect: dialect)
    if message.type.direction == .inbound { return [.wrongDirection(name)] }
    if case .opaque(_, let error?) = message.content { return [.malformed(name, error)] }
    return message.trailing.isEmpty ? [] : [.tooLong(name, message.trailing.count)]
  }

  /// Ignores case. Source: uci_parser.c of Qorvo's DW3_QM33_SDK 1.1.0.
  private static func contains(_ bytes: [UInt8], _ word: String) -> Bool {
    bytes.map { (0x61...0x7A).contains($0) ? $0 - 0x20 : $0 }
      .firstRange(of: Array(word.utf8)) != nil
  }
}
