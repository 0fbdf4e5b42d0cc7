// SPDX-License-Identifier: Apache-2.0
public import AccessoryProtocol
internal import Foundation
internal import SystemPackage
internal import UWB
internal import UWBLink
public import UWBSimulator

/// Replaces hardware in the examples: simulated chips in one scene, that of the phone and those of
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
    /// Its chip, which can be moved.
    public let chip: SimulatedBench.Chip
    /// The accessory.
    public let accessory: Accessory
    /// Its socket.
    public let endpoint: ChannelEndpoint
  }

  /// Adds an accessory to the scene.
  ///
  /// - Parameter interval: the ranging interval that it asks for, in milliseconds.
  public func serve(
    _ name: String, at placement: Placement, interval: UInt16 = 60
  ) async throws -> Served {
    let chip = try bench.add(profile: .qm33, placement: placement, name: name)
    let device = try await UWBDevice.open(.serial(path: FilePath(chip.path)))
    var options = Accessory.Options()
    // Only version 2.0 lets an accessory ask for an interval.
    options.version = .v20
    options.request = .init(slotsPerRound: 6, interval: interval)
    // Waits for an app that may come back.
    options.inactivityTimeout = .seconds(60)
    let accessory = try Accessory(device, options: options)
    let listener = try await SocketListener(.tcp(host: "127.0.0.1", port: 0))
    Task { await accessory.serve(listener) }
    return Served(chip: chip, accessory: accessory, endpoint: listener.endpoint)
  }

  /// The distance between an accessory and the phone in metres.
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
