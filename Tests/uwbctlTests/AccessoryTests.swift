// SPDX-License-Identifier: Apache-2.0

import DriverTestSupport
import AccessoryProtocol
import Channels
import CommandSupport
import Foundation
import ProgramTestSupport
import SystemPackage
import Testing
import UWBTestSupport
import UCI
import UWB
import UWBLink
import UWBSimulator

/// `uwbctl accessory` in a process of its own, and an app in this process, each with a chip of one
/// scene.
@Suite(.ownThreads) struct AccessoryTests {
  /// A bench with the accessory's chip and the phone's.
  private struct Stage {
    let bench = SimulatedBench(scene: Scene(seed: 21))
    let accessory: SimulatedBench.Chip
    let phone: SimulatedBench.Chip
    let place: String

    init() throws {
      // The accessory faces along x, and the phone faces back past it.
      accessory = try bench.add(profile: .qm33PDoA, placement: Placement(at: SIMD3(0, 0, 0)))
      phone = try bench.add(
        profile: .qm33PDoA, placement: Placement(at: SIMD3(3, 1, 0), yaw: 180))
      bench.start()
      place = "unix:/tmp/uwbctl-test-\(UUID().uuidString).sock"
    }
  }

  /// The accessory's process, which already listens.
  private func serve(_ stage: Stage, on device: String? = nil) throws -> ChildProcess {
    let child = try ChildProcess([
      "accessory", "--device", device ?? stage.accessory.path, "--listen", stage.place,
    ])
    try child.waitFor("listening at ")
    return child
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
      try await channel.send(message.bytes)
      return try await incoming.next().map { (bytes) in try AccessoryMessage(bytes) }
    }

    mutating func initialize() async throws -> AccessoryConfigurationData {
      guard case .accessoryConfigurationData(let data)? = try await ask(.initialize) else {
        throw ChildProcess.Failure(what: "no configuration data")
      }
      return try AccessoryConfigurationData(data)
    }
  }

  @Test func anAndroidPhoneRangesWithSimulatedChips() throws {
    let found = try ChildProcess.run(["find", "--android", "-n", "3", "--format", "json"])
    #expect(found.status == 0, "\(found.complaints)")
    #expect(try found.objects().contains { $0["event"] as? String == "accessory_started" })
    let served = try ChildProcess.run([
      "accessory", "--phone", "android", "-n", "3", "--listen", "tcp:0",
    ])
    #expect(served.status == 0, "\(served.complaints)")
    #expect(served.output.contains("Android, version 3"), "\(served.output)")
    let decoded = try ChildProcess.run(["decode", "--android", "01000100", "0104"])
    #expect(decoded.status == 65 && decoded.output.hasPrefix("phone, version 1,"))
  }

  @Test func theWholeHandshakeBetweenTwoProcesses() async throws {
    let stage = try Stage()
    let device = try await UWBDevice.open(
      .serial(path: FilePath(stage.phone.path)), options: .patient)
    // The accessory is killed once, and started again.
    for round in 0..<2 {
      let child = try serve(stage)
      var app = try await App(stage)
      let accessory = try await app.initialize()
      var data = ShareableConfigurationData.answering(accessory)
      (data.interval, data.slotDuration) = (20, 2_400)
      let session = try await device.makeSession(
        try data.session(of: .app, with: accessory.uwb))
      let stream = session.measurements()
      try await session.start()
      #expect(try await app.ask(.configureAndStart(data.bytes)) == .accessoryUwbDidStart)
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
        // A pseudo-terminal that its simulator holds open still belongs to its killed host. A port
        // does not.
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

  /// `uwbctl find` is the app, so that two processes with two chips use one socket.
  @Test func theAppAndTheAccessoryRangeInSeparateProcesses() async throws {
    let stage = try Stage()
    let truth = stage.phone.position
    let seen = truth.direction(to: stage.accessory.position, yaw: 180)
    let app = ["find", "--device", stage.phone.path, "--accessory", stage.place]
    // The accessory is killed while the app ranges, and started again.
    for isKilled in [true, false] {
      let accessory = try serve(stage)
      let finder = try ChildProcess(app + (isKilled ? [] : ["-n", "12"]) + ["--format", "json"])
      if isKilled {
        try finder.waitFor(#"{"event":"started"}"#)
        accessory.kill()
        finder.process.waitUntilExit()
        #expect(finder.process.terminationStatus == 74)
        stage.accessory.unplug()
        try stage.accessory.replug()
        continue
      }
      let found = try finder.outcome().objects().filter { $0["event"] as? String == "found" }
      #expect(finder.process.terminationStatus == 0 && found.count == 12)
      let distances = found.compactMap { $0["distance_m"] as? Double }
      let azimuths = found.compactMap { $0["azimuth_deg"] as? Double }
      let last = try #require(distances.last)
      #expect(abs(last - truth.distance(to: stage.accessory.position)) < 0.1)
      #expect(azimuths.count == 12)
      let azimuth = azimuths.reduce(0, +) / 12
      #expect(abs(azimuth - seen.azimuth) < 5)
      accessory.end()
      #expect(accessory.process.terminationStatus == 0)
    }
    // Neither program leaves a session on its chip.
    for chip in [stage.phone, stage.accessory] {
      #expect(try await Self.sessionsLeft(on: chip) == 0)
    }
    stage.bench.stop()
  }

  /// Both chips are unplugged, as with a hub. Whichever returns first, the programs find each other
  /// again before a time-out.
  @Test(.timeLimit(.minutes(10)), arguments: [true, false])
  func bothFindEachOtherAfterLosingTheirChips(isAppFirst: Bool) async throws {
    let stage = try Stage()
    // A pseudo-terminal that was opened by its number cannot return.
    let links = ["accessory", "phone"].map { "/tmp/uwbctl-test-\(UUID().uuidString)-\($0)" }
    defer { for link in links { try? FileManager.default.removeItem(atPath: link) } }
    try stage.accessory.link(at: links[0])
    try stage.phone.link(at: links[1])
    let accessory = try serve(stage, on: links[0])
    let finder = try ChildProcess([
      "find", "--device", links[1], "--accessory", stage.place, "--format", "json",
    ])
    _ = try finder.read(until: #"{"event":"found""#)
    stage.accessory.unplug()
    stage.phone.unplug()
    _ = try finder.read(until: #"{"event":"suspended""#)
    if isAppFirst {
      try stage.phone.replug()
      _ = try finder.read(until: #"{"event":"shareable_data""#)
      try stage.accessory.replug()
    } else {
      try stage.accessory.replug()
      // Another app starts when the accessory has its chip again.
      var app = try await App(stage)
      let data = ShareableConfigurationData.answering(try await app.initialize())
      #expect(try await app.ask(.configureAndStart(data.bytes)) == .accessoryUwbDidStart)
      #expect(try await app.ask(.stop) == .accessoryUwbDidStop)
      app.channel.close()
      try stage.phone.replug()
    }
    let said = try finder.read(until: #"{"event":"found""#)
    #expect(!said.contains("removed"), "\(said)")
    finder.end()
    accessory.end()
    #expect(finder.process.terminationStatus == 0)
    for chip in [stage.phone, stage.accessory] {
      #expect(try await Self.sessionsLeft(on: chip) == 0)
    }
    stage.bench.stop()
  }

  /// The program prints a notice if everybody can connect.
  @Test func listeningOnAllInterfacesSaysSo() throws {
    for (address, isOpen) in [("tcp:0.0.0.0:0", true), ("tcp:0", false)] {
      let outcome = try ChildProcess.run([
        "accessory", "--listen", address, "-n", "1", "--format", "json",
      ])
      let listening = try #require(try outcome.objects().first)
      #expect(listening["all_interfaces"] as? Bool == isOpen)
      #expect(outcome.complaints.contains("Everyone in every network") == isOpen)
    }
  }

  /// The number of sessions is queried without a reset of the chip.
  private static func sessionsLeft(on chip: SimulatedBench.Chip) async throws -> UInt8? {
    var options = UWBDevice.Options.patient
    options.resetPolicy = .keepState
    let device = try await UWBDevice.open(.serial(path: FilePath(chip.path)), options: options)
    let count = try await device.send(GetSessionCount()).count
    await device.close()
    return count
  }

  @Test func hundredCyclesLeakNeitherThreadsNorDescriptorsNorSessions() async throws {
    let stage = try Stage()
    let child = try serve(stage)
    func cycle() async throws {
      var app = try await App(stage)
      let accessory = try await app.initialize()
      let data = ShareableConfigurationData.answering(accessory)
      #expect(try await app.ask(.configureAndStart(data.bytes)) == .accessoryUwbDidStart)
      #expect(try await app.ask(.stop) == .accessoryUwbDidStop)
      app.channel.close()
    }
    /// Returns the number of descriptors while one channel is open.
    func descriptors() async throws -> Int {
      var app = try await App(stage)
      _ = try await app.initialize()
      let count = try child.count("fd")
      app.channel.close()
      return count
    }
    for _ in 0..<10 { try await cycle() }
    // The last channel may still be closing, and may then count once more.
    var before = try await descriptors()
    for _ in 0..<10 { before = min(before, try await descriptors()) }
    // Dispatch starts and ends some threads itself. A leak of one for each tenth app would be five.
    var threads: [Int] = []
    for _ in 0..<100 {
      try await cycle()
      threads.append(try child.count("task"))
    }
    #expect(threads.suffix(10).min()! < threads.prefix(50).max()! + 5, "\(threads)")
    var after = try await descriptors()
    for _ in 0..<100 where after > before { after = min(after, try await descriptors()) }
    #expect(after <= before)
    child.end()
    #expect(child.process.terminationStatus == 0)
    #expect(try await Self.sessionsLeft(on: stage.accessory) == 0)
    stage.bench.stop()
  }
}
