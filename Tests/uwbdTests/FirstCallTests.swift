// SPDX-License-Identifier: Apache-2.0
import ChipSharing
import Glibc
import JSON
import Testing
import UWB
import UWBSimulator
import UWBTestSupport
import Varlink

@testable import UWBService
@testable import uwbd

/// Calls that arrive before the service has opened its chip wait for it.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct FirstCallTests {
  /// A call with the chip's path, which the service has by another name.
  private static func call(_ method: String, _ path: String) -> VarlinkCall {
    var parameters: [String: JSON] = ["chip": .string(path)]
    if method == "Start" { parameters["profile"] = ServiceBench.profile() }
    if method == "Borrow" { parameters["reason"] = .string("a test") }
    return VarlinkCall(
      "\(Chips.interface).\(method)", parameters, upgrade: method == "Attach")
  }

  @Test(arguments: ["Describe", "Start", "Attach", "Borrow"])
  func afterAStart(_ method: String) async throws {
    try await ServiceBench.lend { bench in
      let service = try bench.launch(chip: bench.link)
      let client = try bench.client()
      client.send(Self.call(method, bench.chip.path).bytes)
      #expect(try #require(try client.receive()).error == nil)
      service.send(SIGTERM)
      service.waitUntilExit()
      #expect(service.terminationStatus == 0)
      #expect(bench.chip.sessionCount == 0)
    }
  }

  @Test(arguments: ["Describe", "Start", "Attach", "Borrow"])
  func whileSystemdStartsTheService(_ method: String) async throws {
    try await ServiceBench.lend { bench in
      let socket = try ListeningSocket.make(at: bench.path, mode: 0o600)
      let client = try bench.client()
      client.send(Self.call(method, bench.chip.path).bytes)
      let service = try SpawnedProcess(
        "/bin/sh",
        [
          "-c", "exec 3<&0; export LISTEN_PID=$$ LISTEN_FDS=1; exec \"$0\" \"$1\"",
          ServiceBench.program, bench.link,
        ], standardInput: socket)
      close(socket)
      #expect(try #require(try client.receive()).error == nil)
      service.send(SIGTERM)
      service.waitUntilExit()
      #expect(service.terminationStatus == 0)
    }
  }

  @Test(arguments: ["Describe", "Start", "Attach", "Borrow"])
  func afterAnotherProgramHadTheChip(_ method: String) async throws {
    try await ServiceBench.lendService { bench, _ in
      let borrower = try bench.client()
      borrower.send(Self.call("Borrow", bench.chip.path).bytes)
      #expect(try #require(try borrower.receive()).error == nil)
      borrower.close()
      let client = try bench.client()
      client.send(Self.call(method, bench.chip.path).bytes)
      #expect(try #require(try client.receive()).error == nil)
    }
  }

  /// A program that disconnects while its call waits causes no leak.
  @Test(arguments: ["Describe", "Start", "Attach", "Borrow"])
  func aCallThatIsAbandoned(_ method: String) async throws {
    try await ServiceBench.lend { bench in
      let service = try bench.launch(chip: bench.link)
      for _ in 0..<3 {
        let client = try bench.client()
        client.send(Self.call(method, bench.chip.path).bytes)
        client.close()
      }
      let owner = try bench.client()
      #expect(try owner.call("Start", ServiceBench.start()).error == nil)
      #expect(bench.chip.sessionCount == 1)
      // The session ends with the connection of its owner.
      owner.close()
      service.send(SIGTERM)
      service.waitUntilExit()
      #expect(service.terminationStatus == 0)
    }
  }

  /// The service does not wait for a chip that is not plugged in.
  @Test func aChipThatIsNotThere() async throws {
    try await ServiceBench.lend { bench in
      bench.chip.unplug()
      let service = try bench.launch(chip: bench.link)
      #expect(try bench.client().call("Describe").errorName == "ChipUnavailable")
      try bench.chip.replug()
      try bench.wait { try bench.client().call("Describe").error == nil }
      service.send(SIGTERM)
      service.waitUntilExit()
      #expect(service.terminationStatus == 0)
    }
  }

  /// A file of `uwbctl profile`: with bare names, hexadecimal numbers and comments.
  @Test func aProfileIsGivenAsText() async throws {
    let text = "\(ServiceBench.profile())".replacing(
      "\"session_id\":42", with: "session_id: 0x2A, // tags\n")
    try await ServiceBench.lendService { bench, _ in
      let (first, second) = (try bench.client(), try bench.client())
      let reply = try first.call("Start", ["profile_text": .string(text)])
      #expect(reply.parameters["session_id"] == .integer(42), "\(reply.parameters)")
      // The session from the text is the session from the object.
      #expect(try second.call("Start", ServiceBench.start()).parameters["joined"] == .bool(true))
      let damaged = try second.call("Start", ["profile_text": .string(text + "\n}")])
      #expect(damaged.errorName == "InvalidProfile")
      let reason = damaged.parameters["reason"]?.string
      #expect(reason?.hasPrefix("Line 3 ") == true, "\(reason ?? "")")
      for parameters in [
        [:], ServiceBench.start(["profile_text": .string(text)]), ["profile": .null],
      ] as [[String: JSON]] {
        #expect(try second.call("Start", parameters).errorName == "InvalidParameter")
      }
    }
  }

  /// A program that has disconnected starts no session, whatever its `linger`.
  @Test func anAbandonedStartThatWouldLinger() async throws {
    try await ServiceBench.lend { bench in
      let service = try bench.launch(chip: bench.link)
      let abandoned = try bench.client()
      abandoned.send("Start", ServiceBench.start(["linger_ms": .integer(60_000)]))
      abandoned.close()
      // Another session of that id would be a conflict.
      let other = ServiceBench.profile(.controller, ["SLOTS_PER_RR": .integer(8)])
      let reply = try bench.client().call("Start", ["profile": other])
      #expect(reply.parameters["joined"] == .bool(false), "\(reply.parameters)")
      service.send(SIGTERM)
      service.waitUntilExit()
      #expect(service.terminationStatus == 0)
    }
  }

  /// The calls of a program take effect even if the program exits without reading the replies.
  @Test func aStopBeforeAnExit() async throws {
    try await ServiceBench.lendService { bench, _ in
      let owner = try bench.client()
      let start = ServiceBench.start(["linger_ms": .integer(60_000)])
      #expect(try owner.call("Start", start).error == nil)
      owner.send("Stop", ["session_id": .integer(42)])
      owner.close()
      let other = ServiceBench.profile(.controller, ["SLOTS_PER_RR": .integer(8)])
      let reply = try bench.client().call("Start", ["profile": other])
      #expect(reply.parameters["joined"] == .bool(false), "\(reply.parameters)")
    }
  }

  /// All calls get a reply, even if the program has shut down its sending direction.
  @Test func callsBeforeAHalfClose() async throws {
    try await ServiceBench.lend { bench in
      let service = try bench.launch(chip: bench.link)
      let client = try bench.client()
      for method in ["Describe", "List", "Describe", "List"] { client.send(method) }
      client.endSending()
      for key in ["info", "chips", "info", "chips"] {
        #expect(try client.receive()?.parameters[key] != nil, "\(key)")
      }
      #expect(try client.receive() == nil)
      service.send(SIGTERM)
      service.waitUntilExit()
      #expect(service.terminationStatus == 0)
    }
  }
}
