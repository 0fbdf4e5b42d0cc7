// SPDX-License-Identifier: Apache-2.0

/// The framing of messages in a byte stream: each is preceded by its length in two bytes,
/// little-endian. A message has 1 to 1024 bytes.
package struct MessageFraming: Sendable {
  /// The length of the longest message in bytes. Messages of the protocol have at most 49; vendors
  /// add their own.
  package static let limit = 1_024

  private var rest: [UInt8] = []

  package init() {}

  /// Returns a message with its length before it.
  package static func frame(_ message: [UInt8]) throws(ChannelError) -> [UInt8] {
    guard (1...limit).contains(message.count) else {
      throw ChannelError(.messageSize(bytes: message.count, limit: limit))
    }
    return [UInt8(message.count & 0xFF), UInt8(message.count >> 8)] + message
  }

  /// Appends bytes of the stream, in chunks of any size, and returns the messages that are
  /// complete.
  ///
  /// - Throws: an error after which the rest of the stream cannot be parsed.
  package mutating func parse(_ bytes: some Sequence<UInt8>) throws(ChannelError) -> [[UInt8]] {
    rest += bytes
    var messages: [[UInt8]] = []
    var start = 0
    while rest.count - start >= 2 {
      let length = Int(rest[start]) | Int(rest[start + 1]) << 8
      guard (1...Self.limit).contains(length) else {
        throw ChannelError(
          .invalidFraming("a length is \(length), not 1 to \(Self.limit)"))
      }
      guard rest.count - start - 2 >= length else { break }
      messages.append(Array(rest[start + 2..<start + 2 + length]))
      start += 2 + length
    }
    rest.removeFirst(start)
    return messages
  }

  /// Whether the stream is within a message.
  package var isInMessage: Bool { !rest.isEmpty }
}
