// SPDX-License-Identifier: Apache-2.0
import DriverTestSupport
import ChipSharing
import Formats
import Foundation
import JSON
import System
import SystemPackage
import Testing
import UCI
import UWB
import UWBTestSupport
import Varlink

@testable import UWBService

/// Every method, called by every kind of user, according to the table of Service.md.
@Suite(.serialized, .ownThreads, .timeLimit(.minutes(10))) struct PermissionTests {
  private enum User: String, CaseIterable {
    case root, same = "user of the session", member = "another member", other = "no member"

    var credentials: PeerCredentials {
      switch self {
      case .root: PeerCredentials(uid: 0, pid: 1, groups: [0])
      case .same: PeerCredentials(uid: 300_000, pid: 2, groups: [300_000, Self.group])
      case .member: PeerCredentials(uid: 300_001, pid: 3, groups: [300_001, Self.group])
      case .other: PeerCredentials(uid: 300_002, pid: 4, groups: [300_002])
      }
    }

    static let group: UInt32 = 400_000
  }

  /// A service to which the kernel reports the users that the test chooses.
  private final class Users: Sendable {
    private let next = Locked(User.root)
    /// An element for each connection that the service has accepted.
    let accepted = AsyncStream<Void>.makeStream()
    private let owner = Locked<TestClient?>(nil)
    fileprivate let bench: ServiceBench
    let service: Service

    private init(_ bench: ServiceBench, _ service: Service) {
      (self.bench, self.service) = (bench, service)
    }

    /// Starts the session of a user who shares it.
    func hold(_ share: Chips.Share) throws {
      let client = try client(.same)
      owner.withLock { $0 = client }
      let parameters = ServiceBench.start(["share": .string(share.rawValue)])
      #expect(try client.call("Start", parameters).error == nil)
    }

    /// Ends the session, and all sessions that the calls have started.
    func letGo(except listeners: Int = 0) async throws {
      owner.withLock { $0 }?.close()
      while await service.connections > listeners { pauseBriefly() }
      try bench.wait { try bench.sessions().isEmpty }
    }

    /// Returns when a number of sessions wait for their programs, and no others exist.
    func waitUntilWaiting(_ count: Int) throws {
      try bench.wait {
        let states = try bench.sessions().map { $0.object?["state"] }
        return states.count == count && states.allSatisfy { $0 == .string("waiting") }
      }
    }

    func connect(_ user: User) throws -> TestClient {
      next.withLock { $0 = user }
      return try bench.client()
    }

    /// Returns when the service has identified the user.
    func client(_ user: User) throws -> TestClient {
      let client = try connect(user)
      _ = try client.call("List")
      return client
    }

    func device(_ user: User) async throws(DriverError) -> UWBDevice {
      next.withLock { $0 = user }
      return try await UWBDevice.open(.service(socket: FilePath(bench.path)), options: .patient)
    }

    static func lend(
      hasGroup: Bool, mostClients: Int = 1_000, clock: AlarmClock = VirtualTime().clock,
      _ body: @escaping @Sendable (Users) async throws -> Void
    ) async throws {
      let users = Locked<Users?>(nil)
      let permissions = Permissions(
        group: hasGroup ? ("uwb", User.group) : nil,
        connections: .init(all: mostClients, ofUser: 4)
      ) { _ in
        guard let users = users.withLock({ $0 }) else { return User.root.credentials }
        users.accepted.continuation.yield()
        return users.next.withLock { $0 }.credentials
      }
      try await ServiceBench.lendService(permissions, clock: clock) { bench, service in
        let made = Users(bench, service)
        users.withLock { $0 = made }
        try await body(made)
      }
    }
  }

  private static let stop: [String: JSON] = ["session_id": .integer(42)]

  /// A row of the table: its calls, and whether another user shares a session during them.
  private struct Row {
    var name: String
    var share: Chips.Share?
    var call: @Sendable (Users, User) async throws -> String

    init(
      _ name: String, _ share: Chips.Share? = nil,
      _ call: @escaping @Sendable (Users, User) async throws -> String
    ) { (self.name, self.share, self.call) = (name, share, call) }

    init(
      _ name: String, _ share: Chips.Share? = nil, calls method: String,
      _ parameters: [String: JSON] = [:]
    ) {
      self.init(name, share) { users, user in
        PermissionTests.answer(try users.client(user).call(method, parameters))
      }
    }
  }

  /// Returns a cell of the table. A refused user gets the reason and the next step.
  private static func answer(_ reply: VarlinkReply) -> String {
    guard let name = reply.errorName else { return "yes" }
    for key in ["reason", "advice"] { #expect(reply.parameters[key]?.string?.isEmpty == false) }
    return "`\(name)`"
  }

  private static let reason: [String: JSON] = ["reason": .string("a test")]

  private static let rows = [
    Row("`GetInfo`, `GetInterfaceDescription`") { users, user in
      let client = try users.client(user)
      return [
        try client.call("org.varlink.service.GetInfo"),
        try client.call(
          "org.varlink.service.GetInterfaceDescription",
          ["interface": .string(Chips.interface)]),
      ].allSatisfy { $0.error == nil } ? "yes" : "no"
    },
    Row("`GetService`", calls: "GetService"),
    Row("`List`", .user, calls: "List"), Row("`Describe`", calls: "Describe"),
    Row("`Watch`", .user, calls: "Watch", ["after": .integer(0)]),
    Row("`Monitor` of a session for `everyone`", .everyone, calls: "Monitor", stop),
    Row("`Monitor` of one for its `user`", .user, calls: "Monitor", stop),
    Row("`Monitor` of all: those for its `user`", .user) { users, user in
      let client = try users.client(user)
      client.send("Monitor", more: true)
      while await users.service.listenerCount == 0 { pauseBriefly() }
      let all = try users.client(.root)
      all.send("Monitor", more: true)
      // Everybody may make the last calls, which report only sessions that the user may see.
      let last = try #require(try all.measurements(3).found.last?["monotonic_us"]?.integer)
      try await users.letGo(except: 2)
      try users.hold(.everyone)
      let first = try #require(try client.measurements(1).found.first?["monotonic_us"]?.integer)
      return first <= last ? "yes" : "left out"
    },
    Row("`Start` of a new session", calls: "Start", ServiceBench.start()),
    Row("`Start`, joining one for `everyone`", .everyone, calls: "Start", ServiceBench.start()),
    Row("`Start`, joining one for its `user`", .user, calls: "Start", ServiceBench.start()),
    Row("`Start` by `session_id` or `peer`", .everyone, calls: "Start", stop),
    Row("`Stop` of its own") { users, user in
      let client = try users.client(user)
      try client.call("Start", ServiceBench.start())
      return answer(try client.call("Stop", stop))
    },
    Row("`Stop` of another's", .everyone, calls: "Stop", stop),
    Row(
      "`SetShare` of a session for `everyone`", .everyone, calls: "SetShare",
      stop.merging(["share": .string("user")]) { $1 }),
    Row(
      "`SetShare` of one for its `user`", .user, calls: "SetShare",
      stop.merging(["share": .string("everyone")]) { $1 }),
    Row("`End` of its own") { users, user in
      let client = try users.client(user)
      try client.call("Start", ServiceBench.start())
      return answer(try client.call("End", stop))
    },
    Row("`End` of another's", .user, calls: "End", stop),
    Row("`Explain` of a start that was not refused", calls: "Explain", stop),
    Row("`Borrow`", calls: "Borrow", reason),
    Row("`Borrow` of a chip with another's session", .everyone, calls: "Borrow", reason),
    Row("`Attach`, and start a session") { users, user in
      do {
        let device = try await users.device(user)
        let profile = try SessionProfile(Array("\(ServiceBench.profile())".utf8))
        let session = try await device.makeSession(
          SessionConfiguration(sessionID: 42, profile.parameters(for: device.dialect)))
        try await session.start()
        await device.close()
        return "yes"
      } catch let error as DriverError {
        #expect(error.linkError?.code == .permissionDenied)
        #expect(error.recoverySuggestion?.contains("usermod -aG uwb") == true)
        return "`Denied`"
      }
    },
  ]

  /// The replies to each user, row by row.
  private static func cells(hasGroup: Bool, _ users: [User]) async throws -> [[String]] {
    let found = Locked([[String]](repeating: [], count: rows.count))
    try await Users.lend(hasGroup: hasGroup) { bench in
      for (index, row) in rows.enumerated() {
        for user in users {
          if let share = row.share { try bench.hold(share) }
          let cell = try await row.call(bench, user)
          found.withLock { $0[index].append(cell) }
          try await bench.letGo()
        }
      }
    }
    return found.withLock { $0 }
  }

  @Test func everyUserGetsWhatThePageSays() async throws {
    let grouped = try await Self.cells(hasGroup: true, User.allCases)
    let others = try await Self.cells(hasGroup: false, [.other])
    let users = User.allCases.map(\.rawValue).joined(separator: " | ")
    var table = "| | \(users) | without `--group` |\n"
    table += String(repeating: "|---", count: User.allCases.count + 2) + "|\n"
    for (index, row) in Self.rows.enumerated() {
      let cells = [row.name] + grouped[index] + others[index]
      table += "| \(cells.joined(separator: " | ")) |\n"
    }
    let page = URL(filePath: #filePath).deletingLastPathComponent().appending(
      path: "../../Documentation/swift-uwb.docc/Service.md")
    let text = try String(contentsOf: page, encoding: .utf8)
    #expect(text.contains(table), "the table of Service.md has to be:\n\(table)")
  }

  /// The owner can hide a session that others only watch, but not a session that others hold.
  @Test func aSessionCanBecomePrivate() async throws {
    try await Users.lend(hasGroup: true) { users in
      try users.hold(.everyone)
      let change: [String: JSON] = ["session_id": .integer(42), "share": .string("user")]
      let (owner, member) = (try users.client(.same), try users.client(.member))
      #expect(try member.call("Start", ServiceBench.start()).error == nil)
      let refused = try owner.call("SetShare", change)
      #expect(refused.errorName == "Busy")
      #expect(refused.parameters["owners"]?.array?.first?.object?["uid"] == .integer(300_001))
      try member.call("Stop", Self.stop)
      member.send("Monitor", Self.stop, more: true)
      #expect(try member.measurements(1).end == nil)
      #expect(try owner.call("SetShare", change).error == nil)
      #expect(try member.measurements().end?.errorName == "Denied")
      try await users.letGo(except: 2)
    }
  }

  /// Users who may not change the share get a next step that works, also for a shared session.
  @Test func onlyTheStarterChangesTheShare() async throws {
    try await Users.lend(hasGroup: true) { users in
      for share in [Chips.Share.everyone, .user] {
        try users.hold(share)
        let refused = try users.client(.member).call(
          "SetShare", ["session_id": .integer(42), "share": .string("everyone")])
        #expect(refused.errorName == "Denied")
        #expect(refused.parameters["advice"] == .string("Ask user 300000, or an administrator."))
        try await users.letGo()
      }
    }
  }

  /// Returns the parameters of a start. If `isLong`, the session waits for a day after its program
  /// has disconnected.
  private static func start(_ id: Int64, isLong: Bool = false) -> [String: JSON] {
    var members = ServiceBench.start(isLong ? ["linger_ms": .integer(86_400_000)] : [:])
    var profile = members["profile"]?.object ?? [:]
    profile["session_id"] = .integer(id)
    members["profile"] = .object(profile)
    return members
  }

  /// Two sessions of a user wait for longer than a minute.
  @Test func aSessionWaitsForTheUserWhoAskedForTheTime() async throws {
    let time = VirtualTime()
    try await Users.lend(hasGroup: true, clock: time.clock) { users in
      for id in [1, 2, 3] as [Int64] {
        let owner = try users.client(.same)
        #expect(try owner.call("Start", Self.start(id, isLong: id == 3)).error == nil)
        let member = try users.client(.member)
        if id < 3 { #expect(try member.call("Start", Self.start(id, isLong: true)).error == nil) }
        member.close()
        owner.close()
        try users.waitUntilWaiting(Int(id))
      }
      time.advance(.seconds(61))
      // The reply comes after the sessions whose waiting time is over have ended.
      let owner = try users.client(.same)
      #expect(try owner.call("Start", Self.start(3)).parameters["joined"] == .bool(true))
      #expect(try users.bench.sessions().count == 3)
      owner.close()
      try users.waitUntilWaiting(3)
      time.advance(.seconds(86_400))
      try users.bench.wait { try users.bench.sessions().isEmpty }
    }
  }

  /// When a program releases a session, the waiting time that it asked for no longer counts.
  @Test func aReleasedSessionWaitsForNobody() async throws {
    try await Users.lend(hasGroup: true) { users in
      try users.hold(.everyone)
      let member = try users.client(.member)
      let start = ServiceBench.start(["linger_ms": .integer(86_400_000)])
      #expect(try member.call("Start", start).parameters["joined"] == .bool(true))
      try member.call("Stop", Self.stop)
      try await users.letGo(except: 1)
      #expect(try users.bench.sessions().isEmpty)
    }
  }

  @Test func nobodyKeepsOthersOut() async throws {
    try await Users.lend(hasGroup: true, mostClients: 10) { users in
      var clients: [TestClient] = []
      for _ in 0..<4 { clients.append(try users.client(.other)) }
      let refused = try users.connect(.other)
      // The service has accepted the connection, and has not received its first call yet.
      var accepted = users.accepted.stream.makeAsyncIterator()
      for _ in 0..<5 { await accepted.next() }
      _ = await users.service.connections
      #expect(refused.send(VarlinkCall("org.varlink.service.GetInfo").bytes))
      let error = try #require(try refused.receive())
      #expect(error.errorName == "LimitReached")
      #expect(error.parameters["limit"] == .string("connections_of_user"))
      #expect(error.parameters["most"] == .integer(4))
      #expect(error.parameters["reason"]?.string?.contains("uwbd") == true)
      #expect(try refused.receive() == nil)
      for _ in 4..<10 { clients.append(try users.client(.root)) }
      let all = try users.connect(.root).call("List")
      #expect(all.parameters["limit"] == .string("connections"))
      #expect(all.parameters["advice"] != nil)
      // A disconnected client makes room, whether or not the service has noticed.
      clients.removeFirst().close()
      #expect(try users.client(.other).call("List").error == nil)
    }
  }

  /// The service serves a new client, although it refuses another client that arrived just before.
  @Test func whoHasGoneMakesRoom() async throws {
    struct Programs {
      var path = ""
      var clients: [TestClient] = []
    }
    let programs = Locked(Programs())
    let permissions = Permissions(connections: .init(all: 1)) { _ in
      programs.withLock { programs in
        // The second and the third connection are accepted one after the other.
        if programs.clients.count == 2, let third = try? TestClient(programs.path) {
          programs.clients.append(third)
        } else if programs.clients.count == 3 {
          programs.clients[0].close()
        }
      }
      return User.root.credentials
    }
    try await ServiceBench.lendService(permissions) { bench, _ in
      let first = try bench.client()
      try first.call("List")
      let second = try programs.withLock { programs in
        programs.path = bench.path
        programs.clients = [first, try bench.client()]
        return programs.clients[1]
      }
      #expect(try second.call("List").errorName == "LimitReached")
      #expect(try second.receive() == nil)
      #expect(try programs.withLock { $0.clients[2] }.call("List").error == nil)
    }
  }

  @Test func everyMethodIsInTheTable() throws {
    let interface = try VarlinkInterface(
      Chips.description)
    for member in interface.members {
      guard case .method = member.kind else { continue }
      #expect(Self.rows.contains { $0.name.contains("`\(member.name)`") }, "\(member.name)")
    }
  }
}
