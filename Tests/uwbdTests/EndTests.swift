// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import Testing
import UWBLink
import UWBSimulator
import UWBTestSupport
import Varlink

@testable import uwbd

/// The program itself, and every way in which it ends.
@Suite(.serialized, .timeLimit(.minutes(2))) struct ServiceEndTests {
  /// The program beside the tests.
  private static let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
    .deletingLastPathComponent().appending(path: "uwbd").path

  private func launch(
    _ bench: ServiceBench, _ environment: [String: String?] = [:]
  ) throws -> SpawnedProcess {
    let service = try SpawnedProcess(
      Self.program, ["--socket", bench.path, "--mode", "0600", bench.chip.path],
      environment: environment)
    while access(bench.path, F_OK) != 0, service.isRunning { sched_yield() }
    while (try? bench.waitForChip()) == nil, service.isRunning { sched_yield() }
    return service
  }

  @Test(arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT])
  func noSignalLeavesASession(_ signal: Int32) async throws {
    try await ServiceBench.lend { bench in
      let service = try launch(bench)
      let client = try bench.client()
      #expect(try client.call("Start", ServiceBench.start()).error == nil)
      #expect(bench.chip.sessionCount == 1)
      service.send(signal)
      service.waitUntilExit()
      #expect(service.terminationStatus == 0)
      #expect(bench.chip.sessionCount == 0)
      #expect(try client.receive() == nil)
      #expect(access(bench.path, F_OK) != 0)
    }
  }

  @Test func afterACrashTheNextOneEndsWhatIsLeft() async throws {
    try await ServiceBench.lend { bench in
      let first = try launch(bench)
      #expect(try bench.client().call("Start", ServiceBench.start()).error == nil)
      first.send(SIGKILL)
      first.waitUntilExit()
      // The socket is still there, with nobody behind it.
      let second = try launch(bench)
      #expect(bench.chip.sessionCount == 0)
      let client = try bench.client()
      #expect(try client.call("Start", ServiceBench.start()).parameters["joined"] == .bool(false))
      second.send(SIGTERM)
      second.waitUntilExit()
      #expect(bench.chip.sessionCount == 0)
    }
  }

  @Test func theSupervisorIsTold() async throws {
    try await ServiceBench.lend { bench in
      let receiver = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
      defer { close(receiver) }
      let path = bench.path + ".notify"
      #expect(withUnixAddress(path) { bind(receiver, $0, $1) } == 0)
      var time = timeval(tv_sec: 30, tv_usec: 0)
      setsockopt(receiver, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
      func said() -> String {
        var buffer = [UInt8](repeating: 0, count: 1_024)
        let count = max(0, recv(receiver, &buffer, buffer.count, 0))
        return String(decoding: buffer[..<count], as: UTF8.self)
      }
      let service = try launch(
        bench, ["NOTIFY_SOCKET": path, "WATCHDOG_USEC": "2000000", "WATCHDOG_PID": nil])
      #expect(said().hasPrefix("READY=1\nSTATUS="))
      #expect(said().hasPrefix("WATCHDOG=1\nSTATUS="))
      service.send(SIGTERM)
      service.waitUntilExit()
      var last = said()
      while last.hasPrefix("WATCHDOG=1") { last = said() }
      #expect(last == "STOPPING=1")
    }
  }

  @Test func aSocketOfSystemdIsServed() async throws {
    try await ServiceBench.lend { bench in
      let socket = try ListeningSocket.make(at: bench.path, mode: 0o600)
      let service = try SpawnedProcess(
        "/bin/sh",
        [
          "-c", "exec 3<&0; export LISTEN_PID=$$ LISTEN_FDS=1; exec \"$0\" \"$1\"", Self.program,
          bench.chip.path,
        ], standardInput: socket)
      close(socket)
      try bench.waitForChip()
      #expect(try bench.client().call("Start", ServiceBench.start()).error == nil)
      service.send(SIGTERM)
      service.waitUntilExit()
      #expect(service.terminationStatus == 0)
      #expect(bench.chip.sessionCount == 0)
      // It is the one who made it who removes it.
      #expect(access(bench.path, F_OK) == 0)
    }
  }

  @Test func oneServiceAtAPath() async throws {
    try await ServiceBench.lendService { bench, _ in
      #expect(throws: SocketFailure.self) {
        try ListeningSocket.make(at: bench.path, mode: 0o600)
      }
      #expect(throws: SocketFailure.self) {
        try ListeningSocket.make(at: "/proc/self/exe", mode: 0o600)
      }
      #expect(throws: SocketFailure.self) {
        try ListeningSocket.make(
          at: "/tmp/" + String(repeating: "x", count: 200), mode: 0o600)
      }
    }
  }
}
