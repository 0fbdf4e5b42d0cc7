// SPDX-License-Identifier: Apache-2.0
import ChipSharing
import Foundation
import JSON
import Testing
import Varlink

@Suite struct ChipSharingTests {
  private static let user = Chips.User(uid: 1_000, pid: 7)
  private static let borrower = Chips.Borrower(user, reason: "tests", since: 5)

  private static let errors: [ServiceError] = [
    .invalidMessage("a"), .invalidParameter("linger_ms"),
    .noChip("a", advice: "b"), .chipUnavailable("c", "a", advice: nil),
    .busy("c", "a", advice: "b", borrower: borrower),
    .busy("c", "a", advice: "b", owners: [user]),
    .invalidProfile("a", advice: "b"),
    .conflict(
      "c", sessionID: .max, owners: [user],
      differences: [Chips.Difference("CHANNEL_NUMBER", present: nil, wanted: "9")]),
    .denied("a", advice: "b"), .limitReached(.connectionsOfUser, most: 250, "a", advice: "b"),
    .refused("c", "a", advice: "b"),
    .noSession("a", advice: "b"),
    .sessionEnded("c", sessionID: 42, "a", advice: nil),
  ]

  @Test(arguments: errors) func errorsAreAsTheInterfaceSays(_ error: ServiceError) throws {
    let message = try VarlinkReply(Array(error.reply.bytes.dropLast()))
    #expect(ServiceError(message) == error)
    let name = try #require(message.error)
    guard name.hasPrefix(Chips.interface) else { return }
    let interface = try VarlinkInterface(Chips.description)
    let fields = try #require(interface.error(String(name.dropFirst(Chips.interface.count + 1))))
    #expect(interface.problem(with: message.parameters, fields) == nil)
  }

  @Test func anUnknownErrorKeepsItsReason() {
    let reply = VarlinkReply(["reason": .string("a")], error: "org.swift-uwb.Chips.New")
    #expect(ServiceError(reply) == .other(reply))
    #expect(ServiceError(reply)?.reason == "a")
    #expect(ServiceError(VarlinkReply()) == nil)
  }

  private static let calls: [ChipCall] = {
    var monitor = ChipCall.Monitor()
    (monitor.chip, monitor.sessionID, monitor.peers) = ("c", .max, ["0x0001"])
    (monitor.keep, monitor.queue, monitor.pause) = (.newest, 1, .seconds(10))
    var several = ChipCall.Monitor()
    (several.peers, several.interval) = (["0x0001", "0x0002"], .seconds(3_600))
    (several.hasNulls, several.hasIdentity, several.hasEvents) = (false, true, true)
    var watch = ChipCall.Watch()
    (watch.run, watch.after, watch.countInterval) = ("ab", 0, .milliseconds(100))
    return [
      .list, .describe(chip: nil), .describe(chip: "c"), .monitor(ChipCall.Monitor()),
      .service, .watch(ChipCall.Watch()), .watch(watch), .monitor(several),
      .monitor(monitor), .stop(chip: "c", sessionID: 0), .attach(chip: nil, linger: .zero),
      .attach(chip: "c", linger: .seconds(60)), .borrow(chip: "c", reason: "tests"),
      .start(chip: nil, .text("{}"), .everyone, linger: .zero),
      .start(chip: nil, .session(.max), .everyone, linger: .seconds(86_400)),
      .start(chip: "c", .peer("0x0001"), .everyone, linger: .zero),
      .start(chip: "c", .object(["session_id": .integer(1)]), .user, linger: .milliseconds(1)),
    ]
  }()

  @Test(arguments: calls) func callsAreAsTheInterfaceSays(_ call: ChipCall) throws {
    let message = try VarlinkCall(Array(call.message.bytes.dropLast()))
    let name = String(message.method.dropFirst(Chips.interface.count + 1))
    #expect(try ChipCall(name, message.parameters) == call)
    let interface = try VarlinkInterface(Chips.description)
    let fields = try #require(interface.method(name)).input
    #expect(interface.problem(with: message.parameters, fields) == nil)
    #expect(message.upgrade == (name == "Attach"))
  }

  @Test(arguments: [
    ("Start", ["profile_text": JSON.string(""), "linger_ms": .integer(86_400_001)], "linger_ms"),
    ("Start", [:], "profile"),
    ("Start", ["profile": .object([:]), "profile_text": .string("")], "profile"),
    ("Start", ["profile_text": .string(""), "session_id": .integer(1)], "profile"),
    ("Start", ["session_id": .integer(1), "peer": .string("0x0001")], "profile"),
    ("Stop", ["session_id": .integer(1 << 32)], "session_id"), ("Stop", [:], "session_id"),
    ("Monitor", ["queue": .integer(0)], "queue"),
    ("Monitor", ["every_ms": .integer(-1)], "every_ms"),
    ("Monitor", ["peer_ms": .integer(3_600_001)], "peer_ms"),
    ("Monitor", ["peers": .array([])], "peers"),
    ("Monitor", ["peers": .array([.string("1")]), "peer": .string("1")], "peers"),
    ("Watch", ["after": .integer(-1)], "after"),
    ("Watch", ["counters_ms": .integer(99)], "counters_ms"),
  ]) func valuesHaveLimits(
    _ method: String, _ parameters: [String: JSON], _ name: String
  ) {
    #expect(throws: ServiceError.invalidParameter(name)) { try ChipCall(method, parameters) }
  }

  @Test func chipsAreReadAsWritten() throws {
    var session = Chips.Session(id: 42, state: "ranging", share: "user", owners: [Self.user])
    (session.address, session.counters.missing) = ("0x0000", 3)
    var chips = [
      Chips.Chip(name: "c", problem: "lent", sessions: [session], borrower: Self.borrower),
      Chips.Chip(name: "d"),
    ]
    (chips[1].device, chips[1].serial, chips[1].model) = ("usb:7", "7", "QM33")
    let bytes = ChipReply.chips(chips, run: "ab", sequence: 5).bytes
    let reply = try VarlinkReply(Array(bytes.dropLast()))
    let fields = try #require(try VarlinkInterface(Chips.description).method("List")).output
    #expect(
      try VarlinkInterface(Chips.description).problem(with: reply.parameters, fields) == nil)
    #expect(reply.parameters["chips"]?.array?.compactMap(Chips.Chip.init) == chips)
  }

  /// Calls and replies of version 1 are valid: clients of this version need nothing else.
  @Test func olderClientsFindWhatTheyNeed() throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(
      path: "../Varlink/protocol-1.varlink")
    let old = try VarlinkInterface(try String(contentsOf: file, encoding: .utf8))
    let new = try VarlinkInterface(Chips.description)
    func missing(_ old: [VarlinkInterface.Field], _ new: [VarlinkInterface.Field]) -> [String] {
      old.filter { field in
        !new.contains {
          $0.name == field.name && [field.type, .optional(field.type)].contains($0.type)
        }
      }.map(\.name)
    }
    for member in old.members {
      switch member.kind {
      case .method(let input, let output):
        let now = try #require(new.method(member.name))
        #expect(missing(input, now.input).isEmpty && missing(output, now.output).isEmpty)
        // Further parameters may be left out.
        let added = now.input.filter { field in !input.contains { $0.name == field.name } }
        #expect(new.problem(with: [:], added) == nil, "\(member.name)")
      case .error(let fields):
        #expect(missing(fields, try #require(new.error(member.name))).isEmpty)
      case .type(.structure(let fields)):
        let now = new.members.first { $0.name == member.name }
        guard case .type(.structure(let nowFields)) = now?.kind else {
          Issue.record("\(member.name) is missing")
          continue
        }
        #expect(fields.allSatisfy { field in nowFields.contains { $0.name == field.name } })
      case .type: #expect(new.members.contains { $0.name == member.name && $0.kind == member.kind })
      }
    }
  }

  @Test(arguments: Chips.Event.Kind.allCases)
  func eventsAreAsTheInterfaceSays(_ kind: Chips.Event.Kind) throws {
    let event = Chips.Event(
      kind, chip: "c", sessionID: 42, user: Self.user, reason: "a", counters: Chips.Counters())
    var bytes: [UInt8] = []
    EventReply(event, run: "ab").append(to: &bytes, lost: 3, continues: true)
    let reply = try VarlinkReply(Array(bytes.dropLast()))
    let interface = try VarlinkInterface(Chips.description)
    for method in ["Watch", "Monitor"] {
      let fields = try #require(interface.method(method)).output
      #expect(interface.problem(with: reply.parameters, fields) == nil)
    }
    #expect(reply.parameters["lost"] == .integer(3) && reply.continues)
    // The description names each kind.
    #expect(Chips.description.contains(kind.rawValue))
  }

  @Test func theServiceDescribesItselfAsTheInterfaceSays() throws {
    let bytes = ChipReply.service(version: "1", run: "ab", host: "h").bytes
    let reply = try VarlinkReply(Array(bytes.dropLast()))
    let interface = try VarlinkInterface(Chips.description)
    let fields = try #require(interface.method("GetService")).output
    #expect(interface.problem(with: reply.parameters, fields) == nil)
    #expect(reply.parameters["protocol"] == .integer(2))
  }

  @Test func aMeasurementIsEncodedOnceForAll() throws {
    let measurement = MeasurementReply(
      chip: "a\"b", sessionID: 42, monotonic: 1, utc: 2
    ) { $0.append(#"{"peer":"0x0001"}"#) }
    var bytes: [UInt8] = []
    measurement.append(to: &bytes, lost: 0, continues: true)
    measurement.append(to: &bytes, lost: 3, continues: false)
    #expect(
      String(decoding: bytes, as: UTF8.self)
        == #"{"parameters":{"chip":"a\"b","session_id":42,"monotonic_us":1,"utc_us":2,"#
        + #""measurement":{"peer":"0x0001"},"lost":0},"continues":true}"# + "\0"
        + #"{"parameters":{"chip":"a\"b","session_id":42,"monotonic_us":1,"utc_us":2,"#
        + #""measurement":{"peer":"0x0001"},"lost":3}}"# + "\0")
  }
}
