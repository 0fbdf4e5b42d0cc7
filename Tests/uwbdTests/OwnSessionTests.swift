// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import JSON
import System
import SystemPackage
import Testing
import UWB
import UWBSimulator
import UWBTestSupport
import Varlink

@testable import UWBService
@testable import uwbd

/// Sessions that the service holds itself, and its other actions without a call.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct OwnSessionTests {
  private func write(_ profile: JSON, _ name: String, in folder: TemporaryFolder) throws {
    _ = try folder.write("\(profile)", to: name)
  }

  @Test func sessionsOfAFolderStartByThemselves() async throws {
    try await ServiceBench.lend { bench in
      let folder = try TemporaryFolder()
      defer { folder.remove() }
      try write(ServiceBench.profile(), "tags.json", in: folder)
      try write(.string("no profile"), "broken.json", in: folder)
      #expect(mkfifo(folder.path("pipe.json"), 0o600) == 0)
      let service = try bench.launch(["--sessions", folder.path("")])
      // The session starts without a call of Start.
      let found = try bench.client().call("Monitor").parameters
      #expect(found["session_id"] == .integer(42))
      // The session stays when the programs that joined it disconnect.
      let client = try bench.client()
      #expect(
        try client.call("Start", ServiceBench.start()).parameters["joined"] == .bool(true))
      try client.call("Stop", ["session_id": .integer(42)])
      #expect(try client.call("End", ["session_id": .integer(42)]).errorName == "Denied")
      #expect(try bench.sessions().count == 1)
      let owner = try bench.sessions().first?.object?["owners"]?.array?.first?.object
      #expect(owner?["pid"] == .integer(Int64(service.processIdentifier)))
      service.send(SIGTERM)
      service.waitUntilExit()
      #expect(service.terminationStatus == 0)
      #expect(bench.chip.sessionCount == 0)
    }
  }

  @Test func aFolderIsReadAgain() async throws {
    try await ServiceBench.lend { bench in
      let folder = try TemporaryFolder()
      defer { folder.remove() }
      let supervisor = try TestSupervisor(bench.path + ".notify")
      let service = try bench.launch(
        ["--sessions", folder.path("")],
        ["NOTIFY_SOCKET": supervisor.path, "WATCHDOG_USEC": nil, "WATCHDOG_PID": nil])
      #expect(supervisor.said().hasPrefix("READY=1\n"))
      func reload() {
        service.send(SIGHUP)
        #expect(supervisor.said().hasPrefix("RELOADING=1\nMONOTONIC_USEC="))
        #expect(supervisor.said().hasPrefix("READY=1\n"))
      }
      try write(ServiceBench.profile(), "tags.json", in: folder)
      reload()
      #expect(try bench.client().call("Monitor").parameters["session_id"] == .integer(42))
      // With other parameters, the session ends and starts with the new ones.
      let other = ServiceBench.profile(.controller, ["RANGING_DURATION": .string("40 ms")])
      try write(other, "tags.json", in: folder)
      reload()
      try bench.wait { try bench.client().call("Start", ["profile": other]).error == nil }
      #expect(unlink(folder.path("tags.json")) == 0)
      reload()
      try bench.wait { try bench.sessions().isEmpty }
      #expect(bench.chip.sessionCount == 0)
      // A removed folder changes nothing.
      try write(ServiceBench.profile(), "tags.json", in: folder)
      reload()
      _ = try bench.client().call("Monitor")
      folder.remove()
      reload()
      #expect(try bench.sessions().count == 1)
      service.send(SIGTERM)
      service.waitUntilExit()
      #expect(bench.chip.sessionCount == 0)
    }
  }

  @Test func whatOthersHoldIsTakenWhenTheyLetGo() async throws {
    try await ServiceBench.lendService { bench, service in
      let client = try bench.client()
      let other = ServiceBench.profile(.controller, ["RANGING_DURATION": .string("40 ms")])
      #expect(try client.call("Start", ["profile": other]).error == nil)
      await service.hold([
        HeldProfile(
          chip: bench.chip.path, file: "tags.json", text: Array("\(ServiceBench.profile())".utf8))
      ])
      try client.call("Stop", ["session_id": .integer(42)])
      try bench.wait { try bench.client().call("Start", ServiceBench.start()).error == nil }
      await service.hold([])
      try bench.wait { try bench.sessions().isEmpty }
    }
  }

  @Test func filesBelongToChips() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    for name in ["ttyACM0.a.json", "b.json", "serial.c.json", ".hidden.json", "readme"] {
      try write(ServiceBench.profile(), name, in: folder)
    }
    let chips = ["/dev/ttyACM0", "usb:serial"]
    let several = try #require(ProfileFolder(folder.path(""), chips: chips))
    #expect(several.profiles.map(\.chip).sorted() == chips)
    #expect(several.problems.count == 1)
    let none = try #require(ProfileFolder(folder.path(""), chips: []))
    #expect(none.problems.count == 3 && none.problems.allSatisfy { $0.contains("plug a board in") })
    let one = try #require(ProfileFolder(folder.path(""), chips: ["/dev/ttyACM0"]))
    #expect(one.profiles.count == 3)
    #expect(one.problems.isEmpty)
    try write(.string(String(repeating: "x", count: 70_000)), "long.json", in: folder)
    #expect(ProfileFolder(folder.path(""), chips: ["/dev/ttyACM0"])?.problems.count == 1)
    #expect(ProfileFolder(folder.path("none"), chips: chips) == nil)
    // A board that is plugged in does not take the chip from another board.
    let held = Dictionary(uniqueKeysWithValues: one.profiles.map { ($0.file, $0.chip) })
    let later = try #require(ProfileFolder(folder.path(""), chips: chips, held: held))
    #expect(Set(later.profiles.map(\.file)).isSuperset(of: one.profiles.map(\.file)))
  }

  /// systemd copies a file that the service may not read, such as a file of root with mode 0600. In
  /// the test, a link without its file stands for such a file, because root may read everything.
  @Test func filesThatOnlyRootReadsHaveCopies() throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let (sessions, copies) = (folder.path("sessions.d"), folder.path("copies"))
    for path in [sessions, copies] {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    }
    #expect(symlink("/none", "\(sessions)/key.json") == 0)
    #expect(symlink("/none", "\(sessions)/other.json") == 0)
    try Data("{}".utf8).write(to: URL(filePath: "\(copies)/sessions.d_key.json"))
    let found = try #require(ProfileFolder(sessions, chips: ["a"], credentials: copies))
    #expect(found.profiles.map(\.file) == ["\(sessions)/key.json"])
    #expect(found.profiles.map(\.text) == [Array("{}".utf8)])
    #expect(found.problems == ["\(sessions)/other.json cannot be read: there is no such file."])
    #expect(ProfileFolder(sessions, chips: ["a"], credentials: nil)?.problems.count == 2)
  }

  @Test func aFileThatOnlyRootReadsHasANextStep() {
    let problem = { ProfileFolder.problem("key.json", .system(.permissionDenied), hasCopies: $0) }
    #expect(problem(false).contains("uwbd-keys.conf"))
    #expect(problem(true).contains("Restart uwbd"))
  }

  @Test func itEndsWhenNobodyUsesIt() async throws {
    try await ServiceBench.lend { bench in
      let service = try bench.launch(["--idle", "1"])
      // The service serves a client that connects in time. After the client, the time starts.
      if let client = try? bench.client() { _ = try? client.call("List") }
      service.waitUntilExit()
      #expect(service.terminationStatus == 0)
      #expect(access(bench.path, F_OK) != 0)
    }
  }

  @Test func nobodyWaitsForWhoReadsTheLog() async throws {
    try await ServiceBench.lend { bench in
      var ends: [Int32] = [-1, -1]
      #expect(pipe(&ends) == 0)
      // The queue is full, and is never read.
      _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
      let bytes = [UInt8](repeating: 32, count: 4_096)
      while Glibc.write(ends[1], bytes, bytes.count) > 0 {}
      _ = fcntl(ends[1], F_SETFL, 0)
      let service = try bench.launch(["-vv"], standardError: ends[1])
      let client = try bench.client()
      for _ in 0..<20 {
        #expect(try client.call("Start", ServiceBench.start()).error == nil)
        #expect(try client.call("Monitor").error == nil)
        #expect(try client.call("Stop", ["session_id": .integer(42)]).error == nil)
      }
      service.send(SIGTERM)
      service.waitUntilExit()
      #expect(service.terminationStatus == 0)
      for end in ends { close(end) }
    }
  }
}
