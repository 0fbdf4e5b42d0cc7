// SPDX-License-Identifier: Apache-2.0

import DriverTestSupport
import NearbyInteraction
import SystemPackage
import Testing
import UCI
import UCIReference
import UWB
import UWBLink
import UWBSimulator

/// Sessions from tokens on simulated chips.
@Suite struct RangingTests {
  private static func devices(
    _ profiles: [ChipProfile]
  ) async throws -> (SimulatedBench, [UWBDevice]) {
    let bench = SimulatedBench(scene: Scene(seed: 3))
    for (index, profile) in profiles.enumerated() {
      _ = try bench.add(profile: profile.initialised, at: SIMD3(2.5 * Double(index), 0, 0))
    }
    bench.start()
    var devices: [UWBDevice] = []
    for chip in bench.chips {
      devices.append(
        try await UWBDevice.open(.serial(path: FilePath(chip.path)), options: .patient))
    }
    return (bench, devices)
  }

  /// The first rounds of a controller's session, while the peer ranges too.
  private static func distances(
    _ ends: [SessionConfiguration], on devices: [UWBDevice]
  ) async throws -> [Int?] {
    let order = ends[0].role == .controlee ? [0, 1] : [1, 0]
    let controlee = try await devices[order[0]].makeSession(ends[order[0]])
    try await controlee.start()
    let controller = try await devices[order[1]].makeSession(ends[order[1]])
    let stream = controller.measurements()
    try await controller.start()
    var distances: [Int?] = []
    for try await measurement in stream {
      distances.append(measurement.result.distanceCentimetres)
      if distances.count == 5 { break }
    }
    try await controller.close()
    try await controlee.close()
    return distances
  }

  @Test(arguments: [[ChipProfile.qm33, .qm33PDoA], [.qm33PDoA, .sr250], [.qm33, .fira1]])
  func tokensOfTwoChipsLeadToDistances(_ profiles: [ChipProfile]) async throws {
    let (bench, devices) = try await Self.devices(profiles)
    let (a, b) = (
      try PeerIdentity(of: devices[0], interval: 20), try PeerIdentity(of: devices[1], interval: 20)
    )
    let ends = [try a.session(with: b.token), try b.session(with: a.token)]
    let isProvisioned =
      a.token.capabilities.contains(.provisionedSTS)
      && b.token.capabilities.contains(.provisionedSTS)
    if case .provisioned = ends[0].sts {
      #expect(isProvisioned)
    } else {
      #expect(!isProvisioned)
    }
    for distance in try await Self.distances(ends, on: devices) {
      #expect(abs((distance ?? 0) - 250) < 20)
    }
    for device in devices { await device.close() }
    bench.stop()
  }

  @Test func tokensHaveTheCapabilitiesOfTheirChip() async throws {
    let (bench, devices) = try await Self.devices([.qm33, .sr250, .fira1])
    for device in devices {
      let chip = Capabilities(device.capabilities)
      let token = try PeerIdentity(of: device, interval: 70, software: [.cameraAssistance]).token
      #expect(token.channels == chip.channels ?? [9])
      #expect(token.interval == 70 && token.capabilities.contains(.cameraAssistance))
      #expect(
        token.capabilities.contains(.provisionedSTS)
          == (chip.stsModes?.contains(.provisioned) == true))
      // Without a reported value, the slot is 2 ms, which all chips support.
      let bytes = chip[.minSlotDuration] ?? chip[.androidMinSlotDuration]
      let said = bytes?.enumerated().reduce(0) { $0 + Int($1.element) << (8 * $1.offset) }
      #expect(Int(token.minimumSlot) == said ?? 2_400)
    }
    for device in devices { await device.close() }
    bench.stop()
  }

  /// With a token of an earlier run, or of another host, nothing is measured, even with a known
  /// session id and addresses.
  @Test(arguments: [false, true])
  func wrongTokensLeadToNoDistance(knowsEverythingButTheKey: Bool) async throws {
    let (bench, devices) = try await Self.devices([.qm33, .qm33])
    let now = try PeerIdentity(of: devices[0], interval: 20)
    let before = try PeerIdentity(of: devices[1], interval: 20)
    let after = try PeerIdentity(of: devices[1], interval: 20)
    // One end still uses the token of the earlier run.
    let near = try now.session(with: before.token)
    var far = try after.session(with: now.token)
    if knowsEverythingButTheKey {
      let sts = far.sts
      far = near
      far.role = near.role == .controller ? .controlee : .controller
      (far.address, far.peers) = (near.peers[0], [near.address])
      far.sts = sts
    } else {
      far.role = near.role == .controller ? .controlee : .controller
    }
    let distances = try await Self.distances([near, far], on: devices)
    #expect(distances == [nil, nil, nil, nil, nil])
    for device in devices { await device.close() }
    bench.stop()
  }
}
