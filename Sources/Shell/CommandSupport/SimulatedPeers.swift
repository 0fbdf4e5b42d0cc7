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
  private let conditions: SceneFile?

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
    self.conditions = conditions
    conditions?.apply(to: bench.chips)
    bench.start()
  }

  /// The places of anchors: the corners of a room at different heights, and its centre.
  package static let anchorPlaces: [SIMD3<Double>] = [
    SIMD3(0, 0, 2.5), SIMD3(8, 0, 2.2), SIMD3(8, 6, 2.6), SIMD3(0, 6, 1.9), SIMD3(4, 3, 2.8),
  ]

  /// Places the chips in a room for one-way ranging. The own chip walks in the room if it is a tag,
  /// and is in the first corner otherwise; the other chips are at the places of anchors. Conditions
  /// of a scene file override this.
  package func arrangeRoom(isTag: Bool) {
    let middle = SIMD3<Double>(3, 2, 1.2)
    let motion: Motion =
      isTag ? .between(middle, SIMD3(5, 4, 1.2), period: 20) : .still(Self.anchorPlaces[0])
    own.placement = Placement(motion, clockOffset: isTag ? 7 : 0)
    for (index, chip) in others.enumerated() {
      // The counterparts of a tag are in reverse order. The own chip takes the first corner as an
      // anchor.
      let number = isTag ? others.count - 1 - index : index + 1
      let corner = Self.anchorPlaces[number % Self.anchorPlaces.count]
      chip.placement = Placement(at: corner, clockOffset: [2, -4, 9, -1, 5][index % 5])
    }
    conditions?.apply(to: bench.chips)
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
