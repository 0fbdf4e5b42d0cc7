// SPDX-License-Identifier: Apache-2.0

/// Carries whole messages between an accessory and one app, in order, in both directions.
///
/// Ready are `SocketChannel` (TCP, Unix sockets) and `ByteStreamChannel` (any pair of byte streams).
/// Over Bluetooth, where a write or a notification of a characteristic is a message already, a type
/// of one's own conforms to this without any framing; the longest message has 49 bytes, so the
/// connection needs an MTU of at least 52.
public protocol DataChannel: AnyObject, Sendable {
  /// The other side's messages, taken once, in one place. It ends with the channel.
  var messages: AsyncStream<[UInt8]> { get }

  /// Sends one message.
  ///
  /// - Throws: `DataChannelError`; the message may not have arrived.
  func send(_ message: [UInt8]) async throws(DataChannelError)

  /// Ends the channel for both sides. Twice is once.
  func close()

  /// Why the channel ended; nil while it has not, and when one of the sides closed it.
  var failure: DataChannelError? { get }
}
