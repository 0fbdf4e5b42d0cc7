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

@Suite(.ownThreads, .timeLimit(.minutes(10))) struct WatchTests {
  /// Returns the kinds of the events up to one of this kind, without the first event of the
  /// program.
  private func kinds(_ client: TestClient, until last: String) throws -> [String] {
    var found: [String] = []
    while found.last != last {
      let reply = try #require(try client.receive())
      #expect(reply.error == nil && reply.continues)
      found.append(try #require(reply.kind))
    }
    return found
  }

  @Test func sessionsAndTheirProgramsAreEvents() async throws {
    // On a busy machine, a command to the chip may take longer than its time limit.
    let time = VirtualTime()
    try await ServiceBench.lendService(clock: time.clock) { bench, _ in
      let (first, second, watcher) = (try bench.client(), try bench.client(), try bench.client())
      // The call waits until the chip is open.
      try first.call("Describe")
      watcher.send("Watch", more: true)
      let begin = try #require(try watcher.receive())
      #expect(begin.kind == "watching")
      #expect(begin.parameters["lost"] == .integer(0))
      try first.call("Start", ServiceBench.start())
      try second.call("Start", ServiceBench.start())
      first.close()
      #expect(
        try kinds(watcher, until: "session_left")
          == ["session_started", "session_joined", "session_left"])
      try second.call("Stop", ["session_id": .integer(42)])
      #expect(try watcher.receive()?.kind == "session_left")
      let end = try #require(try watcher.receive())
      #expect(end.kind == "session_ended")
      #expect(end.event?["session_id"] == .integer(42))
      #expect(end.event?["reason"]?.string?.isEmpty == false)
      #expect(end.event?["counters"]?.object?["measured"] != nil)
      // A session that the chip rejects.
      let unusable = ServiceBench.profile(.controller, ["RANGING_DURATION": .string("5 ms")])
      #expect(try second.call("Start", ["profile": unusable]).errorName == "Refused")
      let failure = try #require(try watcher.receive())
      #expect(failure.kind == "session_failed")
      #expect(failure.event?["reason"]?.string?.isEmpty == false)
    }
  }

  @Test func aClientContinuesWhereItWas() async throws {
    try await ServiceBench.lendService { bench, service in
      let client = try bench.client()
      try client.call("Describe")
      let list = try client.call("List").parameters
      let run = try #require(list["run"])
      let sequence = try #require(list["sequence"])
      #expect(try client.call("GetService").parameters["run"] == run)
      try client.call("Start", ServiceBench.start())
      // Without `more`, each call returns the next event.
      let next = try client.call("Watch", ["run": run, "after": sequence])
      #expect(next.kind == "session_started" && !next.continues)
      // All events of the run, from its beginning.
      let watcher = try bench.client()
      watcher.send("Watch", ["after": .integer(0)], more: true)
      #expect(
        try kinds(watcher, until: "session_started")
          == ["watching", "chip_added", "chip_opened", "session_started"])
      // The events of another run do not belong to this run.
      let other = try bench.client()
      other.send("Watch", ["run": .string("other"), "after": .integer(1_000)], more: true)
      #expect(try kinds(other, until: "chip_added") == ["watching", "chip_added"])
      let future = try client.call("Watch", ["run": run, "after": .integer(1_000)])
      #expect(future.error == "org.varlink.service.InvalidParameter")
    }
  }

  @Test func aWatchReportsTheEventsThatTheServiceNoLongerHas() async throws {
    try await ServiceBench.lendService { bench, service in
      let client = try bench.client()
      try client.call("Describe")
      let before = await service.history.last
      for _ in 0..<1_500 {
        await service.record(Chips.Event(.chipReturned, chip: "x"))
      }
      client.send("Watch", ["after": .integer(Int64(before))], more: true)
      #expect(try client.receive()?.kind == "watching")
      let oldest = try #require(try client.receive())
      #expect(oldest.parameters["lost"] == .integer(500))
      #expect(oldest.event?["sequence"] == .integer(Int64(before + 501)))
      for _ in 0..<999 { #expect(try client.receive()?.parameters["lost"] == .integer(0)) }
    }
  }

  /// A client that reads nothing holds no events, because its queue is the history of the service.
  @Test func anAbandonedWatchHoldsNoMemory() async throws {
    try await ServiceBench.lendService { bench, service in
      let client = try bench.client()
      try client.call("Describe")
      client.send("Watch", more: true)
      #expect(try client.receive()?.kind == "watching")
      let reason = String(repeating: "x", count: 1_000)
      for _ in 0..<5_000 {
        await service.record(Chips.Event(.chipReturned, chip: "x", reason: reason))
        await ServiceActor.turn()
      }
      let backlog = await service.longestBacklog
      // The backlog has at most the bytes of one turn and of one event.
      #expect(try #require(backlog) < 40_000)
      var (received, lost) = (0, 0)
      while received + lost < 5_000 {
        let reply = try #require(try client.receive())
        lost += Int(try #require(reply.parameters["lost"]?.integer))
        received += 1
      }
      #expect(received + lost == 5_000 && lost > 0)
    }
  }

  @Test func countersAreEventsOnRequest() async throws {
    try await ServiceBench.lendService { bench, _ in
      let (owner, watcher) = (try bench.client(), try bench.client())
      try owner.call("Start", ServiceBench.start())
      watcher.send("Watch", ["counters_ms": .integer(100)], more: true)
      #expect(try watcher.receive()?.kind == "watching")
      var measured: Int64 = 0
      // Counters have the sequence number of the event before them.
      var former: Int64?
      var compared = 0
      while measured < 3 || compared == 0 {
        let reply = try #require(try watcher.receive())
        let sequence = try #require(reply.event?["sequence"]?.integer)
        if reply.kind == "counters" {
          if let former {
            #expect(sequence == former)
            compared += 1
          }
          measured = reply.event?["counters"]?.object?["measured"]?.integer ?? 0
        }
        former = sequence
      }
      let listed = try bench.sessions().first?.object
      #expect(listed?["counters"]?.object?["measured"]?.integer ?? 0 >= measured)
      #expect(listed?["address"] == .string("0x0000"))
    }
  }

  /// The stream reports an unplugged chip at once, without waiting for the next measurement.
  @Test func aMonitorMarksWhatItCannotBring() async throws {
    try await ServiceBench.lendService(chipReturns: true) { bench, _ in
      let (owner, watcher, all) = (try bench.client(), try bench.client(), try bench.client())
      try owner.call("Start", ServiceBench.start())
      watcher.send(
        "Monitor", ["session_id": .integer(42), "events": .bool(true)], more: true)
      all.send("Monitor", ["events": .bool(true)], more: true)
      #expect(try watcher.receive()?.kind == "watching")
      #expect(try all.receive()?.kind == "watching")
      while try #require(try watcher.receive()).parameters["measurement"] == nil {}
      bench.chip.unplug()
      var lost = try #require(try watcher.receive())
      while lost.parameters["measurement"] != nil { lost = try #require(try watcher.receive()) }
      #expect(lost.kind == "chip_lost")
      #expect(lost.event?["reason"]?.string?.isEmpty == false)
      try bench.chip.replug()
      // The service may try to open the chip before its return, and report another reason. The
      // thread of the chip may pass on a measurement before the service records the return.
      while lost.kind == "chip_lost" || lost.parameters["measurement"] != nil {
        lost = try #require(try watcher.receive())
      }
      #expect(lost.kind == "chip_back", "\(lost)")
      owner.close()
      var end = try #require(try watcher.receive())
      while end.kind != "session_ended" { end = try #require(try watcher.receive()) }
      #expect(try watcher.receive()?.errorName == "SessionEnded")
      // A stream of all sessions continues, with an event at the end of one session.
      while try #require(try all.receive()).kind != "session_ended" {}
      #expect(try watcher.call("List").error == nil)
    }
  }

  @Test func measurementsHaveTheirOrigin() async throws {
    try await ServiceBench.lendService(chipReturns: true) { bench, _ in
      let client = try bench.client()
      try client.call("Start", ServiceBench.start())
      let service = try client.call("GetService").parameters
      let chip = try client.call("List").parameters["chips"]?.array?.first?.object
      #expect(chip?["device"] == .string(bench.link))
      #expect(chip?["model"]?.string?.isEmpty == false)
      let reply = try client.call(
        "Monitor", ["identity": .bool(true), "nulls": .bool(false)])
      let identity = try #require(reply.parameters["identity"]?.object)
      #expect(identity["run"] == service["run"] && identity["host"] == service["host"])
      #expect(identity["device"] == .string(bench.link))
      #expect(identity["model"] == chip?["model"])
      #expect(identity["address"] == .string("0x0000"))
      let measurement = try #require(reply.parameters["measurement"]?.object)
      #expect(!measurement.values.contains(.null))
      // Other calls return the measurements as before.
      let plain = try client.call("Monitor").parameters
      #expect(plain["identity"] == nil)
      #expect(plain["measurement"]?.object?.values.contains(.null) == true)
    }
  }

  @Test func aMonitorSelectsPeersAndTheirRate() async throws {
    try await ServiceBench.lendService { bench, _ in
      let (owner, watcher) = (try bench.client(), try bench.client())
      try owner.call("Start", ServiceBench.start())
      watcher.send(
        "Monitor",
        ["peers": .array([.string("0x0002"), .string("0x0001")]), "peer_ms": .integer(100)],
        more: true)
      let found = try watcher.measurements(5).found
      let times = found.compactMap { $0["monotonic_us"]?.integer }
      #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 >= 100_000 })
      #expect(found.allSatisfy { $0["lost"] == .integer(0) })
      let nobody = try bench.client()
      nobody.send(
        "Monitor", ["peers": .array([.string("0x0002")]), "events": .bool(true)], more: true)
      let begin = try #require(try nobody.receive())
      #expect(begin.event?["reason"] == .string("No session has the peer 0x0002 yet."))
      _ = try watcher.measurements(2)
      nobody.endSending()
      #expect(try nobody.receive() == nil)
    }
  }

  /// A filter that never matches is an error, or is reported when the stream begins.
  @Test func aMonitorNamesPeersThatNoSessionHas() async throws {
    try await ServiceBench.lendService { bench, _ in
      let owner = try bench.client()
      func reason(_ peers: [String: JSON]) throws -> JSON? {
        let client = try bench.client()
        client.send("Monitor", peers.merging(["events": .bool(true)]) { $1 }, more: true)
        let begin = try #require(try client.receive())
        #expect(begin.kind == "watching")
        return begin.event?["reason"]
      }
      func peers(_ peers: String...) -> [String: JSON] {
        ["peers": .array(peers.map { .string($0) })]
      }
      #expect(
        try reason(peers("0x0001")) == .string("No session has the peer 0x0001 yet."))
      try owner.call("Start", ServiceBench.start())
      // The address has another form, and is the same.
      #expect(try reason(["peer": .string("00:01")]) == .null)
      #expect(
        try reason(peers("0x0003", "0x0001", "2"))
          == .string("No session has the peers 0x0002, 0x0003 yet."))
      #expect(
        try reason(peers("0x0001").merging(["chip": .string(bench.chip.path)]) { $1 }) == .null)
      // Without a filter, all measurements are selected.
      #expect(try reason([:]) == .null)
      #expect(try owner.call("Monitor", ["peer": .string("1")]).error == nil)
      for (name, value) in [
        ("peer", JSON.string("board 1")), ("peers", .array([.string("0x0001"), .string("")])),
      ] {
        let refused = try owner.call("Monitor", [name: value])
        #expect(refused.error == "org.varlink.service.InvalidParameter")
        #expect(refused.parameters["parameter"] == .string(name))
      }
    }
  }

  @Test func eachRunHasItsName() async throws {
    try await ServiceBench.lend { bench in
      var runs: Set<String> = []
      for _ in 0..<2 {
        let service = try bench.launch()
        let run = try bench.client().call("GetService").parameters["run"]?.string
        runs.insert(try #require(run))
        service.terminate()
        service.waitUntilExit()
      }
      #expect(runs.count == 2)
    }
  }
}

extension Service {
  fileprivate var longestBacklog: Int? { clients.values.map { $0.connection.backlog }.max() }
}

extension VarlinkReply {
  fileprivate var event: [String: JSON]? { parameters["event"]?.object }
  fileprivate var kind: String? { event?["kind"]?.string }
}
