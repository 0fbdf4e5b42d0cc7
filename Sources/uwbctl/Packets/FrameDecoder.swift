// SPDX-License-Identifier: Apache-2.0

import UCI
import UCIReference

/// A decoded frame.
struct DecodedFrame {
  var header: PacketHeader
  var name: String
  /// The fields of the frame or, at the end of a segmented message, of the whole message.
  var fields: [Field]
  /// The payload length of the whole message, where this frame ends a segmented one.
  var messageLength: Int?
}

/// Decodes frames in their order: joins segments, and learns the dialect from the chip's messages.
struct FrameDecoder {
  private(set) var dialect: Dialect
  private let learnsVendor: Bool
  private var reassembler = Reassembler()
  /// Segmented messages that were followed by another one before their end.
  private var endless = 0

  /// - Parameter vendor: whose vendor messages these are; nil: as the device information tells.
  init(vendor: Dialect.Vendor? = nil) {
    dialect = Dialect(vendor: vendor ?? .unknown)
    learnsVendor = vendor == nil
  }

  /// The number of segmented messages with missing segments.
  var incompleteMessages: Int {
    var copy = reassembler
    copy.reset()
    return copy.dropped + endless
  }

  /// - Parameter frame: exactly one frame, with its header.
  mutating func decode(_ frame: [UInt8]) throws -> DecodedFrame {
    let bytes = frame.span.bytes
    var header = try PacketHeader(parsing: bytes)
    header.payloadLength = frame.count - PacketHeader.length
    let payload = bytes.extracting(PacketHeader.length..<bytes.byteCount)
    var messageLength: Int?
    let message: Message
    switch reassembler.take(header, payload: payload) {
    case .incomplete:
      let bytes = Array(frame.dropFirst(PacketHeader.length))
      let isSecret = Message.canCarryKeys(
        type: header.type, opcode: header.opcode, dialect: dialect)
      return DecodedFrame(
        header: header, name: name(header),
        fields: [Field("payload", isSecret ? .secret(bytes) : .bytes(bytes))])
    case .whole:
      message = Message(
        type: header.type, opcode: header.opcode, payload: payload, dialect: dialect)
    case .completed:
      let dialect = dialect
      (message, messageLength) = reassembler.withPayload(of: header.type) { whole in
        (
          Message(type: header.type, opcode: header.opcode, payload: whole, dialect: dialect),
          whole.byteCount
        )
      }
      // Collected frames may have gaps. A frame that decodes alone, but not as the end of a message,
      // is a message of its own.
      let alone = Message(
        type: header.type, opcode: header.opcode, payload: payload, dialect: dialect)
      if alone.isExact, !message.isExact {
        endless += 1
        learn(from: alone)
        return DecodedFrame(
          header: header, name: name(header), fields: alone.fields(dialect: dialect))
      }
    }
    learn(from: message)
    return DecodedFrame(
      header: header, name: name(header), fields: message.fields(dialect: dialect),
      messageLength: messageLength)
  }

  private func name(_ header: PacketHeader) -> String {
    MessageCatalog.name(type: header.type, opcode: header.opcode, dialect: dialect)
  }

  private mutating func learn(from message: Message) {
    let vendor = dialect.vendor
    dialect.learn(from: message)
    if !learnsVendor { dialect.vendor = vendor }
  }
}

extension Message {
  /// Whether the bytes match the layout exactly.
  fileprivate var isExact: Bool {
    if case .opaque = content { return false }
    return trailing.isEmpty
  }
}
