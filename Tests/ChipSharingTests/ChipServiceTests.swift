// SPDX-License-Identifier: Apache-2.0
import ChipSharing
import Foundation
import Glibc
import JSON
import System
import SystemPackage
import Testing
import UWBTestSupport
import Varlink

/// A service that gives each connection the next of its replies; nil ends the connection instead.
private final class ScriptedService: Sendable {
  let path: FilePath
  private let folder: TemporaryFolder
  private let socket: Int32
  private let received = Locked<[VarlinkCall]>([])

  init(_ replies: [VarlinkReply?]) throws {
    folder = try TemporaryFolder()
    path = FilePath(folder.path("control"))
    socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    try #require(withUnixAddress(path.string) { bind(socket, $0, $1) } == 0)
    try #require(listen(socket, 8) == 0)
    Thread.detachNewThread { [socket, received] in
      for reply in replies {
        let connection = accept(socket, nil, nil)
        guard connection >= 0 else { return }
        if let call = Self.call(over: connection) { received.withLock { $0.append(call) } }
        if let bytes = reply?.bytes {
          _ = send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        }
        close(connection)
      }
    }
  }

  deinit {
    shutdown(socket, Int32(SHUT_RDWR))
    close(socket)
    folder.remove()
  }

  private static func call(over connection: Int32) -> VarlinkCall? {
    var framing = VarlinkFraming()
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while true {
      if let message = try? framing.next() { return try? VarlinkCall(message) }
      let count = read(connection, &buffer, buffer.count)
      guard count > 0 else { return nil }
      framing.append(buffer[..<count])
    }
  }

  /// The calls so far, whose replies have arrived.
  var calls: [VarlinkCall] { received.withLock { $0 } }
}

/// The client of the service: its calls, and its conclusions from each reply.
@Suite(.ownThreads, .timeLimit(.minutes(10))) struct ChipServiceTests {
  private static let none = FilePath("/none/control")
  private static let noChip = ServiceError.noChip("a", advice: "b").reply
  private static let denied = ServiceError.denied("a", advice: "b")

  @Test func aDeviceHasTheNameThatTheServiceReports() throws {
    for (reply, name) in [
      (VarlinkReply(["chip": .string("usb:7")]), "usb:7"), (VarlinkReply(), "/dev/a"),
      (ServiceError.chipUnavailable("usb:7", "a", advice: nil).reply, "usb:7"),
      (ServiceError.chipUnavailable("", "a", advice: nil).reply, "/dev/a"), (Self.noChip, nil),
    ] as [(VarlinkReply, String?)] {
      let service = try ScriptedService([reply])
      #expect(try ChipService.name(of: "/dev/a", at: service.path) == name)
      #expect(service.calls == [ChipCall.describe(chip: "/dev/a").message])
    }
    #expect(try ChipService.name(of: "/dev/a", at: Self.none) == nil)
    let service = try ScriptedService([Self.denied.reply])
    #expect(throws: ChipService.Failure.rejected(Self.denied)) {
      try ChipService.name(of: "/dev/a", at: service.path)
    }
  }

  @Test func withoutAServiceThereAreNoChips() throws {
    let chips = [Chips.Chip(name: "a", problem: "lent"), Chips.Chip(name: "b")]
    let list = ChipReply.chips(chips, run: "r", sequence: 1).bytes.dropLast()
    let service = try ScriptedService([try VarlinkReply(Array(list)), Self.noChip, nil])
    #expect(try ChipService.chips(at: service.path) == chips)
    #expect(try ChipService.chips(at: service.path).isEmpty)
    // A service that ends the connection may have chips.
    #expect(throws: ChipService.Failure.silent(.connectionReset)) {
      try ChipService.chips(at: service.path)
    }
    #expect(service.calls == Array(repeating: ChipCall.list.message, count: 3))
    #expect(try ChipService.chips(at: Self.none).isEmpty)
  }

  @Test func aConnectionIsAttachedOrRefused() throws {
    let service = try ScriptedService([VarlinkReply(["chip": .string("a")]), Self.denied.reply])
    let descriptor = try ChipService.attach(nil, linger: .seconds(2), at: service.path)
    try descriptor.close()
    #expect(throws: ChipService.Failure.rejected(Self.denied)) {
      try ChipService.attach("a", linger: .zero, at: service.path)
    }
    let calls = service.calls
    #expect(calls.map(\.upgrade) == [true, true])
    // Older services reject parameters that they do not know: defaults are left out.
    #expect(calls.map(\.parameters) == [["linger_ms": .integer(2_000)], ["chip": .string("a")]])
    #expect(throws: ChipService.Failure.unreachable(.noSuchFileOrDirectory)) {
      try ChipService.attach(nil, linger: .zero, at: Self.none)
    }
  }

  @Test func aSessionOfOthersIsEnded() throws {
    let error = ServiceError.noSession("a", advice: "b")
    let service = try ScriptedService([VarlinkReply(), error.reply])
    try ChipService.end(42, on: "a", at: service.path)
    #expect(throws: ChipService.Failure.rejected(error)) {
      try ChipService.end(7, on: "a", at: service.path)
    }
    #expect(service.calls == [42, 7].map { ChipCall.end(chip: "a", sessionID: $0).message })
  }

  /// Older services have no such call, and services that have restarted have forgotten the start.
  @Test func aRefusedStartIsExplainedIfTheServiceHasTheReason() throws {
    let conflict = ServiceError.conflict(
      "a", sessionID: 42, owners: [Chips.User(uid: 1, pid: 2)],
      differences: [Chips.Difference("CHANNEL_NUMBER", present: "5", wanted: "9")])
    let unknown = VarlinkReply(error: "org.varlink.service.MethodNotFound")
    let forgotten = ServiceError.noSession("a", advice: "b").reply
    for (reply, refusal) in [
      (conflict.reply, conflict), (VarlinkReply(), nil), (forgotten, nil), (unknown, nil),
      (nil, nil),
    ] as [(VarlinkReply?, ServiceError?)] {
      let service = try ScriptedService([reply])
      #expect(ChipService.refusal(of: 42, on: nil, at: service.path) == refusal)
      #expect(service.calls == [ChipCall.explain(chip: nil, sessionID: 42).message])
    }
    #expect(ChipService.refusal(of: 42, on: nil, at: Self.none) == nil)
  }

  @Test func aChipIsBorrowedFromItsServiceOnly() throws {
    let busy = ServiceError.busy("a", "b", advice: "c", owners: [Chips.User(uid: 1, pid: 2)])
    let service = try ScriptedService([
      VarlinkReply(["chip": .string("a")]), Self.noChip, busy.reply,
    ])
    let loan = try ChipService.borrow("/dev/a", for: "a test", at: service.path)
    try #require(loan).close()
    #expect(try ChipService.borrow("/dev/a", for: "a test", at: service.path) == nil)
    #expect(throws: ChipService.Failure.rejected(busy)) {
      try ChipService.borrow("/dev/a", for: "a test", at: service.path)
    }
    let call = ChipCall.borrow(chip: "/dev/a", reason: "a test").message
    #expect(service.calls == [call, call, call])
    #expect(try ChipService.borrow("/dev/a", for: "a test", at: Self.none) == nil)
  }

  // MARK: limits and types

  private static let limits: [(method: String, name: String, range: ClosedRange<Int64>)] = [
    ("Start", "linger_ms", 0...86_400_000), ("Attach", "linger_ms", 0...86_400_000),
    ("Monitor", "queue", 1...10_000), ("Monitor", "every_ms", 0...10_000),
    ("Monitor", "peer_ms", 0...3_600_000), ("Monitor", "session_id", 0...0xFFFF_FFFF),
    ("Watch", "counters_ms", 100...3_600_000), ("Stop", "session_id", 0...0xFFFF_FFFF),
    ("SetShare", "session_id", 0...0xFFFF_FFFF), ("End", "session_id", 0...0xFFFF_FFFF),
    ("Explain", "session_id", 0...0xFFFF_FFFF),
  ]

  /// Each number is accepted up to its limits, sent as it was received, and rejected beyond.
  @Test(arguments: limits.indices) func numbersHaveTwoLimits(_ index: Int) throws {
    let (method, name, range) = Self.limits[index]
    func call(_ number: Int64) throws -> ChipCall {
      var parameters: [String: JSON] = [name: .integer(number)]
      if method == "Start" { parameters["profile_text"] = .string("{}") }
      if method == "SetShare" { parameters["share"] = .string("user") }
      return try ChipCall(method, parameters)
    }
    #expect(try call(range.upperBound).message.parameters[name] == .integer(range.upperBound))
    #expect(throws: Never.self) { try call(range.lowerBound) }
    for number in [range.lowerBound - 1, range.upperBound + 1, .min, .max] {
      #expect(throws: ServiceError.invalidParameter(name)) { try call(number) }
    }
  }

  /// The calls of a program that wants nothing new are calls of version 1.
  @Test func plainCallsAreForOlderServicesToo() throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
      path: "../Varlink/protocol-1.varlink")
    let old = try VarlinkInterface(try String(contentsOf: file, encoding: .utf8))
    for call in [
      .list, .describe(chip: nil), .start(chip: "a", .object([:]), .everyone, linger: .seconds(1)),
      .stop(chip: nil, sessionID: 1), .monitor(ChipCall.Monitor()),
      .attach(chip: nil, linger: .zero), .borrow(chip: nil, reason: ""),
    ] as [ChipCall] {
      let message = call.message
      let method = String(message.method.dropFirst(Chips.interface.count + 1))
      let fields = try #require(old.method(method), "\(method)").input
      #expect(old.problem(with: message.parameters, fields) == nil, "\(method)")
    }
  }

  /// Newer services may send further members and states; a damaged element is left out.
  @Test func furtherMembersAreIgnored() throws {
    let text = """
      {"parameters": {"chips": [7, {"problem": null}, {"chip": "a", "colour": "red",
        "borrower": {"reason": "no user"}, "sessions": [null, {"session_id": 4294967296,
        "state": "resting", "owners": [{"uid": -1, "pid": 3, "name": "x"}, {"uid": 1}]}]}]}}
      """
    let reply = try VarlinkReply(Array(text.utf8))
    let chips = try #require(reply.parameters["chips"]?.array?.compactMap(Chips.Chip.init))
    let session = Chips.Session(
      id: .max, state: "resting", share: "", owners: [Chips.User(uid: 0, pid: 3)])
    #expect(chips == [Chips.Chip(name: "a", sessions: [session])])
  }

  @Test(
    arguments: [
      (ServiceError.invalidParameter("queue"), "The value of queue is not allowed.", nil),
      (
        .conflict(
          "a", sessionID: 1, owners: [],
          differences: ["A", "B"].map { Chips.Difference($0, present: nil, wanted: nil) }),
        "Conflict: A, B", nil
      ),
      (.limitReached(.connections, most: 9, "full", advice: "wait"), "full", "wait"),
      (.busy("a", "lent", advice: "wait"), "lent", "wait"),
      (.refused("a", "no", advice: nil), "no", nil),
      (.other(VarlinkReply(["advice": .string("ask")], error: "x.New")), "x.New", "ask"),
    ] as [(ServiceError, String, String?)])
  func errorsHaveAReasonAndTheNextStep(
    _ error: ServiceError, _ reason: String, _ advice: String?
  ) {
    #expect(error.reason == reason)
    #expect(error.advice == advice)
  }
}
