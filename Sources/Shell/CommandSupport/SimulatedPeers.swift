// SPDX-License-Identifier: Apache-2.0

import SystemPackage
package import UWB
package import UWBLink
package import UWBSimulator

/// The embedded simulated chips: the one used as the device, and its peers with their hosts.
package struct SimulatedPeers {
  package let bench: SimulatedBench
  package let own: SimulatedBench.Chip
  package let others: [SimulatedBench.Chip]

  /// Places chips a few metres apart. The first peer walks back and forth; the others stand still.
  package init(
    profile: ChipProfile, peers: Int, seed: UInt64, conditions: SceneFile? = nil
  ) throws {
    var scene = Scene(seed: seed)
    conditions?.apply(to: &scene)
    bench = SimulatedBench(scene: scene)
    own = try bench.add(profile: profile, at: SIMD3(0, 0, 1), name: "own")
    others = try (0..<peers).map { [bench] index in
      let place = SIMD3<Double>(2 + 0.5 * Double(index), Double(index % 3) - 1, 1)
      let placement =
        index == 0
        ? Placement(.between(place, SIMD3<Double>(5, 1, 1), period: 20), yaw: 180)
        : Placement(at: place, yaw: 180)
      return try bench.add(profile: profile, placement: placement, name: "peer \(index + 1)")
    }
    conditions?.apply(to: bench.chips)
    bench.start()
  }

  package static func endpoint(_ chip: SimulatedBench.Chip) -> LinkEndpoint {
    .serial(path: FilePath(chip.path))
  }

  /// Opens the peers and starts their end of a session.
  package func start(_ configurations: [SessionConfiguration]) async throws -> [UWBDevice] {
    var devices: [UWBDevice] = []
    for (chip, configuration) in zip(others, configurations) {
      let device = try await UWBDevice.open(Self.endpoint(chip))
      devices.append(device)
      let session = try await device.makeSession(configuration)
      try await session.start()
    }
    return devices
  }
}
