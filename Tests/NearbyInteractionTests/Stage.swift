// SPDX-License-Identifier: Apache-2.0
import AccessoryProtocol
import Foundation
import SystemPackage
import UCI
import UWBDriver
import UWBLink
import UWBSimulator

@testable import NearbyInteraction

/// Simulated chips on pseudo-terminals: one for the app's side, the others for accessories.
struct Stage {
  let bench: SimulatedBench
  let app: SimulatedBench.Chip
  let others: [SimulatedBench.Chip]
  /// A link to the app's chip that follows it when it is plugged in again.
  let path: String

  /// - Parameters:
  ///   - places: of the other chips; the app's is at the origin and looks along x.
  init(
    _ profile: ChipProfile = .qm33PDoA, app place: Placement = Placement(at: Position(0, 0, 1)),
    others places: [Position] = [Position(3, 0, 1)], scene: Scene = Scene(seed: 11)
  ) throws {
    bench = SimulatedBench(scene: scene)
    app = try bench.add(profile: profile, placement: place)
    let bench = bench
    others = try places.map {
      try bench.add(profile: profile, placement: Placement(at: $0, yaw: 180))
    }
    path = "\(NSTemporaryDirectory())/ni-\(UUID().uuidString)"
    try app.link(at: path)
    bench.start()
  }
}

/// The accessory's end: says what it is, ranges as the shareable data says.
actor TestAccessory {
  let data: AccessoryConfigurationData
  private let device: UWBDevice
  private var session: UWBSession?

  init(
    _ chip: SimulatedBench.Chip, role: SessionConfiguration.Role = .controller,
    rate: AccessoryConfigurationData.UpdateRate = .userInteractive, address: UInt16 = 0xD711
  ) async throws {
    device = try await UWBDevice.open(.serial(path: FilePath(chip.path)))
    data = AccessoryConfigurationData(
      preferredUpdateRate: rate,
      uwb: UWBConfigurationData(
        version: .v20, role: role, address: address,
        request: .init(slotsPerRound: 6, slotDuration: 2_400, interval: 20)))
  }

  nonisolated var octets: Data { Data(data.octets) }

  nonisolated func configuration() throws -> NINearbyAccessoryConfiguration {
    try NINearbyAccessoryConfiguration(data: octets)
  }

  /// Begins with what the app's side has made; ends what was before.
  func start(_ shareable: Data) async throws {
    try await session?.close()
    let made = try ShareableConfigurationData([UInt8](shareable))
    let session = try await device.makeSession(made.session(of: .accessory, with: data.uwb))
    try await session.start()
    self.session = session
  }

  func stop() async {
    try? await session?.close()
    session = nil
  }

  func close() async { await device.close() }
}

extension Recorder {
  /// Hands each shareable data to an accessory, as a data channel would.
  func connect(to accessory: TestAccessory) {
    onEach { _, call in
      guard case .shareable(let data) = call else { return }
      Task { try await accessory.start(data) }
    }
  }
}

/// Does what waits for a chip away from the threads of Swift's tasks, which other tests need.
func waiting<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value
{
  try await withCheckedThrowingContinuation { continuation in
    Thread { continuation.resume(with: Result(catching: body)) }.start()
  }
}
