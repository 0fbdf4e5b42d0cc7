// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocol
import Foundation
import SystemPackage
import Testing
import UCI
import UWBDriver
import UWBLink
import UWBSimulator

/// `uwbctl accessory` in a process of its own, and an app in this one: a chip for each, in one scene.
@Suite struct AccessoryTests {
  /// A bench with the accessory's chip and the phone's.
  private struct Stage {
    let bench = SimulatedBench(scene: Scene(seed: 21))
    let accessory: SimulatedBench.Chip
    let phone: SimulatedBench.Chip
    let place: String

    init() throws {
      // The accessory looks along x, the phone looks back past it.
      accessory = try bench.add(profile: .qm33PDoA, placement: Placement(at: Position(0, 0)))
      phone = try bench.add(
        profile: .qm33PDoA, placement: Placement(at: Position(3, 1), yaw: 180))
      bench.start()
      place = "unix:/tmp/uwbctl-test-\(UUID().uuidString).sock"
    }
  }

  /// The accessory's process, which listens by now.
  private final class Child {
    let process = Process()
    private let output = Pipe()
    private let complaints = Pipe()

    init(_ stage: Stage) throws {
      process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appending(path: "uwbctl")
      process.arguments = [
        "accessory", "--device", stage.accessory.path, "--listen", stage.place,
      ]
      process.standardOutput = output
      process.standardError = complaints
      process.standardInput = FileHandle.nullDevice
      try process.run()
      let line = output.fileHandleForReading.availableData
      guard String(decoding: line, as: UTF8.self).hasPrefix("listening at ") else {
        process.waitUntilExit()
        throw Failure(
          what: String(decoding: complaints.fileHandleForReading.availableData, as: UTF8.self))
      }
      // Nobody may wait for a reader of the rest.
      for pipe in [output, complaints] {
        pipe.fileHandleForReading.readabilityHandler = { _ = $0.availableData }
      }
    }

    deinit { end() }

    func kill() {
      Foundation.kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }

    func end() {
      for pipe in [output, complaints] { pipe.fileHandleForReading.readabilityHandler = nil }
      if process.isRunning { process.terminate() }
      process.waitUntilExit()
    }

    /// Entries of a folder of the process: `task`, `fd`.
    func count(_ folder: String) throws -> Int {
      try FileManager.default.contentsOfDirectory(
        atPath: "/proc/\(process.processIdentifier)/\(folder)"
      ).count
    }
  }

  /// An app over a channel.
  private struct App {
    let channel: SocketChannel
    var incoming: AsyncStream<[UInt8]>.Iterator

    init(_ stage: Stage) async throws {
      channel = try await SocketChannel.connect(to: try ChannelEndpoint(stage.place))
      incoming = channel.messages.makeAsyncIterator()
    }

    mutating func ask(_ message: AppMessage) async throws -> AccessoryMessage? {
      try await channel.send(message.octets)
      return try await incoming.next().map { (octets) in try AccessoryMessage(octets) }
    }

    mutating func initialize() async throws -> AccessoryConfigurationData {
      guard case .accessoryConfigurationData(let data)? = try await ask(.initialize) else {
        throw Failure(what: "no configuration data")
      }
      return try AccessoryConfigurationData(data)
    }
  }

  private struct Failure: Error { var what: String }

  @Test func theWholeHandshakeBetweenTwoProcesses() async throws {
    let stage = try Stage()
    let device = try await UWBDevice.open(.serial(path: FilePath(stage.phone.path)))
    // The accessory is killed once, and started again.
    for round in 0..<2 {
      let child = try Child(stage)
      var app = try await App(stage)
      let accessory = try await app.initialize()
      var data = ShareableConfigurationData.answering(accessory)
      (data.interval, data.slotDuration) = (20, 2_400)
      let session = try await device.makeSession(
        try data.session(of: .app, with: accessory.uwb))
      let stream = session.measurements()
      try await session.start()
      #expect(try await app.ask(.configureAndStart(data.octets)) == .accessoryUwbDidStart)
      var (distance, azimuth, found) = (0.0, 0.0, 0)
      for try await measurement in stream {
        guard let centimetres = measurement.result.distanceCentimetres else { continue }
        distance += Double(centimetres) / 100
        azimuth += measurement.result.azimuth.degrees
        found += 1
        if found == 20 { break }
      }
      let truth = stage.phone.position
      let seen = truth.direction(to: stage.accessory.position, yaw: 180)
      #expect(abs(distance / 20 - truth.distance(to: stage.accessory.position)) < 0.1)
      #expect(abs(azimuth / 20 - seen.azimuth) < 5)
      if round == 0 {
        child.kill()
        #expect(await app.incoming.next() == nil)
        // A pseudo-terminal that its simulator holds open stays its dead host's own; a port does not.
        stage.accessory.unplug()
        try stage.accessory.replug()
      } else {
        #expect(try await app.ask(.stop) == .accessoryUwbDidStop)
        child.end()
        #expect(child.process.terminationStatus == 0)
      }
      try await session.close()
    }
    await device.close()
    stage.bench.stop()
  }

  @Test func hundredCyclesLeakNeitherThreadsNorDescriptorsNorSessions() async throws {
    let stage = try Stage()
    let child = try Child(stage)
    func cycle() async throws {
      var app = try await App(stage)
      let accessory = try await app.initialize()
      let data = ShareableConfigurationData.answering(accessory)
      #expect(try await app.ask(.configureAndStart(data.octets)) == .accessoryUwbDidStart)
      #expect(try await app.ask(.stop) == .accessoryUwbDidStop)
      app.channel.close()
    }
    for _ in 0..<10 { try await cycle() }
    let threads = try child.count("task")
    for _ in 0..<100 { try await cycle() }
    // Dispatch keeps some threads of its own for a while, however many cycles there were.
    #expect(try child.count("task") <= threads + 4)
    // The last channel may still be closing.
    #expect(try child.count("fd") < 40)
    child.end()
    #expect(child.process.terminationStatus == 0)
    // Asked without a reset: the chip has no session left.
    var options = UWBDevice.Options()
    options.opening = .asFound
    let device = try await UWBDevice.open(
      .serial(path: FilePath(stage.accessory.path)), options: options)
    #expect(try await device.send(GetSessionCount()).count == 0)
    await device.close()
    stage.bench.stop()
  }
}
