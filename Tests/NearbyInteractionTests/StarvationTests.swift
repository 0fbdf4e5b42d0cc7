// SPDX-License-Identifier: Apache-2.0
import System
import SystemPackage
import Testing
import UWB
import UWBSimulator
import UWBTestSupport

@testable import NearbyInteraction

/// Queries of capabilities and tokens never wait for a chip. Waits for a chip do not need the
/// threads that run tasks.
@Suite(.timeLimit(.minutes(10))) struct StarvationTests {
  @Test func capabilitiesOfManyChipsAtOnce() async throws {
    let stages = try (0..<8).map { _ in try ChipFixture(.sr250, others: []) }
    let registry = DeviceRegistry(clock: .patient())
    await withTaskGroup(of: Bool.self) { group in
      for chips in stages {
        group.addTask { await registry.supportsDirections(after: true, of: chips) }
      }
      for await isThere in group { #expect(isThere) }
    }
    await registry.closeIdle()
    for chips in stages { chips.bench.stop() }
  }

  /// The registry assumes the capabilities of every chip for two chips: one that does not answer,
  /// and one that another program uses. It queries both again.
  @Test(arguments: [true, false]) func chipsThatDoNotAnswerMeasureDistances(isMute: Bool)
    async throws
  {
    let chips = try ChipFixture(.sr250, others: [])
    let isSilent = Locked(isMute)
    // Time-outs pass at once while the chip is mute, and never after that.
    let clock = AlarmClock.patient { time in
      isSilent.withLock { $0 } || time <= .milliseconds(150) || time == .milliseconds(500)
    }
    let registry = DeviceRegistry(clock: clock)
    chips.app.faults.mute = isMute
    var other: UWBDevice?
    if !isMute {
      // The device is not in the registry, like a device of another program.
      var options = UWBDevice.Options()
      options.clock = clock
      other = try await UWBDevice.open(.serial(path: FilePath(chips.path)), options: options)
    }
    // The second request comes after the failure of the first one.
    for _ in 0..<2 {
      await registry.prepare(deviceNamed: chips.path)
      let known = try #require(registry.capabilities(ofDeviceNamed: chips.path))
      let capabilities = ChipCapabilities(known, hasPoses: true)
      #expect(capabilities.supportsPreciseDistanceMeasurement)
      #expect(capabilities.supportsCameraAssistance && !capabilities.supportsDirectionMeasurement)
    }
    // The last request of `capabilities` ends before the chip answers again.
    await registry.prepare(deviceNamed: chips.path)
    chips.app.faults.mute = false
    isSilent.withLock { $0 = false }
    await other?.close()
    #expect(await registry.supportsDirections(after: true, of: chips))
    await registry.closeIdle()
    chips.bench.stop()
  }

  /// A session does not wait for its chip, which it asks in the background.
  @Test func tokensDoNotWaitForTheChip() throws {
    let chips = try ChipFixture(.sr250, others: [])
    chips.app.faults.mute = true
    let session = NISession()
    session.device = chips.path
    let token = try #require(session.discoveryToken)
    #expect(token.deviceCapabilities.supportsPreciseDistanceMeasurement)
    #expect(
      ChipCapabilities.ofDevice(named: chips.path, hasPoses: true).supportsCameraAssistance)
    chips.bench.stop()
  }

  /// Reported capabilities hold while the chip is in use elsewhere, until the chip is removed.
  @Test func answersAreKeptWhileTheChipIsThere() async throws {
    let chips = try ChipFixture(.sr250, others: [])
    let registry = DeviceRegistry(clock: .patient())
    #expect(await registry.supportsDirections(after: true, of: chips))
    await registry.closeIdle()
    var options = UWBDevice.Options()
    options.clock = .patient()
    let other = try await UWBDevice.open(.serial(path: FilePath(chips.path)), options: options)
    #expect(await registry.supportsDirections(after: false, of: chips))
    await other.close()
    chips.app.unplug()
    #expect(await !registry.supportsDirections(after: false, of: chips))
    try chips.app.replug()
    #expect(await registry.supportsDirections(after: false, of: chips))
    chips.bench.stop()
  }
}

extension DeviceRegistry {
  /// Returns whether a chip measures directions, as far as known. If `isAsked`, the chip is queried
  /// first.
  fileprivate func supportsDirections(after isAsked: Bool, of chips: ChipFixture) async -> Bool {
    if isAsked { await prepare(deviceNamed: chips.path) }
    return capabilities(ofDeviceNamed: chips.path).map {
      ChipCapabilities($0, hasPoses: false).supportsDirectionMeasurement
    } ?? false
  }
}
