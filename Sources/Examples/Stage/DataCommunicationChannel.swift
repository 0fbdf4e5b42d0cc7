// SPDX-License-Identifier: Apache-2.0
public import AccessoryProtocol
public import Foundation

/// An app's connection to an accessory: here a socket, on a phone Bluetooth. Its closures are called
/// on `queue`.
public final class DataCommunicationChannel: @unchecked Sendable {
  // Sound: the closures are set before `start` and called on the queue.

  /// The accessory is there.
  public var accessoryConnectedHandler: (() -> Void)?
  /// The accessory is gone.
  public var accessoryDisconnectedHandler: (() -> Void)?
  /// The accessory sent a message.
  public var accessoryDataHandler: ((Data) -> Void)?

  private let endpoint: ChannelEndpoint
  private let queue: DispatchQueue
  private let outbox = AsyncStream<[UInt8]>.makeStream()

  /// A connection to be made.
  public init(to endpoint: ChannelEndpoint, queue: DispatchQueue) {
    self.endpoint = endpoint
    self.queue = queue
  }

  /// Connects.
  public func start() {
    Task {
      guard let channel = try? await SocketChannel.connect(to: endpoint) else {
        return queue.async { self.accessoryDisconnectedHandler?() }
      }
      queue.async { self.accessoryConnectedHandler?() }
      let sending = Task { [outbox] in
        for await message in outbox.stream { try await channel.send(message) }
      }
      for await message in channel.messages {
        queue.async { self.accessoryDataHandler?(Data(message)) }
      }
      sending.cancel()
      queue.async { self.accessoryDisconnectedHandler?() }
    }
  }

  /// Sends a message behind those before it.
  public func sendData(_ data: Data) { outbox.continuation.yield([UInt8](data)) }
}
