// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import UWBSimulator

@testable import NearbyInteraction

/// What has to wait for a chip must not wait for a thread of Swift's tasks: these may all be waiting
/// in the same way.
@Suite struct StarvationTests {
  @Test func capabilitiesOfManyChipsAtOnce() async throws {
    let stages = try (0..<8).map { _ in try Stage(.qm33, others: []) }
    await withTaskGroup(of: Bool.self) { group in
      for stage in stages {
        group.addTask {
          ChipCapabilities.ofDevice(named: stage.path, hasPoses: false)
            .supportsPreciseDistanceMeasurement
        }
      }
      for await isThere in group { #expect(isThere) }
    }
    for stage in stages { stage.bench.stop() }
  }
}
