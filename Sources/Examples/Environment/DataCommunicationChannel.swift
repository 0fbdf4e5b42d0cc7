// SPDX-License-Identifier: Apache-2.0
public import AccessoryProtocol
public import Foundation

/// An app's connection to an accessory: a socket here, Bluetooth on a phone. Its closures are called on
/// `queue`.
public final class DataCommunicationChannel: @unchecked Sendable {
  // Sendable: the closures are set before `start` and called on the queue.

  /// The accessory has connected.
  public var accessoryConnectedHandler: (() -> Void)?
  /// The accessory has disconnected.
  public var accessoryDisconnectedHandler: (() -> Void)?
  /// The accessory sent a message.
  public var accessoryDataHandler: ((Data) -> Void)?

  private let endpoint: ChannelEndpoint
  private let queue: DispatchQueue
  private let outgoing = AsyncStream<[UInt8]>.makeStream()

  /// Creates a connection, which `start` establishes.
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
      let sending = Task { [outgoing] in
        for await message in outgoing.stream { try await channel.send(message) }
      }
      for await message in channel.messages {
        queue.async { self.accessoryDataHandler?(Data(message)) }
      }
      sending.cancel()
      queue.async { self.accessoryDisconnectedHandler?() }
    }
  }

  /// Sends a message after those before it.
  public func sendData(_ data: Data) { outgoing.continuation.yield([UInt8](data)) }
}
