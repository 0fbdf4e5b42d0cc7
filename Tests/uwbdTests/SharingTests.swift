// SPDX-License-Identifier: Apache-2.0
import ChipSharing
import Formats
import Glibc
import JSON
import Testing
import UWB
import UWBSimulator
import UWBTestSupport
import Varlink

@testable import UWBService

@Suite(.ownThreads, .timeLimit(.minutes(10))) struct SharingTests {
  @Test func twoClientsShareASession() async throws {
    try await ServiceBench.lendService { bench, _ in
      let (first, second, watcher) = (
        try bench.client(), try bench.client(), try bench.client()
      )
      let started = try first.call("Start", ServiceBench.start())
      #expect(started.error == nil)
      #expect(started.parameters["joined"] == .bool(false))
      #expect(started.parameters["session_id"] == .integer(42))
      let joined = try second.call("Start", ServiceBench.start())
      #expect(joined.parameters["joined"] == .bool(true))
      #expect(try bench.sessions().first?.object?["owners"]?.array?.count == 2)
      #expect(bench.chip.sessionCount == 1)

      watcher.send("Monitor", ["session_id": .integer(42)], more: true)
      let found = try watcher.measurements(3).found
      #expect(found.allSatisfy { $0["measurement"]?.object?["peer"] == .string("0x0001") })
      #expect(found.allSatisfy { $0["lost"] == .integer(0) })

      first.close()
      #expect(try watcher.measurements(3).end == nil)
      #expect(try second.call("Stop", ["session_id": .integer(42)]) == VarlinkReply())
      let end = try watcher.measurements().end
      #expect(end?.errorName == "SessionEnded")
      #expect(bench.chip.sessionCount == 0)
      #expect(try bench.sessions().isEmpty)
      // The connection is available for other calls again.
      #expect(try watcher.call("List").error == nil)
    }
  }

  @Test func aSessionEndsWithItsOwner() async throws {
    try await ServiceBench.lendService { bench, _ in
      let (owner, watcher) = (try bench.client(), try bench.client())
      try owner.call("Start", ServiceBench.start())
      watcher.send("Monitor", ["session_id": .integer(42)], more: true)
      _ = try watcher.measurements(1)
      owner.close()
      #expect(try watcher.measurements().end?.errorName == "SessionEnded")
      #expect(bench.chip.sessionCount == 0)
    }
  }

  @Test func anOwnerThatGoesWhileTheChipWorksLeavesNothing() async throws {
    try await ServiceBench.lendService { bench, _ in
      for _ in 0..<10 {
        let owner = try bench.client()
        owner.send("Start", ServiceBench.start())
        owner.close()
      }
      // The call waits until the other sessions have ended.
      let last = try bench.client()
      #expect(try last.call("Start", ServiceBench.start()).error == nil)
      #expect(try last.call("Stop", ["session_id": .integer(42)]).error == nil)
      try bench.wait { try bench.sessions().isEmpty }
      #expect(bench.chip.sessionCount == 0)
    }
  }

  @Test func aSessionMayOutliveItsOwner() async throws {
    try await ServiceBench.lendService { bench, _ in
      let (first, second) = (try bench.client(), try bench.client())
      try first.call("Start", ServiceBench.start(["linger_ms": .integer(60_000)]))
      first.close()
      try bench.wait { try bench.sessions().first?.object?["state"] == .string("waiting") }
      #expect(
        try second.call("Start", ServiceBench.start()).parameters["joined"] == .bool(true))
      // A program that releases the session no longer needs it.
      try second.call("Stop", ["session_id": .integer(42)])
      try bench.wait { try bench.sessions().isEmpty }
      #expect(bench.chip.sessionCount == 0)
    }
  }

  /// A program without stored data gives the session or its peer.
  @Test(arguments: [["session_id": JSON.integer(42)], ["peer": .string("0x0001")]])
  func aSessionOfHoursIsResumed(by name: [String: JSON]) async throws {
    let time = VirtualTime()
    try await ServiceBench.lendService(clock: time.clock) { bench, _ in
      let first = try bench.client()
      let hours: [String: JSON] = ["linger_ms": .integer(2 * 3_600_000)]
      try first.call("Start", ServiceBench.start(hours))
      first.close()
      try bench.wait { try bench.sessions().first?.object?["state"] == .string("waiting") }
      time.advance(.seconds(3_600))
      let second = try bench.client()
      let reply = try second.call("Start", name)
      #expect(reply.parameters["joined"] == .bool(true))
      #expect(reply.parameters["session_id"] == .integer(42))
      #expect(bench.chip.sessionCount == 1)
      second.close()
      try bench.wait { try bench.sessions().first?.object?["state"] == .string("waiting") }
      // The time counts again from the last disconnection.
      time.advance(.seconds(7_199))
      #expect(try bench.sessions().count == 1)
      time.advance(.seconds(1))
      try bench.wait { try bench.sessions().isEmpty }
      #expect(bench.chip.sessionCount == 0)
      #expect(try bench.client().call("Start", name).errorName == "NoSession")
    }
  }

  @Test func aUserHasTwoSessionsThatWaitLong() async throws {
    let time = VirtualTime()
    try await ServiceBench.lendService(clock: time.clock) { bench, _ in
      for id in [1, 2, 3] as [UInt32] {
        let client = try bench.client()
        var members = ServiceBench.start(["linger_ms": .integer(86_400_000)])
        var profile = members["profile"]?.object ?? [:]
        profile["session_id"] = .integer(Int64(id))
        members["profile"] = .object(profile)
        #expect(try client.call("Start", members).error == nil)
        client.close()
        try bench.wait {
          try bench.sessions().last?.object?["state"] == .string("waiting")
            && bench.sessions().count == Int(id)
        }
      }
      let ambiguous = try bench.client().call("Start", ["peer": .string("0x0001")])
      #expect(ambiguous.errorName == "NoSession")
      #expect(ambiguous.parameters["reason"]?.string?.contains("1, 2, 3") == true)
      time.advance(.seconds(60))
      try bench.wait { try bench.sessions().count == 2 }
      time.advance(.seconds(86_339))
      #expect(try bench.sessions().count == 2)
      time.advance(.seconds(1))
      try bench.wait { try bench.sessions().isEmpty }
    }
  }

  @Test func aPrivateStartDoesNotJoinAnOpenSession() async throws {
    try await ServiceBench.lendService { bench, _ in
      let (first, second) = (try bench.client(), try bench.client())
      try first.call("Start", ServiceBench.start())
      let own = ServiceBench.start(["share": .string("user")])
      let reply = try second.call("Start", own)
      #expect(reply.errorName == "Conflict")
      #expect(
        reply.parameters["differences"]?.array == [
          .object([
            "parameter": .string("share"), "present": .string("everyone"),
            "wanted": .string("user"),
          ])
        ])
      let change: [String: JSON] = ["session_id": .integer(42), "share": .string("user")]
      #expect(try second.call("SetShare", change) == VarlinkReply())
      #expect(try bench.sessions().first?.object?["share"] == .string("user"))
      // A private session stays private.
      #expect(try second.call("Start", ServiceBench.start()).error == nil)
      #expect(try bench.sessions().first?.object?["share"] == .string("user"))
    }
  }

  @Test func aSessionThatAnotherProgramEndsHasTheReason() async throws {
    try await ServiceBench.lendService { bench, _ in
      let (owner, other) = (try bench.client(), try bench.client())
      try owner.call("Start", ServiceBench.start(["linger_ms": .integer(60_000)]))
      let watcher = try bench.client()
      watcher.send("Monitor", ["session_id": .integer(42)], more: true)
      #expect(try watcher.measurements(1).end == nil)
      #expect(try other.call("End", ["session_id": .integer(42)]) == VarlinkReply())
      #expect(bench.chip.sessionCount == 0)
      let end = try watcher.measurements().end
      #expect(end?.errorName == "SessionEnded")
      let reason = "User \(geteuid()) (process \(getpid())) has ended it."
      #expect(end?.parameters["reason"] == .string(reason))
      #expect(try other.call("End", ["session_id": .integer(42)]).errorName == "NoSession")
    }
  }

  @Test func otherParametersAreAConflict() async throws {
    try await ServiceBench.lendService { bench, _ in
      let (first, second) = (try bench.client(), try bench.client())
      try first.call("Start", ServiceBench.start())
      let other = ServiceBench.profile(
        .controller,
        ["SLOTS_PER_RR": .integer(8), "STATIC_STS_IV": .string("06:05:04:03:02:01")])
      let reply = try second.call("Start", ["profile": other])
      #expect(reply.errorName == "Conflict")
      let differences = try #require(reply.parameters["differences"]?.array)
      #expect(
        differences.contains(
          .object([
            "parameter": .string("SLOTS_PER_RR"), "present": .string("6 slots"),
            "wanted": .string("8 slots"),
          ])))
      #expect(differences.count == 2)
      // The first program's session continues.
      #expect(try bench.client().call("Monitor").parameters["session_id"] == .integer(42))
      #expect(try second.call("Stop", ["session_id": .integer(42)]).errorName == "NoSession")
    }
  }

  @Test func aParameterThatIsNotGivenHasItsDefault() async throws {
    try await ServiceBench.lendService { bench, _ in
      let (first, second) = (try bench.client(), try bench.client())
      try first.call("Start", ServiceBench.start())
      let same = ServiceBench.profile(
        .controller, ["RSSI_REPORTING": .string("off"), "STS_CONFIG": .string("static")])
      #expect(try second.call("Start", ["profile": same]).parameters["joined"] == .bool(true))
      let other = ServiceBench.profile(.controller, ["RSSI_REPORTING": .string("on")])
      #expect(try bench.client().call("Start", ["profile": other]).errorName == "Conflict")
    }
  }

  @Test func refusalsSayWhatToDo() async throws {
    try await ServiceBench.lendService { bench, _ in
      let client = try bench.client()
      let bad = ServiceBench.profile(.controller, ["CHANEL_NUMBER": .integer(9)])
      let unusable = ServiceBench.profile(.controller, ["RANGING_DURATION": .string("5 ms")])
      for (method, parameters, error) in [
        ("Start", ["profile": bad], "InvalidProfile"), ("Start", ["profile": unusable], "Refused"),
        ("Describe", ["chip": .string("/dev/none")], "NoChip"),
        ("Stop", ["session_id": .integer(1)], "NoSession"),
        ("Monitor", ["session_id": .integer(1)], "NoSession"),
        ("Start", ServiceBench.start(["linger_ms": .integer(-1)]), "InvalidParameter"),
        ("Start", ServiceBench.start(["lnger": .integer(1)]), "InvalidParameter"),
        ("Start", ServiceBench.start(["share": .string("nobody")]), "InvalidParameter"),
        ("Stop", ["session_id": .integer(1 << 40)], "InvalidParameter"),
        ("Fly", [:], "MethodNotFound"),
      ] as [(String, [String: JSON], String)] {
        let reply = try client.call(method, parameters)
        #expect(reply.errorName == error, "\(method) \(parameters): \(reply)")
        if reply.error?.hasPrefix(Chips.interface) == true {
          #expect(reply.parameters["reason"]?.string?.isEmpty == false)
          #expect(reply.parameters["advice"] != nil)
        }
      }
      let attach = ["linger_ms": JSON.integer(86_400_001)]
      client.send(VarlinkCall("\(Chips.interface).Attach", attach, upgrade: true).bytes)
      #expect(try client.receive()?.errorName == "InvalidParameter")
      #expect(bench.chip.sessionCount == 0)
    }
  }

  @Test func whatOneUserHasOthersMayNotJoin() async throws {
    let (own, other) = (
      PeerCredentials(uid: 1_000, pid: 1, groups: [1_000, 20]),
      PeerCredentials(uid: 1_001, pid: 2, groups: [1_001])
    )
    let permissions = Permissions(group: ("uwb", 20))
    #expect(throws: Never.self) { try permissions.checkStart(own) }
    if geteuid() != other.uid {
      #expect(throws: ServiceError.self) { try permissions.checkStart(other) }
    }
    #expect(throws: Never.self) { try Permissions().checkStart(other) }
    #expect(throws: Never.self) {
      try permissions.checkStart(PeerCredentials(uid: 0, pid: 3, groups: []))
    }
  }

  /// A chip may be unavailable for a moment, and programs then try again.
  @Test func whatPassesIsNoRefusal() throws {
    let errors: [(DriverError, String)] = [
      (.recovering, "ChipUnavailable"), (.closed, "ChipUnavailable"),
      (.link(LinkError(.deviceGone, endpoint: "a")), "ChipUnavailable"),
      (.noAnswer(command: "SESSION_INIT", milliseconds: 1, garbage: 0), "ChipUnavailable"),
      (.refused(command: "SESSION_INIT", .maxSessionsExceeded), "Refused"),
      (.parametersRefused(.invalidParameter, []), "Refused"),
    ]
    for (error, name) in errors {
      let reply = Refusal.chip("a", error).error.reply
      #expect(reply.error?.hasSuffix(".\(name)") == true, "\(error)")
    }
  }

  @Test func repliesAreAsTheInterfaceSays() async throws {
    try await ServiceBench.lendService { bench, service in
      let client = try bench.client()
      let info = try client.call("org.varlink.service.GetInfo")
      #expect(info.parameters["interfaces"]?.array?.count == 2)
      let description = try client.call(
        "org.varlink.service.GetInterfaceDescription", ["interface": .string(Chips.interface)])
      let interface = try VarlinkInterface(
        try #require(description.parameters["description"]?.string))
      for (method, parameters) in [
        ("Start", ServiceBench.start()), ("List", [:]), ("Describe", [:]),
        ("Monitor", ["every_ms": .integer(20)]),
        ("Stop", ["session_id": .integer(42)]),
      ] {
        let reply = try client.call(method, parameters)
        #expect(reply.error == nil)
        let fields = try #require(interface.method(method)).output
        #expect(interface.problem(with: reply.parameters, fields) == nil, "\(method): \(reply)")
      }
      for (name, entry) in [
        ("Measurement", RangeRow.json.entry), ("OneWay", OneWayRow.json.entry),
        ("Info", UWBDevice.json.entry),
      ] {
        let member = try #require(interface.members.first { $0.name == name })
        guard case .type(.structure(let fields)) = member.kind else { fatalError() }
        let keys = entry.keys.map(\.path).filter { !$0.contains("[]") }
        #expect(fields.map(\.name) == keys)
      }
      for name in ["Conflict", "Refused", "SessionEnded", "ChipUnavailable", "Denied"] {
        #expect(interface.error(name) != nil)
      }
    }
  }
}
