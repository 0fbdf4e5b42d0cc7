// SPDX-License-Identifier: Apache-2.0
import Foundation
import SystemPackage
import Testing
import UCI
import UWBDriver
import UWBLink
import UWBSimulator

@testable import NearbyInteraction

/// Devices that come and go, are somebody else's, or are left tidy.
@Suite struct DeviceTests {
  @Test func anUnpluggedDeviceSuspendsAndItsReturnDoesNotResume() async throws {
    let stage = try Stage()
    let accessory = try await TestAccessory(stage.others[0])
    let recorder = Recorder()
    recorder.connect(to: accessory)
    let session = recorder.session(on: stage.path)
    session.run(try accessory.configuration())
    #expect(await recorder.waitForUpdates(3))
    stage.app.unplug()
    #expect(await recorder.wait { $0.contains(.suspended) })
    try stage.app.replug()
    #expect(await recorder.wait { $0.contains(.suspensionEnded) })
    recorder.drain()
    let before = recorder.calls.count
    #expect(recorder.calls.last == .suspensionEnded)
    session.run(try accessory.configuration())
    #expect(
      await recorder.wait { $0.count >= before + 4 && $0.suffix(2).allSatisfy { $0.isUpdate } })
    #expect(recorder.calls[before] == .started)
    session.invalidate()
    await accessory.close()
    stage.bench.stop()
  }

  @Test func aDeviceThatAnotherProgramHasIsWaitedFor() async throws {
    let stage = try Stage()
    let accessory = try await TestAccessory(stage.others[0])
    // Past the registry, so like another program.
    let other = try await UWBDevice.open(.serial(path: FilePath(stage.path)))
    let recorder = Recorder()
    recorder.connect(to: accessory)
    let session = recorder.session(on: stage.path)
    session.run(try accessory.configuration())
    #expect(await recorder.wait { $0 == [.suspended] })
    await other.close()
    #expect(await recorder.wait { $0 == [.suspended, .suspensionEnded] })
    session.run(try accessory.configuration())
    #expect(await recorder.waitForUpdates(2))
    session.invalidate()
    await accessory.close()
    stage.bench.stop()
  }

  @Test func aChipThatStartsAnewSuspends() async throws {
    let stage = try Stage()
    let accessory = try await TestAccessory(stage.others[0])
    let recorder = Recorder()
    recorder.connect(to: accessory)
    let session = recorder.session(on: stage.path)
    session.run(try accessory.configuration())
    #expect(await recorder.waitForUpdates(3))
    stage.app.restart()
    #expect(await recorder.wait { $0.suffix(2) == [.suspended, .suspensionEnded] })
    session.run(try accessory.configuration())
    #expect(await recorder.wait { $0.last?.isUpdate == true })
    session.invalidate()
    await accessory.close()
    stage.bench.stop()
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

  @Test func whoMayNotOpenTheDeviceIsToldWhatHelps() throws {
    let access = DeviceAccess(owner: "root", group: "dialout", mode: 0o660, isAllowed: false)
    let error = Authorization.denial("/dev/ttyACM0", access)
    #expect(error.code == .userDidNotAllow)
    let recovery = try #require(error.userInfo[NSLocalizedRecoverySuggestionErrorKey] as? String)
    #expect(recovery.contains("udev/60-uwb.rules") && recovery.contains("usermod -aG dialout"))
    var member = access
    member.needsNewLogin = true
    #expect(
      Authorization.denial("/dev/ttyACM0", member).description.contains("log in again"))
    let link = DriverError.link(
      LinkError(.permissionDenied, endpoint: "/dev/ttyACM0", detail: "dialout"))
    #expect(NIError(link).code == .userDidNotAllow && !link.mayPass)
    #expect(NIError(link).description.contains("usermod -aG dialout"))
  }

  @Test func aUserWithoutAccessIsDenied() async throws {
    // Root may open everything.
    guard geteuid() != 0 else { return print("skipped: root may open every device") }
    let path = "\(NSTemporaryDirectory())/ni-denied-\(UUID().uuidString)"
    #expect(FileManager.default.createFile(atPath: path, contents: nil))
    try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: path)
    let recorder = Recorder()
    let session = recorder.session(on: path)
    guard case .denied = session.authorizationStatus else {
      Issue.record("\(session.authorizationStatus)")
      return
    }
    session.run(NIDLTDOAConfiguration(networkIdentifier: 1))
    #expect(await recorder.wait { $0 == [.invalidated(.userDidNotAllow)] })
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

  /// Nothing is left behind, neither on the chip nor in the process.
  @Test func aHundredRunsLeaveNothingBehind() async throws {
    let stage = try Stage()
    let accessory = try await TestAccessory(stage.others[0])
    func threads() throws -> Int {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
    }
    func descriptors() throws -> Int {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
    }
    let before = (try threads(), try descriptors())
    let recorder = Recorder()
    for cycle in 0..<100 {
      let session = recorder.session(on: stage.path)
      session.run(try accessory.configuration())
      #expect(await recorder.wait { $0.count(where: { $0 == .started }) == cycle + 1 })
      // Each way of ending in turn.
      switch cycle % 3 {
      case 0: session.invalidate()
      case 1: session.pause()
      default: break
      }
    }
    recorder.drain()
    // The next run begins when the last one is off the chip.
    let last = recorder.session(on: stage.path)
    last.run(try accessory.configuration())
    #expect(await recorder.wait { $0.count(where: { $0 == .started }) == 101 })
    let endpoint = LinkEndpoint.serial(path: FilePath(stage.path))
    let device = try await DeviceRegistry.shared.acquire(endpoint).get()
    #expect(try await settles { try await device.send(GetSessionCount()).count == 1 })
    last.invalidate()
    #expect(try await settles { try await device.send(GetSessionCount()).count == 0 })
    DeviceRegistry.shared.release(endpoint)
    await DeviceRegistry.shared.closeIdle()
    // Others come and go beside this test; a hundred would not.
    #expect(try threads() < before.0 + 60)
    #expect(try descriptors() < before.1 + 60)
    await accessory.close()
    stage.bench.stop()
  }

  /// Asks again until it is so; each question is an exchange with the chip.
  private func settles(_ condition: () async throws -> Bool) async rethrows -> Bool {
    for _ in 0..<1_000 { if try await condition() { return true } }
    return false
  }
}

extension Recorder.Call {
  var isUpdate: Bool { if case .updated = self { true } else { false } }
}
