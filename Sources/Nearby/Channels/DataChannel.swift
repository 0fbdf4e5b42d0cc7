// SPDX-License-Identifier: Apache-2.0

/// A channel of whole messages between an accessory and one app, in order, in both directions.
///
/// `SocketChannel` (TCP, Unix sockets) and `ByteStreamChannel` (any pair of byte streams) conform.
/// Over Bluetooth, each write or notification of a characteristic is a message, so a conforming
/// type needs no framing. The longest message has 49 bytes, so the connection needs an MTU of at
/// least 52. With Android phones it has 58 bytes, which need an MTU of 61. Phones that add other
/// technologies need more.
public protocol DataChannel: AnyObject, Sendable {
  /// The peer's messages, for one consumer. The stream ends with the channel.
  var messages: AsyncStream<[UInt8]> { get }

  /// Sends one message.
  ///
  /// - Throws: `ChannelError`; the message may not have arrived.
  func send(_ message: [UInt8]) async throws(ChannelError)

  /// Ends the channel for both sides. Further calls do nothing.
  func close()

  /// The error of a channel that failed; nil while it works, or if one of the sides closed it.
  var failure: ChannelError? { get }
}
