// SPDX-License-Identifier: Apache-2.0

public import Accessory
public import Channels
public import Foundation
import SystemPackage
import UWB
import UWBLink
public import UWBSimulator

/// Replaces hardware in the examples: simulated chips in one scene, for the phone and for
/// accessories that listen at sockets.
public final class ExampleEnvironment: Sendable {
  /// The scene.
  public let bench: SimulatedBench
  /// The chip that `NISession` uses in this process: `UWB_DEVICE` is set to it.
  public let phone: SimulatedBench.Chip

  /// Creates a scene with the phone's chip.
  ///
  /// - Parameters:
  ///   - profile: `.qm33` measures distances only, `.qm33PDoA` also the azimuth.
  ///   - placement: the position and orientation of the phone.
  public init(phone profile: ChipProfile, at placement: Placement, seed: UInt64 = 1) throws {
    bench = SimulatedBench(scene: Scene(seed: seed))
    phone = try bench.add(profile: profile, placement: placement, name: "phone")
    bench.start()
    setenv("UWB_DEVICE", phone.path, 1)
  }

  /// An accessory with its own chip, which serves apps at a socket.
  public struct Served: Sendable {
    /// The accessory's chip, which can be moved.
    public let chip: SimulatedBench.Chip
    /// The accessory.
    public let accessory: Accessory
    /// The path of its socket.
    public let endpoint: ChannelEndpoint
  }

  /// Adds an accessory to the scene.
  /// - Parameter interval: the ranging interval that it requests, in milliseconds.
  public func serve(
    _ name: String, at placement: Placement, interval: UInt16 = 60
  ) async throws -> Served {
    let chip = try bench.add(profile: .qm33, placement: placement, name: name)
    let device = try await UWBDevice.open(.serial(path: FilePath(chip.path)))
    var options = Accessory.Options()
    // Accessories can request an interval since version 2.0.
    options.version = .v20
    options.request = .init(slotsPerRound: 6, interval: interval)
    // The accessory waits for an app that disconnects and returns.
    options.inactivityTimeout = .seconds(60)
    let accessory = try Accessory(device, options: options)
    let listener = try await SocketListener(.tcp(host: "127.0.0.1", port: 0))
    Task { await accessory.serve(listener) }
    return Served(chip: chip, accessory: accessory, endpoint: listener.endpoint)
  }

  /// Returns the distance between an accessory and the phone in metres.
  public func distance(to served: Served) -> Float {
    Float(phone.position.distance(to: served.chip.position))
  }
}

/// Ends the example successfully.
public func succeed(_ text: String) -> Never {
  print(text)
  exit(0)
}

/// Ends the example with an error.
public func fail(_ text: String) -> Never {
  FileHandle.standardError.write(Data("example failed: \(text)\n".utf8))
  exit(1)
}

/// Ends the example with an error if it takes too long.
public func failAfter(seconds: Int, _ text: @escaping @Sendable () -> String) {
  DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(seconds)) {
    fail("not finished after \(seconds) s: \(text())")
  }
}

/// An app's connection to an accessory: a socket here, Bluetooth on a phone. Its closures are
/// called on `queue`.
public final class DataCommunicationChannel: @unchecked Sendable {
  // Safe because the closures are set before `start`, and called on the queue only.

  /// The accessory has connected.
  public var accessoryConnectedHandler: (() -> Void)?
  /// The accessory has disconnected.
  public var accessoryDisconnectedHandler: (() -> Void)?
  /// The accessory sent a message.
  public var accessoryDataHandler: ((Data) -> Void)?

  private let connect: @Sendable () async throws -> any DataChannel
  private let queue: DispatchQueue
  private let outgoing = AsyncStream<[UInt8]>.makeStream()

  /// Creates a connection, which `start` establishes.
  public convenience init(to endpoint: ChannelEndpoint, queue: DispatchQueue) {
    self.init(queue: queue) { try await SocketChannel.connect(to: endpoint) }
  }

  /// Creates a connection, which `start` establishes by calling `connect`.
  public init(
    queue: DispatchQueue, connect: @escaping @Sendable () async throws -> any DataChannel
  ) {
    self.queue = queue
    self.connect = connect
  }

  /// Connects.
  public func start() {
    Task {
      guard let channel = try? await connect() else {
        return queue.async { self.accessoryDisconnectedHandler?() }
      }
      queue.async { self.accessoryConnectedHandler?() }
      let sending = Task { [outgoing] in
        for await message in outgoing.stream { try await channel.send(message) }
        channel.close()
      }
      for await message in channel.messages {
        queue.async { self.accessoryDataHandler?(Data(message)) }
      }
      sending.cancel()
      queue.async { self.accessoryDisconnectedHandler?() }
    }
  }

  /// Sends a message after earlier messages.
  public func sendData(_ data: Data) { outgoing.continuation.yield([UInt8](data)) }

  /// Disconnects after the pending messages.
  public func stop() { outgoing.continuation.finish() }
}

/// The first byte of each message between an app and an accessory.
public enum MessageId: UInt8 {
  // Messages from the accessory.
  case accessoryConfigurationData = 0x1
  case accessoryUwbDidStart = 0x2
  case accessoryUwbDidStop = 0x3
  // Messages from the app.
  case initialize = 0xA
  case configureAndStart = 0xB
  case stop = 0xC
}
