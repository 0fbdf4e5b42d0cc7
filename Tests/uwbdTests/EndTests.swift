// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc
import JSON
import System
import Testing
import UWBLink
import UWBSimulator
import UWBTestSupport
import Varlink

@testable import UWBService
@testable import uwbd

/// The program itself, and every way in which it ends.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct ServiceEndTests {
  @Test(arguments: Signals.ending)
  func noSignalLeavesASession(_ signal: Int32) async throws {
    try await ServiceBench.lend { bench in
      let service = try bench.launch()
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

  /// Dispatch would abort the program if no descriptor is left for it.
  @Test(arguments: [6, 10, 11, 31]) func tooLowALimitOfFilesIsAnError(_ limit: Int) throws {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let service = try SpawnedProcess(
      "/bin/sh",
      [
        "-c", #"exec 2> "$2/errors"; ulimit -n "$1"; exec "$0" --socket "$2/control" "$2/chip""#,
        ServiceBench.program, "\(limit)", folder.path(""),
      ])
    service.waitUntilExit()
    #expect(service.terminationStatus == EX_OSERR)
    let errors = try String(contentsOfFile: folder.path("errors"), encoding: .utf8)
    #expect(
      errors.hasPrefix("uwbd: It may open only \(limit) files, and needs 32 or more.\n  try: "))
  }

  @Test func afterACrashTheNextOneEndsWhatIsLeft() async throws {
    try await ServiceBench.lend { bench in
      let first = try bench.launch()
      let owner = try bench.client()
      #expect(try owner.call("Start", ServiceBench.start()).error == nil)
      first.send(SIGKILL)
      first.waitUntilExit()
      owner.close()
      #expect(bench.chip.sessionCount == 1)
      // The socket file still exists, but no process listens on it.
      let second = try bench.launch()
      let client = try bench.client()
      #expect(try client.call("Describe").error == nil)
      #expect(bench.chip.sessionCount == 0)
      #expect(try client.call("Start", ServiceBench.start()).parameters["joined"] == .bool(false))
      second.send(SIGTERM)
      second.waitUntilExit()
      #expect(bench.chip.sessionCount == 0)
    }
  }

  @Test func theSupervisorIsTold() async throws {
    try await ServiceBench.lend { bench in
      let supervisor = try TestSupervisor(bench.path + ".notify")
      let service = try bench.launch(
        [], ["NOTIFY_SOCKET": supervisor.path, "WATCHDOG_USEC": "2000000", "WATCHDOG_PID": nil])
      #expect(supervisor.said().hasPrefix("READY=1\nSTATUS="))
      #expect(supervisor.said().hasPrefix("WATCHDOG=1\nSTATUS="))
      service.send(SIGTERM)
      service.waitUntilExit()
      var last = supervisor.said()
      while last.hasPrefix("WATCHDOG=1") { last = supervisor.said() }
      #expect(last == "STOPPING=1")
    }
  }

  @Test func aCrashDoesNotCloseThePort() async throws {
    try await ServiceBench.lend { bench in
      let supervisor = try TestSupervisor(bench.path + ".notify")
      let environment = [
        "NOTIFY_SOCKET": supervisor.path, "WATCHDOG_USEC": nil, "WATCHDOG_PID": nil,
      ]
      let first = try bench.launch([], environment)
      var (text, port) = supervisor.receive()
      while !text.hasPrefix("FDSTORE=1\n") {
        try #require(text != "")
        (text, port) = supervisor.receive()
      }
      #expect(text == "FDSTORE=1\nFDNAME=chip0")
      var status = stat()
      #expect(fstat(port, &status) == 0 && isatty(port) == 1)
      first.send(SIGKILL)
      first.waitUntilExit()
      // The draft is locked as long as it is open.
      #expect(throws: LinkError.self) { try Link(LinkEndpoint(bench.chip.path)) }
      unlink(bench.path)
      let second = try SpawnedProcess(
        "/bin/sh",
        [
          "-c",
          "exec 3<&0; export LISTEN_PID=$$ LISTEN_FDS=1; exec \"$0\" \"$@\"",
          ServiceBench.program, "--socket", bench.path, bench.chip.path,
        ], environment: environment.merging(["LISTEN_FDNAMES": "chip0"]) { $1 },
        standardInput: port)
      second.wait(forFile: bench.path)
      #expect(try bench.client().call("Start", ServiceBench.start()).error == nil)
      second.send(SIGTERM)
      second.waitUntilExit()
      #expect(second.terminationStatus == 0)
      var said = supervisor.said()
      while said != "", !said.hasPrefix("STOPPING=1") { said = supervisor.said() }
      // An orderly end closes it.
      #expect(supervisor.receive().text == "FDSTOREREMOVE=1\nFDNAME=chip0")
      close(port)
    }
  }

  @Test func aSocketOfSystemdIsServed() async throws {
    try await ServiceBench.lend { bench in
      let socket = try ListeningSocket.make(at: bench.path, mode: 0o600)
      let service = try SpawnedProcess(
        "/bin/sh",
        [
          "-c", "exec 3<&0; export LISTEN_PID=$$ LISTEN_FDS=1; exec \"$0\" \"$1\"",
          ServiceBench.program, bench.chip.path,
        ], standardInput: socket)
      close(socket)
      let owner = try bench.client()
      #expect(try owner.call("Start", ServiceBench.start()).error == nil)
      service.send(SIGTERM)
      service.waitUntilExit()
      owner.close()
      #expect(service.terminationStatus == 0)
      #expect(bench.chip.sessionCount == 0)
      // The program that created the socket removes the socket at its end.
      #expect(access(bench.path, F_OK) == 0)
    }
  }
}
