// SPDX-License-Identifier: Apache-2.0
import Foundation
import SystemPackage
import Testing
import UWB
import UWBSimulator

@testable import NearbyInteraction

/// Capabilities and tokens never wait for a chip, and waiting for one does not depend on the threads that
/// run tasks.
@Suite(.timeLimit(.minutes(10))) struct StarvationTests {
  @Test func capabilitiesOfManyChipsAtOnce() async throws {
    let stages = try (0..<8).map { _ in try ChipFixture(.sr250, others: []) }
    await withTaskGroup(of: Bool.self) { group in
      for chips in stages {
        group.addTask {
          await NISession.prepare(chips.path)
          return ChipCapabilities.ofDevice(named: chips.path, hasPoses: false)
            .supportsDirectionMeasurement
        }
      }
      for await isThere in group { #expect(isThere) }
    }
    for chips in stages { chips.bench.stop() }
  }

  /// What every chip can is true of a chip that says nothing, and of one that another program has. Both
  /// are asked again.
  @Test(arguments: [true, false]) func chipsThatDoNotAnswerMeasureDistances(isMute: Bool)
    async throws
  {
    let chips = try ChipFixture(.sr250, others: [])
    var other: UWBDevice?
    if isMute {
      chips.app.faults.mute = true
    } else {
      // Without the registry, so like another program.
      other = try await UWBDevice.open(.serial(path: FilePath(chips.path)))
    }
    let session = NISession()
    session.device = chips.path
    // During the first question, and after it has failed.
    for isAsked in [false, true] {
      if isAsked { await NISession.prepare(chips.path) }
      let capabilities = ChipCapabilities.ofDevice(named: chips.path, hasPoses: true)
      #expect(capabilities.supportsPreciseDistanceMeasurement)
      #expect(capabilities.supportsCameraAssistance && !capabilities.supportsDirectionMeasurement)
      let token = try #require(session.discoveryToken)
      #expect(token.deviceCapabilities.supportsPreciseDistanceMeasurement)
    }
    chips.app.faults.mute = false
    await other?.close()
    // A question may just have failed.
    await NISession.prepare(chips.path)
    await NISession.prepare(chips.path)
    let capabilities = ChipCapabilities.ofDevice(named: chips.path, hasPoses: true)
    #expect(capabilities.supportsDirectionMeasurement)
    await session.close()
    chips.bench.stop()
  }

  /// What was reported once holds while the chip is in use elsewhere, and ends with the chip.
  @Test func answersAreKeptWhileTheChipIsThere() async throws {
    let chips = try ChipFixture(.sr250, others: [])
    func supportsDirections() -> Bool {
      ChipCapabilities.ofDevice(named: chips.path, hasPoses: false).supportsDirectionMeasurement
    }
    await NISession.prepare(chips.path)
    await DeviceRegistry.shared.closeIdle()
    let other = try await UWBDevice.open(.serial(path: FilePath(chips.path)))
    #expect(supportsDirections())
    await other.close()
    chips.app.unplug()
    #expect(!supportsDirections())
    try chips.app.replug()
    #expect(supportsDirections())
    chips.bench.stop()
  }
}
