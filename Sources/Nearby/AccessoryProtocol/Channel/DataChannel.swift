// SPDX-License-Identifier: Apache-2.0

/// Carries whole messages between an accessory and one app, in order, in both directions.
///
/// `SocketChannel` (TCP, Unix sockets) and `ByteStreamChannel` (any pair of byte streams) conform.
/// Over Bluetooth, where each write or notification of a characteristic is a message, a conforming
/// type needs no framing; the longest message has 49 bytes, so the connection needs an MTU of at
/// least 52.
public protocol DataChannel: AnyObject, Sendable {
  /// The peer's messages, for one consumer. Ends with the channel.
  var messages: AsyncStream<[UInt8]> { get }

  /// Sends one message.
  ///
  /// - Throws: `AccessoryError`; the message may not have arrived.
  func send(_ message: [UInt8]) async throws(AccessoryError)

  /// Ends the channel for both sides. Further calls do nothing.
  func close()

  /// Why the channel failed; nil while it works, and when one of the sides closed it.
  var failure: AccessoryError? { get }
}
