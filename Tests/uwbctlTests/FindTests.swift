// SPDX-License-Identifier: Apache-2.0

import DriverTestSupport
import Accessory
import AccessoryProtocol
import Channels
import ArgumentParser
import CommandSupport
import Foundation
import ProgramTestSupport
import Synchronization
import SystemPackage
import Testing
import UWBTestSupport
import UCI
import UWB
import UWBLink
import UWBSimulator
import UWBTestSupport
import UWBTools
import uwbctl

/// The exit of `uwbctl find` after faults.
@Suite(.ownThreads) struct FindTests {
  /// Both ends of a channel, the app's first.
  private func channels() throws -> (SocketChannel, SocketChannel) {
    var ends: [Int32] = [0, 0]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
    return (
      SocketChannel(FileDescriptor(rawValue: ends[0])),
      SocketChannel(FileDescriptor(rawValue: ends[1]))
    )
  }

  /// The capture of a finder has the messages beside the packets, without the session key.
  @Test func captureOfAnAndroidDialogue() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("find.pcapng")
    let run = try ChildProcess.run(["find", "--android", "-n", "1", "--capture", path])
    #expect(run.status == 0, "\(run.complaints)")
    let capture = try CaptureReader.read(file: path)
    #expect(capture.packets.count > 20 && capture.problems.isEmpty)
    let messages = capture.messages
    // The first distance, which ends the run, may come before the answer to the configuration.
    try #require(messages.count >= 3)
    #expect(messages.prefix(3).map { $0.bytes[1] } == [0, 1, 2])
    #expect(messages.first?.comment == "android from phone with accessory")
    let configuration = try #require(messages.first { $0.bytes[1] == 2 })
    #expect(
      configuration.bytes.dropFirst(21).prefix(Int(configuration.bytes[20])).allSatisfy { $0 == 0 })
    let decoded = try ChildProcess.run(["decode", path])
    #expect(decoded.output.contains("capability request: UWB"))
  }

  @Test func aSilentAccessoryIsAFailure() async throws {
    let (near, far) = try channels()
    let pair = try SimulatedPair()
    pair.bench.start()
    let device = try await UWBDevice.open(pair.controller.path, options: .patient)
    let finder = AccessoryFinder(device: device, channel: near, answerTime: .milliseconds(50))
    let error = await #expect(throws: Failure.self) { try await finder.run { _ in true } }
    #expect(error?.status == .silent)
    var messages = far.messages.makeAsyncIterator()
    for _ in 0..<3 { #expect(await messages.next() == AppMessage.initialize.bytes) }
    far.close()
    await device.close()
    pair.bench.stop()
  }

  /// The accessory stops sending: the app asks it again.
  @Test(.timeLimit(.minutes(10)))
  func anAccessoryThatNeverRangesIsAskedAgain() async throws {
    let (near, far) = try channels()
    let pair = try SimulatedPair()
    pair.bench.start()
    let device = try await UWBDevice.open(pair.controller.path, options: .patient)
    let asked = Mutex(0)
    let answering = Task {
      var data = AccessoryConfigurationData(uwb: .init(role: .controlee, address: 7))
      data.preferredUpdateRate = .infrequent
      for await message in far.messages where message == AppMessage.initialize.bytes {
        asked.withLock { $0 += 1 }
        try await far.send(AccessoryMessage.accessoryConfigurationData(data.bytes).bytes)
      }
    }
    let finder = AccessoryFinder(device: device, channel: near, patience: .seconds(1))
    var words: [String] = []
    try await finder.run { event in
      switch event {
      case .started: words.append("started")
      case .silent: words.append("silent")
      default: break
      }
      return words.count < 3
    }
    #expect(words == ["started", "silent", "started"])
    #expect(asked.withLock { $0 } == 2)
    far.close()
    try await answering.value
    await device.close()
    pair.bench.stop()
  }

  /// The statuses are the ones of the other commands.
  @Test(
    arguments: [
      ("/dev/does-not-exist", 69, "/dev/does-not-exist"), ("/dev/null", 64, "not a serial device"),
      ("tcp:127.0.0.1:1", 69, "127.0.0.1"),
    ] as [(String, Int32, String)])
  func aMissingDeviceIsTheCause(device: String, status: Int32, cause: String) throws {
    let end = try ChildProcess.run([
      "find", "--device", device, "--accessory", "tcp:1", "--recover", "0",
    ])
    #expect(end.status == status)
    #expect(end.complaints.contains(cause), "\(end.complaints)")
  }

  /// The terminal is closed: no session is left on the chip.
  @Test(.timeLimit(.minutes(10)))
  func closingTheTerminalEndsTheSession() async throws {
    let bench = SimulatedBench(scene: Scene(seed: 3))
    let chip = try bench.add(profile: .qm33PDoA, placement: Placement(at: SIMD3(0, 0, 0)))
    let other = try bench.add(profile: .qm33, placement: Placement(at: SIMD3(2, 1, 0)))
    bench.start()
    let device = try await UWBDevice.open(.serial(path: FilePath(other.path)), options: .patient)
    let accessory = try Accessory(device)
    let listener = try await SocketListener(.tcp(host: "127.0.0.1", port: 0))
    let serving = Task { await accessory.serve(listener) }
    let finder = try ChildProcess([
      "find", "--device", chip.path, "--accessory", listener.endpoint.description,
    ])
    try finder.waitFor(#"{"event":"started"}"#)
    finder.process.send(SIGHUP)
    #expect(!finder.process.wasEndedBySignal)
    var options = UWBDevice.Options.patient
    options.resetPolicy = .keepState
    let own = try await UWBDevice.open(.serial(path: FilePath(chip.path)), options: options)
    #expect(try await own.send(GetSessionCount()).count == 0)
    await own.close()
    serving.cancel()
    await accessory.close()
    await device.close()
    bench.stop()
  }

  @Test(.timeLimit(.minutes(10)))
  func anEndWithoutADistanceIsTold() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let scene = try folder.write(#"{"range_m": 0.5}"#, to: "scene.json")
    let end = try ChildProcess.run(["find", "--scene", scene, "-t", "2"])
    #expect(end.status == 82)
    #expect(end.complaints.contains("was not measured.\n  try: "), "\(end.complaints)")
  }
}
