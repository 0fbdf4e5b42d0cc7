// SPDX-License-Identifier: Apache-2.0

/// Messages in a stream of bytes: before each its length in two bytes, the lower one first, as all
/// numbers of the accessory protocol. No message is empty or longer than 1024 bytes.
public struct MessageFraming: Sendable {
  /// Bytes of the longest message. Those of the protocol have 49 at most; vendors add their own.
  public static let limit = 1_024

  private var rest: [UInt8] = []

  /// At the beginning of a stream.
  public init() {}

  /// A message as it goes into the stream.
  ///
  /// - Throws: `DataChannelError.unfit`.
  public static func frame(_ message: [UInt8]) throws(DataChannelError) -> [UInt8] {
    guard (1...limit).contains(message.count) else {
      throw .unfit(bytes: message.count, limit: limit)
    }
    return [UInt8(message.count & 0xFF), UInt8(message.count >> 8)] + message
  }

  /// Takes the next bytes of the stream, however it was cut, and returns the messages that are
  /// whole by now.
  ///
  /// - Throws: `DataChannelError.notFramed`; then nothing that follows can be read.
  public mutating func take(_ bytes: some Sequence<UInt8>) throws(DataChannelError) -> [[UInt8]] {
    rest += bytes
    var messages: [[UInt8]] = []
    var start = 0
    while rest.count - start >= 2 {
      let length = Int(rest[start]) | Int(rest[start + 1]) << 8
      guard (1...Self.limit).contains(length) else {
        throw .notFramed("a length is \(length), not 1 to \(Self.limit)")
      }
      guard rest.count - start - 2 >= length else { break }
      messages.append(Array(rest[start + 2..<start + 2 + length]))
      start += 2 + length
    }
    rest.removeFirst(start)
    return messages
  }

  /// Whether a message has begun and is not whole.
  public var isInMessage: Bool { !rest.isEmpty }
}
