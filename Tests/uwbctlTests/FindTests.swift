// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocol
import Foundation
import NearbyInteraction
import SystemPackage
import Testing
import UCI
import UWB
import UWBLink
import UWBSimulator

@testable import uwbctl

/// How `uwbctl find` ends when something is not as it should be.
@Suite struct FindTests {
  /// The app's end of a channel, and the other one.
  private func channels() throws -> (SocketChannel, SocketChannel) {
    var ends: [Int32] = [0, 0]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
    return (
      SocketChannel(FileDescriptor(rawValue: ends[0])),
      SocketChannel(FileDescriptor(rawValue: ends[1]))
    )
  }

  @Test func aSilentAccessoryIsAFailure() async throws {
    let (near, far) = try channels()
    let finder = AccessoryFinder(
      chip: "/dev/does-not-exist", patience: .seconds(60), channel: near,
      answerTime: .milliseconds(50))
    let error = await #expect(throws: Failure.self) { try await finder.run(for: nil) { _ in true } }
    #expect(error?.status == .silent)
    var messages = far.messages.makeAsyncIterator()
    #expect(await messages.next() == AppMessage.initialize.bytes)
    far.close()
  }

  /// The statuses are those of the other commands.
  @Test(arguments: [
    ("/dev/does-not-exist", uwbctl.ExitStatus.unavailable, "/dev/does-not-exist"),
    ("/dev/null", .usage, "not a serial device"), ("tcp:127.0.0.1:1", .unavailable, "127.0.0.1"),
  ])
  func aMissingDeviceIsTheCause(
    device: String, status: uwbctl.ExitStatus, cause: String
  ) async throws {
    let (near, far) = try channels()
    let answering = Task {
      var data = AccessoryConfigurationData(uwb: .init(role: .controller, address: 7))
      data.preferredUpdateRate = .userInteractive
      for await message in far.messages where message == AppMessage.initialize.bytes {
        try await far.send(AccessoryMessage.accessoryConfigurationData(data.bytes).bytes)
      }
    }
    let finder = AccessoryFinder(chip: device, patience: .zero, channel: near)
    let error = try #require(
      await #expect(throws: NIError.self) { try await finder.run(for: nil) { _ in true } })
    #expect(uwbctl.ExitStatus(error) == status)
    #expect(error.description.contains(cause), "\(error)")
    try await answering.value
  }

  /// The terminal is closed: nothing is left on the chip.
  @Test(.timeLimit(.minutes(1)))
  func closingTheTerminalEndsTheSession() async throws {
    let bench = SimulatedBench(scene: Scene(seed: 3))
    let chip = try bench.add(profile: .qm33PDoA, placement: Placement(at: SIMD3(0, 0, 0)))
    let other = try bench.add(profile: .qm33, placement: Placement(at: SIMD3(2, 1, 0)))
    bench.start()
    let device = try await UWBDevice.open(.serial(path: FilePath(other.path)))
    let accessory = try Accessory(device)
    let listener = try await SocketListener(.tcp(host: "127.0.0.1", port: 0))
    let serving = Task { await accessory.serve(listener) }
    let finder = try ChildProcess([
      "find", "--device", chip.path, "--accessory", listener.endpoint.description,
    ])
    try finder.waitFor(#"{"event":"started"}"#)
    kill(finder.process.processIdentifier, SIGHUP)
    finder.process.waitUntilExit()
    #expect(finder.process.terminationReason == .exit)
    var options = UWBDevice.Options()
    options.resetPolicy = .keepState
    let own = try await UWBDevice.open(.serial(path: FilePath(chip.path)), options: options)
    #expect(try await own.send(GetSessionCount()).count == 0)
    await own.close()
    serving.cancel()
    await accessory.close()
    await device.close()
    bench.stop()
  }
}
