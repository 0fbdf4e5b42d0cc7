// SPDX-License-Identifier: Apache-2.0
import Foundation
import SystemPackage
import Testing
import UCI
import UWB
import UWBLink
import UWBSimulator

@testable import NearbyInteraction

/// Devices that come and go, are somebody else's, or are left tidy.
@Suite struct DeviceTests {
  @Test func anUnpluggedDeviceSuspendsAndItsReturnDoesNotResume() async throws {
    let meeting = try await Encounter()
    let recorder = meeting.recorder
    try await meeting.run()
    #expect(await recorder.waitForUpdates(3))
    meeting.stage.app.unplug()
    #expect(await recorder.wait { $0.contains(.suspended) })
    try meeting.stage.app.replug()
    #expect(await recorder.wait { $0.contains(.suspensionEnded) })
    recorder.drain()
    let before = recorder.calls.count
    #expect(recorder.calls.last == .suspensionEnded)
    try await meeting.run()
    #expect(
      await recorder.wait { $0.count >= before + 4 && $0.suffix(2).allSatisfy { $0.isUpdate } })
    #expect(recorder.calls[before] == .started)
    #expect(try await meeting.sessions == 1)
    await meeting.end()
  }

  @Test func aDeviceThatAnotherProgramHasIsWaitedFor() async throws {
    let meeting = try await Encounter()
    // Past the registry, so like another program.
    let other = try await UWBDevice.open(.serial(path: FilePath(meeting.stage.path)))
    let recorder = meeting.recorder
    try await meeting.run()
    #expect(await recorder.wait { $0 == [.suspended] })
    await other.close()
    #expect(await recorder.wait { $0 == [.suspended, .suspensionEnded] })
    try await meeting.run()
    #expect(await recorder.waitForUpdates(2))
    await meeting.end()
  }

  @Test func aChipThatStartsAnewSuspends() async throws {
    let meeting = try await Encounter()
    let recorder = meeting.recorder
    try await meeting.run()
    #expect(await recorder.waitForUpdates(3))
    meeting.stage.app.restart()
    #expect(
      await recorder.wait { $0.suffix(2) == [.suspended, .suspensionEnded] },
      "\(recorder.milestones)")
    try await meeting.run()
    #expect(await recorder.wait { $0.last?.isUpdate == true }, "\(recorder.milestones)")
    await meeting.end()
  }

  /// It hangs without a word: whatever the driver takes for the cause, it looks for the device.
  @Test func aChipThatFallsSilentSuspends() async throws {
    let registry = DeviceRegistry(recovery: RecoveryPolicy(silence: .milliseconds(50)))
    let core = SessionCore(runner: ChipRunner(registry: registry))
    let meeting = try await Encounter(core: core)
    let recorder = meeting.recorder
    try await meeting.run()
    #expect(await recorder.waitForUpdates(3))
    meeting.stage.app.faults.mute = true
    #expect(await recorder.wait { $0.last == .suspended }, "\(recorder.milestones)")
    meeting.stage.app.faults.mute = false
    #expect(await recorder.wait { $0.last == .suspensionEnded }, "\(recorder.milestones)")
    try await meeting.run()
    #expect(await recorder.wait { $0.last?.isUpdate == true }, "\(recorder.milestones)")
    await meeting.end()
  }

  /// Who runs a session when its device has just been closed waits for that.
  @Test func aDeviceThatIsBeingClosedIsOpenedBehindThat() async throws {
    let stage = try Stage(others: [])
    let registry = DeviceRegistry(linger: .zero)
    let place = DeviceRegistry.Place(.serial(path: FilePath(stage.path)))
    for _ in 0..<10 {
      await #expect(throws: Never.self) { try await registry.acquire(place).get() }
      registry.release(place)
      // Lingering, closing or closed, as it comes.
      async let idle: Void = registry.closeIdle()
      await #expect(throws: Never.self) { try await registry.acquire(place).get() }
      registry.release(place)
      await idle
    }
    await registry.closeIdle()
    stage.bench.stop()
  }

  /// What appears where a lost device was may be another program's.
  @Test func nobodyWaitsForALostDeviceThatNobodyUses() async throws {
    for isLostFirst in [true, false] {
      let stage = try Stage(others: [])
      let registry = DeviceRegistry(linger: .seconds(1_000))
      let place = DeviceRegistry.Place(.serial(path: FilePath(stage.path)))
      let device = try await registry.acquire(place).get()
      let (events, losses) = (device.events, device.events)
      if !isLostFirst { registry.release(place) }
      stage.app.unplug()
      for await case .lost in losses { break }
      if isLostFirst { registry.release(place) }
      // Its end ends them.
      for await _ in events {}
      try stage.app.replug()
      let other = try await UWBDevice.open(.serial(path: FilePath(stage.path)))
      await other.close()
      stage.bench.stop()
    }
  }

  @Test func namesThatAreNoneAreErrors() async throws {
    let data = Data(
      [1, 0, 0, 0, 0] + [UInt8](repeating: 0, count: 10) + [21, 1, 0, 1, 0]
        + [UInt8](repeating: 0, count: 12) + [1, 1, 1, 25, 0])
    let recorder = Recorder()
    let session = recorder.session(on: "nonsense")
    session.run(try NINearbyAccessoryConfiguration(data: data))
    #expect(await recorder.wait { $0 == [.invalidated(.invalidConfiguration)] })
    let missing = Recorder()
    let other = missing.session(on: "/dev/does-not-exist")
    other.run(try NINearbyAccessoryConfiguration(data: data))
    #expect(await missing.wait { $0 == [.suspended] })
    #expect(other.authorizationStatus == .notDetermined)
    other.invalidate()
    let sounding = Recorder()
    let third = sounding.session(on: "/dev/does-not-exist")
    third.run(
      NINearbyAccessoryConfiguration(
        bluetoothChannelSoundingIdentifier: UUID(), previousBluetoothIdentifier: nil))
    #expect(await sounding.wait { $0 == [.invalidated(.unsupportedPlatform)] })
  }

  /// Whoever waited in vain learns for what, from the driver's error too.
  @Test func theEndOfASuspensionSaysWhatItWaitedFor() async throws {
    let session = NISession()
    session.device = "/dev/does-not-exist"
    session.timeouts.suspension = .zero
    var found: NIError?
    let events = session.events
    session.run(NIDLTDOAConfiguration(networkIdentifier: 1))
    for await case .didInvalidate(let error) in events { found = error }
    let error = try #require(found)
    #expect(error.code == .sessionFailed && error.description.contains("/dev/does-not-exist"))
    let cause = try #require(error.userInfo[NSUnderlyingErrorKey] as? DriverError)
    guard cause.linkError?.code == .notFound else {
      Issue.record("\(cause)")
      return
    }
    await session.close()
  }

  @Test func capabilitiesAreThoseOfTheChip() async throws {
    let plain = try Stage(.qm33, others: [])
    let all = try Stage(.sr250, others: [])
    let (one, other) = try await waiting {
      (
        ChipCapabilities.ofDevice(named: plain.path, hasPoses: false),
        ChipCapabilities.ofDevice(named: all.path, hasPoses: true)
      )
    }
    #expect(one.supportsPreciseDistanceMeasurement && other.supportsPreciseDistanceMeasurement)
    #expect(!one.supportsDirectionMeasurement && other.supportsDirectionMeasurement)
    #expect(!one.supportsCameraAssistance && other.supportsCameraAssistance)
    let none = ChipCapabilities.ofDevice(named: "/dev/does-not-exist", hasPoses: true)
    #expect(none == ChipCapabilities())
    plain.bench.stop()
    all.bench.stop()
  }

  /// Nothing is left behind, neither on the chip nor in the process: one of its own, so that what
  /// other tests open and begin does not count.
  @Test func aHundredRunsLeaveNothingBehind() async {
    await #expect(processExitsWith: .success) {
      func count(_ folder: String) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/\(folder)").count
      }
      let meeting = try await Encounter()
      let recorder = meeting.recorder
      func cycle(_ number: Int) async throws {
        let session = recorder.session(on: meeting.stage.path)
        session.run(try await meeting.accessory.configuration())
        #expect(await recorder.wait { $0.count(where: { $0 == .started }) == number })
        // Each way of ending in turn.
        switch number % 3 {
        case 0: session.invalidate()
        case 1: session.pause()
        default: break
        }
      }
      // Sessions end behind the last reference to them: asked again while the chip is in use.
      func sessionsLeft() async throws -> UInt8? {
        for _ in 0..<1_000 {
          await DeviceRegistry.shared.closeIdle()
          do {
            return try await meeting.stage.sessionsLeft()
          } catch let error as DriverError where error.code == .link {}
        }
        return nil
      }
      try await cycle(1)
      // What the process opens once and for all is open.
      #expect(try await sessionsLeft() == 0)
      let descriptors = try count("fd")
      // Dispatch begins and ends some as it sees fit; one more for each tenth run would be five.
      var threads: [Int] = []
      for number in 2...101 {
        try await cycle(number)
        threads.append(try count("task"))
      }
      #expect(threads.suffix(10).min()! < threads.prefix(50).max()! + 5, "\(threads)")
      #expect(try await sessionsLeft() == 0)
      #expect(try count("fd") == descriptors)
      await meeting.end()
    }
  }
}

extension Recorder.Call {
  var isUpdate: Bool { if case .updated = self { true } else { false } }
  var isShareable: Bool { if case .shareable = self { true } else { false } }
}
