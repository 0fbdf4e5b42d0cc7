// SPDX-License-Identifier: Apache-2.0
import Foundation
import Testing
import UWBSimulator

@testable import NearbyInteraction

/// Waiting for a chip must not depend on the threads that run tasks: they may all be waiting too.
@Suite struct StarvationTests {
  @Test func capabilitiesOfManyChipsAtOnce() async throws {
    let stages = try (0..<8).map { _ in try ChipFixture(.qm33, others: []) }
    await withTaskGroup(of: Bool.self) { group in
      for chips in stages {
        group.addTask {
          ChipCapabilities.ofDevice(named: chips.path, hasPoses: false)
            .supportsPreciseDistanceMeasurement
        }
      }
      for await isThere in group { #expect(isThere) }
    }
    for chips in stages { chips.bench.stop() }
  }
}
