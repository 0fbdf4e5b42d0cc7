// SPDX-License-Identifier: Apache-2.0
import DriverTestSupport
import ChipSharing
import Foundation
import Glibc
import JSON
import Logging
import System
import SystemPackage
import ProgramTestSupport
import Testing
import UCI
import UWB
import UWBLink
import UWBSimulator
import UWBTestSupport
import Varlink

@testable import UWBService

/// Programs that use a chip of the service as if they had opened it.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct VirtualChipTests {
  private func open(_ bench: ServiceBench) async throws -> UWBDevice {
    try await UWBDevice.open(.service(socket: FilePath(bench.path)), options: .patient)
  }

  private func configuration(
    _ device: UWBDevice, _ changes: [String: JSON] = [:]
  ) throws -> SessionConfiguration {
    let profile = try SessionProfile(Array("\(ServiceBench.profile(.controller, changes))".utf8))
    return try SessionConfiguration(sessionID: 42, profile.parameters(for: device.dialect))
  }

  private func start(
    _ device: UWBDevice, _ changes: [String: JSON] = [:]
  ) async throws -> (UWBSession, RangingStream<RangingMeasurement>) {
    let session = try await device.makeSession(configuration(device, changes))
    let stream = session.measurements(capacity: 1_024)
    try await session.start()
    return (session, stream)
  }

  private func take(_ count: Int, _ stream: RangingStream<RangingMeasurement>) async throws {
    var taken = 0
    for try await measurement in stream where measurement.result.status.isSuccess {
      #expect(measurement.result.peer == MACAddress(1))
      taken += 1
      if taken == count { return }
    }
    Issue.record("the session has ended after \(taken) measurements")
  }

  @Test func driversShareASession() async throws {
    try await ServiceBench.lendService { bench, _ in
      let (first, second) = (try await open(bench), try await open(bench))
      #expect(first.info == second.info)
      #expect(first.capabilities.isEmpty == false)
      let (session, stream) = try await start(first)
      try await take(3, stream)
      let (other, both) = try await start(second)
      #expect(bench.chip.sessionCount == 1)
      #expect(try bench.sessions().first?.object?["owners"]?.array?.count == 2)
      try await take(3, both)
      try await session.close()
      try await take(3, both)
      #expect(bench.chip.sessionCount == 1)
      try await other.stop()
      #expect(bench.chip.sessionCount == 0)
      try await other.start()
      #expect(try await other.rangingCount() != nil)
      #expect(bench.chip.sessionCount == 1)
      await second.close()
      #expect(bench.chip.sessionCount == 0)
      await first.close()
    }
  }

  @Test func driversAndOtherClientsShareASession() async throws {
    try await ServiceBench.lendService { bench, _ in
      let watcher = try bench.client()
      watcher.send("Monitor", ["peer": .string("0x0001")], more: true)
      let device = try await open(bench)
      let (session, stream) = try await start(device)
      try await take(1, stream)
      #expect(try watcher.measurements(3).found.count == 3)
      try await session.close()
      // Now the other program starts the session, and the driver's start is checked against it.
      let owner = try bench.client()
      #expect(try owner.call("Start", ServiceBench.start()).error == nil)
      let refused = await #expect(throws: DriverError.self) {
        _ = try await start(device, ["SLOTS_PER_RR": .integer(8)])
      }
      #expect(refused?.status == .sessionDuplicate)
      #expect(refused?.recoverySuggestion?.contains("uwbctl list") == true)
      let text = refused?.description ?? ""
      #expect(text.hasPrefix("The service refused session 42, which "), "\(text)")
      #expect(text.contains(" (process \(getpid())) holds with other parameters: "), "\(text)")
      #expect(text.contains("SLOTS_PER_RR is 6 slots, not 8 slots"), "\(text)")
      await device.close()
      #expect(try bench.sessions().count == 1)
    }
  }

  /// The service does not identify a ranging chip again.
  @Test func programsAreAnsweredFromMemory() async throws {
    try await ServiceBench.lendService { bench, _ in
      let first = try await open(bench)
      let (session, stream) = try await start(first)
      try await take(1, stream)
      bench.chip.faults.onlyRetries = true
      let second = try await open(bench)
      #expect(second.info == first.info)
      #expect(second.capabilities == first.capabilities)
      #expect(try bench.client().call("Describe").error == nil)
      bench.chip.faults = .none
      try await take(1, stream)
      try await session.close()
      await first.close()
      await second.close()
    }
  }

  @Test func aSessionEndsWithItsDriver() async throws {
    try await ServiceBench.lendService { bench, _ in
      var device: UWBDevice? = try await open(bench)
      let session = try await start(try #require(device)).0
      #expect(bench.chip.sessionCount == 1)
      _ = session
      await device?.close()
      device = nil
      #expect(bench.chip.sessionCount == 0)
    }
  }

  /// In the streams of a driver, the end of the service is a value, and the session goes on with
  /// the next service.
  @Test(arguments: [SIGKILL, SIGTERM])
  func aDriverContinuesAfterTheServiceWasRestarted(_ signal: Int32) async throws {
    try await ServiceBench.lend { bench in
      let first = try bench.launch()
      var second: SpawnedProcess?
      let device = try await UWBDevice.open(
        .service(socket: FilePath(bench.path)),
        options: UWBDevice.Options(recovery: RecoveryPolicy()))
      let events = device.events
      let session = try await device.makeSession(configuration(device))
      let rounds = session.rounds(capacity: 1_024)
      try await session.start()
      var (story, isMarked): ([String], Bool) = ([], false)
      for try await event in rounds {
        switch event {
        case .measurement(let measurement):
          isMarked = isMarked || measurement.followsInterruption
          guard measurement.result.status.isSuccess, story.last != "measured" else { continue }
          story.append("measured")
          guard story.count == 1 else { break }
          #expect(!isMarked)
          first.send(signal)
          first.waitUntilExit()
        case .interrupted(let cause):
          story.append("interrupted")
          #expect(cause.linkError != nil, "\(cause)")
          second = try bench.launch()
        case .resumed:
          story.append("resumed")
          try await bench.restartPeer()
        case .empty(let round): isMarked = isMarked || round.followsInterruption
        default: break
        }
        if story.count == 4 { break }
      }
      #expect(story == ["measured", "interrupted", "resumed", "measured"])
      #expect(isMarked)
      #expect(bench.chip.sessionCount == 1)
      // The session may range before the device reports its recovery.
      var changes: [String] = []
      for await event in events {
        switch event {
        case .lost: changes.append("lost")
        case .recovered: changes.append("recovered")
        default: break
        }
        if changes.last == "recovered" { break }
      }
      #expect(changes == ["lost", "recovered"])
      await device.close()
      await bench.chip.waitForSessions { $0 == 0 }
      second?.send(SIGTERM)
      second?.waitUntilExit()
    }
  }

  @Test func whatConcernsTheWholeChipIsRefused() async throws {
    try await ServiceBench.lendService { bench, _ in
      let device = try await open(bench)
      for (opcode, payload) in [
        (Opcode(.core, 0x04), [1, 0x01, 1, 0] as [UInt8]), (Opcode(.test, 0x00), [0, 0, 0, 0, 0]),
        (Opcode(GroupID(rawValue: 0xE), 0x01), [1]), (Opcode(.sessionControl, 0x00), [9, 9, 9, 9]),
        (Opcode(.sessionConfig, 0x03), [1]),
      ] {
        #expect(try await device.send(opcode, payload: payload).first != Status.ok.rawValue)
      }
      // A reset ends only the sessions of this program.
      let owner = try bench.client()
      #expect(try owner.call("Start", ServiceBench.start()).error == nil)
      #expect(try await device.send(Opcode(.core, 0x00), payload: [0]) == [Status.ok.rawValue])
      #expect(bench.chip.sessionCount == 1)
      await device.close()
    }
  }

  @Test func aRefusedAttachmentTakesNothingFromOthers() async throws {
    try await ServiceBench.lendService { bench, _ in
      let hasty = try bench.client()
      let attach = VarlinkCall("\(Chips.interface).Attach", upgrade: true).bytes
      hasty.send(attach + [0x20, 0x02, 0, 0])
      #expect(try hasty.receive()?.parameters == nil)
      let device = try await open(bench)
      let (_, stream) = try await start(device)
      try await take(3, stream)
      await device.close()
    }
  }

  @Test func noBytesHarmTheService() async throws {
    try await ServiceBench.lendService { bench, service in
      for round in 0..<300 {
        let client = try bench.client()
        client.send(
          VarlinkCall("\(Chips.interface).Attach", upgrade: true).bytes)
        #expect(try client.receive()?.parameters["chip"] == .string(bench.chip.path))
        for _ in 0..<20 {
          var payload = (0..<Int.random(in: 0...40)).map { _ in UInt8.random(in: .min ... .max) }
          // The payload begins with the id of another program's session or of this program's
          // session.
          if payload.count >= 4, Bool.random() {
            payload.replaceSubrange(0..<4, with: [42, 0, 0, 0])
          }
          let first = round % 2 == 0 ? 0x20 | UInt8.random(in: 0...15) : .random(in: 0...255)
          client.send([first, UInt8.random(in: 0...15), 0, UInt8(payload.count)] + payload)
        }
        client.close()
      }
      // These segments exceed the limit of a message.
      let client = try bench.client()
      client.send(VarlinkCall("\(Chips.interface).Attach", upgrade: true).bytes)
      _ = try client.receive()
      for _ in 0..<100 { client.send([0x31, 0x03, 0, 255] + [UInt8](repeating: 1, count: 255)) }
      while await service.connections > 0 { await Task.yield() }
      let device = try await open(bench)
      let (_, stream) = try await start(device)
      try await take(1, stream)
      await device.close()
    }
  }

  @Test func theServiceIsFound() async throws {
    try await ServiceBench.lendService { bench, _ in
      let socket = FilePath(bench.path)
      let link = FilePath(bench.path + ".link")
      try FileManager.default.createSymbolicLink(
        atPath: link.string, withDestinationPath: bench.chip.path)
      let expected = LinkEndpoint.service(socket: socket, chip: bench.chip.path)
      // The chip is found by each of its names.
      for path in [FilePath(bench.chip.path), link] {
        #expect(LinkEndpoint.serial(path: path).shared(at: socket) == expected)
      }
      for other in [
        LinkEndpoint.serial(path: "/dev/null"), .tcp(host: "localhost", port: "1"), expected,
      ] { #expect(other.shared(at: socket) == other) }
      let chip = LinkEndpoint.serial(path: FilePath(bench.chip.path))
      #expect(chip.shared(at: "/nonexistent/control") == chip)
    }
  }

  @Test func endpointsAreText() async throws {
    #expect(
      try LinkEndpoint("uwbd:/a/b?chip=/dev/ttyACM0")
        == .service(socket: "/a/b", chip: "/dev/ttyACM0"))
    for text in ["uwbd:/a/b", "uwbd:/a/b?linger=60", "uwbd:/a/b?chip=c&linger=1"] {
      #expect("\(try LinkEndpoint(text))" == text)
    }
    #expect(
      try LinkEndpoint("uwbd:/a?linger=60") == .service(socket: "/a", linger: .seconds(60)))
    for text in ["uwbd:/a?linger=86401", "uwbd:/a?linger=-1", "uwbd:/a?linger=x", "uwbd:/a?linger"]
    {
      #expect(throws: LinkError.self) { try LinkEndpoint(text) }
    }
    #expect(throws: LinkError.self) { try LinkEndpoint("uwbd:/a?baud=1") }
    guard case .service = try LinkEndpoint("uwbd:") else { throw TestClient.Failure(what: "uwbd:") }
    for (socket, code) in [
      (FilePath("/nonexistent/control"), LinkError.Code.notFound),
      ("/dev/null", .connectionRefused),
    ] {
      let error = await #expect(throws: DriverError.self) {
        try await UWBDevice.open(.service(socket: socket), options: .patient)
      }
      #expect(error?.linkError?.code == code)
    }
    let silent = LinkError(
      .timeout, endpoint: "uwbd:/a", detail: "the service does not answer")
    #expect(silent.description == "uwbd:/a: the service does not answer.")
    try await ServiceBench.lendService { bench, _ in
      let error = await #expect(throws: DriverError.self) {
        try await UWBDevice.open(
          .service(socket: FilePath(bench.path), chip: "/dev/none"), options: .patient)
      }
      #expect(error?.linkError?.code == .notFound)
      #expect(error?.description.contains("There is no chip /dev/none") == true)
    }
  }
}

/// `uwbctl` with the service, each in a process of its own.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct SharedCommandTests {
  private static let folder = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent()

  /// A command that names the chip by its path, and does not mention the service.
  private final class Command {
    let process: SpawnedProcess
    private let (output, errors) = (Pipe(), Pipe())

    init(_ bench: ServiceBench, _ arguments: [String]) throws {
      process = try SpawnedProcess(
        SharedCommandTests.folder.appending(path: "uwbctl").path,
        arguments + ["--device", bench.chip.path], environment: ["UWBD_SOCKET": bench.path],
        standardOutput: output.fileHandleForWriting.fileDescriptor,
        standardError: errors.fileHandleForWriting.fileDescriptor)
      try output.fileHandleForWriting.close()
      try errors.fileHandleForWriting.close()
    }

    /// Reads the output until it contains a text.
    func wait(until text: String) throws {
      var output = ""
      while !output.contains(text) {
        let more = self.output.fileHandleForReading.availableData
        guard !more.isEmpty else {
          throw TestClient.Failure(what: "\(output)\n\(readStandardError())")
        }
        output += String(decoding: more, as: UTF8.self)
      }
    }

    /// Reads the error messages of the command until they contain a text, and returns them.
    func messages(until text: String) throws -> String {
      var messages = ""
      while !messages.contains(text) {
        let more = errors.fileHandleForReading.availableData
        guard !more.isEmpty else { throw TestClient.Failure(what: messages) }
        messages += String(decoding: more, as: UTF8.self)
      }
      return messages
    }

    /// Returns its messages after its end.
    func readStandardError() -> String {
      String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    }

    /// Waits for a text in its output.
    func wait(for text: String = "\n") throws {
      let said = output.fileHandleForReading.availableData
      guard String(decoding: said, as: UTF8.self).contains(text) else {
        throw TestClient.Failure(what: String(decoding: said, as: UTF8.self))
      }
    }
  }

  private static func range(_ bench: ServiceBench) throws -> [String] {
    let path = bench.path + ".json"
    try "\(ServiceBench.profile())".write(toFile: path, atomically: true, encoding: .utf8)
    return ["range", "--profile", path, "--format", "json"]
  }

  @Test func rangeInTwoTerminalsShowsOneSession() async throws {
    try await ServiceBench.lendService { bench, _ in
      let first = try Command(bench, Self.range(bench))
      try first.wait()
      let second = try Command(bench, Self.range(bench))
      try second.wait()
      #expect(bench.chip.sessionCount == 1)
      #expect(try bench.sessions().first?.object?["owners"]?.array?.count == 2)
      first.process.send(SIGKILL)
      first.process.waitUntilExit()
      try second.wait()
      second.process.send(SIGINT)
      second.process.waitUntilExit()
      #expect(second.process.terminationStatus == 0)
      #expect(bench.chip.sessionCount == 0)
    }
  }

  @Test func theListShowsWhoHoldsTheChip() async throws {
    try await ServiceBench.lendService { bench, _ in
      let owner = try bench.client()
      #expect(try owner.call("Start", ServiceBench.start()).error == nil)
      let output = Pipe()
      let command = try SpawnedProcess(
        Self.folder.appending(path: "uwbctl").path, ["list"],
        environment: ["UWBD_SOCKET": bench.path],
        standardOutput: output.fileHandleForWriting.fileDescriptor)
      try output.fileHandleForWriting.close()
      let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      command.waitUntilExit()
      #expect("\n\(text)".contains("\n\(bench.chip.path)  chip of the service\n"))
      let session = text.split(separator: "\n").first { $0.hasPrefix("  session 42") }
      #expect(session?.contains("ranging, ") == true && session?.contains(", held by ") == true)
      #expect(session?.hasSuffix("(\(getpid()))") == true)
    }
  }

  @Test func aSessionOfOthersIsEndedByANumber() async throws {
    try await ServiceBench.lendService { bench, _ in
      let owner = try bench.client()
      #expect(try owner.call("Start", ServiceBench.start()).error == nil)
      let none = try ChildProcess.run(["end", "43"], service: bench.path)
      #expect(none.status == 69)
      #expect(none.complaints.contains("The service has no session 43."), "\(none.complaints)")
      let end = try ChildProcess.run(["end", "42"], service: bench.path)
      #expect(end.status == 0, "\(end.complaints)")
      #expect(bench.chip.sessionCount == 0)
      #expect(try bench.sessions().isEmpty)
      // The connection of the former owner accepts further calls.
      #expect(try owner.call("Stop", ["session_id": .integer(42)]).errorName == "NoSession")
    }
  }

  @Test func otherParametersAreTheServicesRefusal() async throws {
    try await ServiceBench.lendService { bench, _ in
      let owner = try bench.client()
      #expect(try owner.call("Start", ServiceBench.start()).error == nil)
      let end = try ChildProcess.run(
        ["range", "--device", bench.chip.path, "-n", "1"], service: bench.path)
      #expect(end.status == 78)
      #expect(end.complaints.contains("The service refused session 42, which "))
      #expect(end.complaints.contains("RANGING_DURATION is 20 ms, not 200 ms"), "\(end.complaints)")
      #expect(!end.complaints.contains("The device refused"), "\(end.complaints)")
    }
  }

  @Test func aSessionEndsWithACommandThatIsKilled() async throws {
    try await ServiceBench.lendService { bench, _ in
      let command = try Command(bench, Self.range(bench))
      try command.wait()
      command.process.send(SIGKILL)
      command.process.waitUntilExit()
      await bench.chip.waitForSessions { $0 == 0 }
      #expect(bench.chip.sessionCount == 0)
    }
  }

  @Test func infoIsThatOfTheChip() async throws {
    try await ServiceBench.lendService { bench, _ in
      let info = try Command(bench, ["info"])
      try info.wait(for: "uwbd:\(bench.path)")
      info.process.waitUntilExit()
      #expect(info.process.terminationStatus == 0)
      // The service still has the device open.
      let direct = try Command(bench, ["info", "--direct"])
      direct.process.waitUntilExit()
      #expect(direct.process.terminationStatus == EX_TEMPFAIL)
      let reset = try Command(bench, ["reset"])
      reset.process.waitUntilExit()
      #expect(reset.process.terminationStatus == EX_TEMPFAIL)
    }
  }

  @Test func aCommandHasTheChipAlone() async throws {
    try await ServiceBench.lendService { bench, _ in
      let config = ["config", "set", "LOW_POWER_MODE=off"]
      for (arguments, isDone) in [
        (config, false), (config + ["--exclusive"], true), (["reset", "--exclusive"], true),
        (["send", "20 02 00 00", "--exclusive"], true),
      ] {
        let command = try Command(bench, arguments)
        command.process.waitUntilExit()
        #expect((command.process.terminationStatus == 0) == isDone, "\(arguments)")
        // The service has the chip again.
        let info = try Command(bench, ["info"])
        info.process.waitUntilExit()
        #expect(info.process.terminationStatus == 0, "after \(arguments)")
      }
      let owner = try bench.client()
      #expect(try owner.call("Start", ServiceBench.start()).error == nil)
      let refused = try Command(bench, config + ["--exclusive"])
      refused.process.waitUntilExit()
      #expect(refused.process.terminationStatus == EX_TEMPFAIL)
      #expect(bench.chip.sessionCount == 1)
    }
  }

  @Test(arguments: [SIGKILL, SIGTERM, SIGINT])
  func rangeContinuesAfterTheServiceWasRestarted(_ signal: Int32) async throws {
    try await ServiceBench.lend { bench in
      let first = try bench.launch()
      let command = try Command(bench, Self.range(bench))
      try command.wait()
      first.send(signal)
      first.waitUntilExit()
      let second = try bench.launch()
      await bench.chip.waitForSessions { $0 > 0 }
      try await bench.restartPeer()
      try command.wait(until: #""after_interruption":true"#)
      command.process.send(SIGINT)
      command.process.waitUntilExit()
      #expect(command.process.terminationStatus == 0)
      // The service detects the end of the command, and then ends its session.
      await bench.chip.waitForSessions { $0 == 0 }
      second.send(SIGTERM)
      second.waitUntilExit()
    }
  }

  @Test func anOutageOfTheChipIsReported() async throws {
    try await ServiceBench.lend { bench in
      let service = try bench.launch(chip: bench.link)
      let command = try Command(bench, Self.range(bench))
      try command.wait()
      let watcher = try bench.client()
      watcher.send("Monitor", ["session_id": .integer(42)], more: true)
      #expect(try watcher.measurements(1).found.count == 1)
      bench.chip.unplug()
      try bench.chip.replug()
      await bench.chip.waitForSessions { $0 > 0 }
      try await bench.restartPeer()
      try command.wait(until: #""after_interruption":true"#)
      // Both programs share one session, before the outage and after it.
      #expect(bench.chip.sessionCount == 1)
      #expect(try watcher.measurements(1).found.count == 1)
      // Measurements and messages arrive in two streams, in no common order.
      let messages = try command.messages(until: "The device is back, with its session.")
      #expect(messages.contains("Waiting for the device to come back."))
      command.process.send(SIGINT)
      command.process.waitUntilExit()
      #expect(command.process.terminationStatus == 0)
      service.send(SIGTERM)
      service.waitUntilExit()
    }
  }

  /// Opens a latch at a message.
  private struct MessageLatch: LogHandler {
    let message: String
    let latch: Latch
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.notice

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { if "\(event.message)" == message { latch.open() } }
  }

  /// The session of a program that does not return after an outage is kept for a limited time.
  @Test func aSessionOfAProgramThatDoesNotReturnEnds() async throws {
    let (time, isBack) = (VirtualTime(), Latch())
    try await ServiceBench.lendService(
      chipReturns: true, clock: time.clock,
      log: MessageLatch(message: "back; sessions resumed", latch: isBack)
    ) { bench, _ in
      let command = try Command(bench, Self.range(bench) + ["--recover", "0"])
      try command.wait()
      bench.chip.unplug()
      command.process.waitUntilExit()
      #expect(command.process.terminationStatus == EX_IOERR)
      try bench.chip.replug()
      await isBack.wait()
      time.advance(.milliseconds(9_999))
      let session = try bench.sessions().first?.object
      #expect(session?["state"] == .string("waiting"))
      #expect(bench.chip.sessionCount == 1)
      time.advance(.milliseconds(1))
      await bench.chip.waitForSessions { $0 == 0 }
      #expect(bench.chip.sessionCount == 0)
    }
  }
}
