// SPDX-License-Identifier: Apache-2.0
import DriverTestSupport
import Foundation
import SystemPackage
import Testing
import UCI
import UWB
import UWBLink
import UWBSimulator

@testable import NearbyInteraction

/// Devices that appear and disappear, are used by other programs, or are released.
@Suite struct DeviceTests {
  @Test func unpluggingSuspendsAndReplugDoesNotResume() async throws {
    let fixture = try await SessionFixture()
    let recorder = fixture.recorder
    try await fixture.run()
    #expect(await recorder.waitForUpdates(3))
    fixture.chips.app.unplug()
    #expect(await recorder.wait { $0.contains(.suspended) })
    try fixture.chips.app.replug()
    #expect(await recorder.wait { $0.contains(.suspensionEnded) })
    recorder.drain()
    let before = recorder.calls.count
    #expect(recorder.calls.last == .suspensionEnded)
    try await fixture.run()
    #expect(
      await recorder.wait { $0.count >= before + 4 && $0.suffix(2).allSatisfy { $0.isUpdate } })
    #expect(recorder.calls[before] == .started)
    #expect(try await fixture.sessions == 1)
    await fixture.end()
  }

  @Test func busyDevicesAreWaitedFor() async throws {
    let fixture = try await SessionFixture()
    // The device is not in the registry, like a device of another program.
    let other = try await UWBDevice.open(
      .serial(path: FilePath(fixture.chips.path)), options: .patient)
    let recorder = fixture.recorder
    try await fixture.run()
    #expect(await recorder.wait { $0 == [.suspended] })
    await other.close()
    #expect(await recorder.wait { $0 == [.suspended, .suspensionEnded] })
    try await fixture.run()
    #expect(await recorder.waitForUpdates(2))
    await fixture.end()
  }

  @Test func aChipRestartSuspends() async throws {
    let fixture = try await SessionFixture()
    let recorder = fixture.recorder
    try await fixture.run()
    #expect(await recorder.waitForUpdates(3))
    fixture.chips.app.restart()
    #expect(
      await recorder.wait { $0.suffix(2) == [.suspended, .suspensionEnded] },
      "\(recorder.milestones)")
    try await fixture.run()
    #expect(await recorder.wait { $0.last?.isUpdate == true }, "\(recorder.milestones)")
    await fixture.end()
  }

  /// The chip hangs. The driver recovers the device whatever the cause.
  @Test func aChipThatStopsAnsweringSuspends() async throws {
    let registry = DeviceRegistry(recovery: RecoveryPolicy(watchdogInterval: .milliseconds(50)))
    let core = SessionCore(executor: RunExecutor(registry: registry))
    let fixture = try await SessionFixture(core: core)
    let recorder = fixture.recorder
    try await fixture.run()
    #expect(await recorder.waitForUpdates(3))
    fixture.chips.app.faults.mute = true
    #expect(await recorder.wait { $0.last == .suspended }, "\(recorder.milestones)")
    fixture.chips.app.faults.mute = false
    #expect(await recorder.wait { $0.last == .suspensionEnded }, "\(recorder.milestones)")
    try await fixture.run()
    #expect(await recorder.wait { $0.last?.isUpdate == true }, "\(recorder.milestones)")
    await fixture.end()
  }

  /// Running a session waits while its device is being closed.
  @Test func openingWaitsForClosing() async throws {
    let chips = try ChipFixture(others: [])
    let registry = DeviceRegistry(linger: .zero)
    let key = DeviceRegistry.Key(.serial(path: FilePath(chips.path)))
    for _ in 0..<10 {
      await #expect(throws: Never.self) { try await registry.acquire(key).get() }
      registry.release(key)
      // The device may be idle, closing or closed.
      async let idle: Void = registry.closeIdle()
      await #expect(throws: Never.self) { try await registry.acquire(key).get() }
      registry.release(key)
      await idle
    }
    await registry.closeIdle()
    chips.bench.stop()
  }

  /// A device that appears in place of a lost one may belong to another program.
  @Test func unusedLostDevicesAreClosed() async throws {
    for isLostFirst in [true, false] {
      let chips = try ChipFixture(others: [])
      let registry = DeviceRegistry(linger: .seconds(1_000))
      let key = DeviceRegistry.Key(.serial(path: FilePath(chips.path)))
      let device = try await registry.acquire(key).get()
      let (events, losses) = (device.events, device.events)
      if !isLostFirst { registry.release(key) }
      chips.app.unplug()
      for await case .lost in losses { break }
      if isLostFirst { registry.release(key) }
      // The end of the session ends the events.
      for await _ in events {}
      try chips.app.replug()
      let other = try await UWBDevice.open(.serial(path: FilePath(chips.path)), options: .patient)
      #expect(try await other.send(GetSessionCount()).count == 0)
      await other.close()
      chips.bench.stop()
    }
  }

  @Test func invalidFileNamesAreErrors() async throws {
    var data = Data([1, 0, 0, 0, 0])
    data.append(Data(count: 10))
    data.append(contentsOf: [21, 1, 0, 1, 0])
    data.append(Data(count: 12))
    data.append(contentsOf: [1, 1, 1, 25, 0])
    let recorder = Recorder()
    let session = recorder.session(on: "tcp:nonsense")
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

  /// The error of an expired suspension includes the driver's error.
  @Test func expiredSuspensionsReportTheirCause() async throws {
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

  @Test func capabilitiesComeFromTheChip() async throws {
    let plain = try ChipFixture(.qm33, others: [])
    let all = try ChipFixture(.sr250, others: [])
    for path in [plain.path, all.path, "/dev/does-not-exist"] { await NISession.prepare(path) }
    let one = ChipCapabilities.ofDevice(named: plain.path, hasPoses: false)
    let other = ChipCapabilities.ofDevice(named: all.path, hasPoses: true)
    let none = ChipCapabilities.ofDevice(named: "/dev/does-not-exist", hasPoses: true)
    #expect(one.supportsPreciseDistanceMeasurement && other.supportsPreciseDistanceMeasurement)
    #expect(!one.supportsDirectionMeasurement && other.supportsDirectionMeasurement)
    #expect(!one.supportsCameraAssistance && other.supportsCameraAssistance)
    #expect(none == ChipCapabilities())
    plain.bench.stop()
    all.bench.stop()
  }

  /// No sessions, threads or descriptors are left. The test runs in a process of its own, because
  /// other tests use them too.
  @Test func aHundredRunsLeaveNoSessionOnTheChip() async {
    await #expect(processExitsWith: .success) {
      func count(_ folder: String) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/\(folder)").count
      }
      let fixture = try await SessionFixture()
      let recorder = fixture.recorder
      func cycle(_ number: Int) async throws {
        let session = recorder.session(on: fixture.chips.path)
        session.run(try await fixture.accessory.configuration())
        #expect(await recorder.wait { $0.count(where: { $0 == .started }) == number })
        // Each way to end, in turn.
        switch number % 3 {
        case 0: session.invalidate()
        case 1: session.pause()
        default: break
        }
      }
      // Sessions end after their last reference is released, so the test asks repeatedly.
      func sessionsLeft() async throws -> UInt8? {
        for _ in 0..<1_000 {
          await DeviceRegistry.shared.closeIdle()
          do { return try await fixture.chips.sessionsLeft() } catch let error as DriverError
            where error.code == .link
          {}
        }
        return nil
      }
      // A descriptor of the last call may be closed a moment later, on another thread.
      func leastDescriptors() async throws -> Int {
        var least = try count("fd")
        for _ in 0..<100 {
          await Task.yield()
          least = min(least, try count("fd"))
        }
        return least
      }
      try await cycle(1)
      // The process has now opened everything that it opens only once.
      #expect(try await sessionsLeft() == 0)
      let descriptors = try await leastDescriptors()
      // Dispatch starts and ends threads itself. A leak of one in every tenth run would be five.
      var threads: [Int] = []
      for number in 2...101 {
        try await cycle(number)
        threads.append(try count("task"))
      }
      #expect(threads.suffix(10).min()! < threads.prefix(50).max()! + 5, "\(threads)")
      #expect(try await sessionsLeft() == 0)
      #expect(try await leastDescriptors() == descriptors)
      await fixture.end()
    }
  }
}

extension Recorder.Call {
  var isUpdate: Bool { if case .updated = self { true } else { false } }
  var isShareable: Bool { if case .shareable = self { true } else { false } }
}
