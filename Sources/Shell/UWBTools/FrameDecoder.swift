// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandSupport
import Formats
import System
package import UCI
import UCIReference
import UWB
import UWBLink

package struct DecodedFrame {
  package var header: PacketHeader
  package var name: String
  /// The fields of the frame or, at the end of a segmented message, of the whole message.
  var fields: [Field]
  /// The payload length of the whole message, if this frame ends a segmented one.
  var messageLength: Int?
}

/// Decodes frames in order: joins segments, and detects the dialect from the chip's messages.
package struct FrameDecoder {
  package private(set) var dialect: Dialect
  private let learnsVendor: Bool
  /// A reassembler for each direction, because a notification may come between the segments of a
  /// command.
  private var fromChip = Reassembler()
  private var toChip = Reassembler()
  /// The number of segmented messages whose last segment is missing.
  private var endless = 0

  /// Creates a decoder.
  ///
  /// - Parameter vendor: The vendor of vendor messages; nil to use the device information.
  package init(vendor: Dialect.Vendor? = nil) {
    dialect = Dialect(vendor: vendor ?? .unknown)
    learnsVendor = vendor == nil
  }

  /// The number of segmented messages with missing segments.
  var incompleteMessages: Int {
    var copies = [fromChip, toChip]
    for index in copies.indices { copies[index].reset() }
    return copies.reduce(endless) { $0 + $1.dropped }
  }

  /// Decodes one frame.
  ///
  /// - Parameter frame: Exactly one frame, with its header.
  package mutating func decode(_ frame: [UInt8]) throws -> DecodedFrame {
    let bytes = unsafe frame.span.bytes
    var header = try PacketHeader(parsing: bytes)
    header.payloadLength = frame.count - PacketHeader.length
    let payload = bytes.extracting(PacketHeader.length..<bytes.byteCount)
    func message(_ payload: RawSpan) -> Message {
      Message(type: header.type, opcode: header.opcode, payload: payload, dialect: dialect)
    }
    let isToChip =
      header.type == .command || header.type == .data && header.opcode == DataMessageSend.opcode
    let joined =
      isToChip
      ? toChip.take(header, whole: payload) { (message($0), $0.byteCount) }
      : fromChip.take(header, whole: payload) { (message($0), $0.byteCount) }
    guard let (whole, length) = joined else {
      let bytes = Array(frame.dropFirst(PacketHeader.length))
      let isSecret = Message.canCarryKeys(
        type: header.type, opcode: header.opcode, dialect: dialect)
      return DecodedFrame(
        header: header, name: name(header),
        fields: [Field("payload", isSecret ? .secret(bytes) : .bytes(bytes))])
    }
    var decoded = DecodedFrame(header: header, name: "", fields: [])
    var found = whole
    if length > payload.byteCount {
      // Frames of a log may be incomplete. A frame counts as a message if it decodes alone, but not
      // as the end of a longer message.
      let alone = message(payload)
      if alone.isExact, !whole.isExact {
        endless += 1
        found = alone
      } else {
        decoded.messageLength = length
      }
    }
    learn(from: found)
    decoded.name = name(header)
    decoded.fields = found.fields(dialect: dialect)
    return decoded
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

extension Reassembler {
  /// Passes the payload of a complete message to `body`; returns nil while the message is
  /// incomplete.
  package mutating func take<R>(
    _ header: PacketHeader, whole payload: RawSpan, _ body: (RawSpan) -> R
  ) -> R? {
    switch take(header, payload: payload) {
    case .incomplete: nil
    case .whole: body(payload)
    case .completed: withPayload(of: header.type, body)
    }
  }
}
