// SPDX-License-Identifier: Apache-2.0

import UCI
import UCIReference

/// Why packets had better not be sent.
enum SendProblem: Equatable, CustomStringConvertible {
  /// Only commands and data go to a chip.
  case wrongDirection(String)
  /// A message of several packets that is not complete.
  case unfinished
  /// A segment that belongs to another message than the one before it.
  case interrupted
  /// The bytes do not have the layout of this command.
  case malformed(String, PayloadError)
  /// More bytes than the layout of this command has.
  case tooLong(String, Int)
  /// The bytes of this word end UCI on Qorvo's firmware with several applications.
  case escapesUCI(String)

  /// One sentence.
  var description: String {
    switch self {
    case .wrongDirection(let name):
      "\(name) goes from the chip to the host; a chip that gets it does not know what to do."
    case .unfinished:
      "The last packet announces another segment, which is not there; the chip would wait for it."
    case .interrupted: "A message of several segments is interrupted by another one."
    case .malformed(let name, let error): "This is no \(name): \(error)"
    case .tooLong(let name, let count):
      "\(name) ends \(count) byte\(count == 1 ? "" : "s") earlier; chips refuse the rest."
    case .escapesUCI(let word):
      "The bytes hold \"\(word)\" in ASCII, which ends UCI on some of Qorvo's firmwares."
    }
  }
}

/// What is sent: whole messages, one packet or more each.
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

  /// In any case of letters, anywhere. Source: uci_parser.c of Qorvo's DW3_QM33_SDK 1.1.0.
  private static func contains(_ bytes: [UInt8], _ word: String) -> Bool {
    bytes.map { (0x61...0x7A).contains($0) ? $0 - 0x20 : $0 }
      .firstRange(of: Array(word.utf8)) != nil
  }
}
