// SPDX-License-Identifier: Apache-2.0
public import AccessoryProtocol
internal import Foundation
internal import SystemPackage
internal import UWB
internal import UWBLink
public import UWBSimulator

/// What stands in for hardware in the examples: simulated chips in one scene, one of them the
/// phone's, the others those of accessories that listen at sockets.
public final class ExampleStage: Sendable {
  /// The scene.
  public let bench: SimulatedBench
  /// The chip that `NISession` uses in this process, as if `UWB_DEVICE` had been set.
  public let phone: SimulatedBench.Chip

  /// A scene with the phone's chip in it.
  ///
  /// - Parameters:
  ///   - profile: `.qm33` measures distances only, `.qm33PDoA` also the azimuth.
  ///   - placement: where the phone is; what it looks at is before its antenna.
  public init(phone profile: ChipProfile, at placement: Placement, seed: UInt64 = 1) throws {
    bench = SimulatedBench(scene: Scene(seed: seed))
    phone = try bench.add(profile: profile, placement: placement, name: "phone")
    bench.start()
    setenv("UWB_DEVICE", phone.path, 1)
  }

  /// An accessory on a chip of its own, which serves apps at a socket.
  public struct Served: Sendable {
    /// Where and how it is.
    public let chip: SimulatedBench.Chip
    /// The accessory itself.
    public let accessory: Accessory
    /// Where apps connect.
    public let endpoint: ChannelEndpoint
  }

  /// Puts an accessory into the scene.
  ///
  /// - Parameter interval: how often it asks to be ranged with, in milliseconds.
  public func serve(
    _ name: String, at placement: Placement, interval: UInt16 = 60
  ) async throws -> Served {
    let chip = try bench.add(profile: .qm33, placement: placement, name: name)
    let device = try await UWBDevice.open(.serial(path: FilePath(chip.path)))
    var options = Accessory.Options()
    // Version 2.0 lets an accessory say how it wants to be ranged with.
    options.version = .v20
    options.request = .init(slotsPerRound: 6, interval: interval)
    // It waits for an app that may come back.
    options.silence = 60_000
    let accessory = try Accessory(device, options: options)
    let listener = try SocketListener(.tcp(host: "127.0.0.1", port: 0))
    Task { await accessory.serve(listener) }
    return Served(chip: chip, accessory: accessory, endpoint: listener.endpoint)
  }

  /// Metres between an accessory and the phone.
  public func distance(to served: Served) -> Float {
    Float(phone.position.distance(to: served.chip.position))
  }
}

/// Ends the example.
public func succeed(_ text: String) -> Never {
  print(text)
  exit(0)
}

/// Ends the example; whoever runs it sees that it went wrong.
public func fail(_ text: String) -> Never {
  FileHandle.standardError.write(Data("example failed: \(text)\n".utf8))
  exit(1)
}

/// Ends an example that does not come to its end.
public func failAfter(seconds: Int, _ text: @escaping @Sendable () -> String) {
  DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(seconds)) {
    fail("not at its end after \(seconds) s: \(text())")
  }
}
