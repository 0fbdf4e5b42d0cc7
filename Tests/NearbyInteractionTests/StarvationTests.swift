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

  /// The capabilities of every chip also hold for a chip that does not answer, and for a chip that
  /// another program uses. Both are asked again.
  @Test(arguments: [true, false]) func chipsThatDoNotAnswerMeasureDistances(isMute: Bool)
    async throws
  {
    let chips = try ChipFixture(.sr250, others: [])
    var other: UWBDevice?
    if isMute {
      chips.app.faults.mute = true
    } else {
      // Without the registry, the session is like one of another program.
      other = try await UWBDevice.open(.serial(path: FilePath(chips.path)))
    }
    let session = NISession()
    session.device = chips.path
    // The second request comes during the first one, and after its failure.
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
    // A request may just have failed.
    await NISession.prepare(chips.path)
    await NISession.prepare(chips.path)
    let capabilities = ChipCapabilities.ofDevice(named: chips.path, hasPoses: true)
    #expect(capabilities.supportsDirectionMeasurement)
    await session.close()
    chips.bench.stop()
  }

  /// Reported capabilities hold while the chip is in use elsewhere, until the chip is removed.
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
