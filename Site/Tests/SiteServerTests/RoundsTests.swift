// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization
import Testing
import UWBSite

@testable import SiteServer

/// Chips without a service, in virtual time.
private final class FakeChips: RoundChips {
  struct Gone: Error {}

  struct State {
    var now = 100.0
    var isAway = false
    /// A node whose chip does not report its time.
    var withoutClock: String?
    var started: [String: UInt64?] = [:]
    var starts = 0
    var stops = 0
    var stopped: Set<String> = []
    var refusals = 0
  }

  let state = Mutex(State())

  var now: Double { state.withLock(\.now) }

  func reading(of end: RoundsFolder.End) async throws -> UInt64 {
    try state.withLock { state in
      guard !state.isAway else { throw Gone() }
      guard end.node != state.withoutClock else {
        state.refusals += 1
        throw ChipRefusal(description: "has no clock")
      }
      state.now += 0.001
      // The chip is 7 s ahead, and fast by 20 ppm.
      return UInt64((state.now * (1 + 20e-6) + 7) * 1e6)
    }
  }

  func start(_ end: RoundsFolder.End, reading: UInt64?) async throws {
    try state.withLock { state in
      guard !state.isAway else { throw Gone() }
      state.started["\(end.node) \(end.session)"] = .some(reading)
      state.starts += 1
    }
  }

  func stop(_ end: RoundsFolder.End) async {
    state.withLock { state in
      state.stops += 1
      state.stopped.insert("\(end.node) \(end.session)")
    }
  }
  func close() async {}
}

@Suite("Rounds at the chips of this host")
struct RoundsTests {
  static let site = """
    {"version": 1, "gauge": {"kind": "measured"}, "anchors": [
      {"id": "A0", "addresses": ["0x0a00"], "service": "/run/s", "chip": "one"},
      {"id": "A1", "chip": "two"}, {"id": "A2"}],
     "tags": [{"id": "T"}, {"id": "U"}]}
    """

  /// Writes the profiles of a plan into a new folder, for the time of the body.
  private func withFolder<R>(_ body: (String, Site) async throws -> R) async throws -> R {
    let site = try Site(json: Array(Self.site.utf8))
    var request = PlanRequest(anchors: 3, tags: 2, rate: 5)
    request.sharesTime = true
    let files = try PlanProfiles(try Plan(.twoWayByAnchors, request), site).files
    let folder = FileManager.default.temporaryDirectory.path() + "/rounds-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for file in files {
      try Data(file.text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(file.name)"))
    }
    return try await body(folder, site)
  }

  @Test("the nodes with a service or a chip in the site file are at this host")
  func folder() async throws {
    try await withFolder { path, site in
      let rounds = try RoundsFolder(path, site)
      #expect(rounds.schedule.sessions.map(\.controller) == ["A0", "A0", "A1"])
      #expect(rounds.schedule.block == 0.2 && rounds.schedule.gap > 0.03)
      #expect(rounds.ends.map(\.node) == ["A0", "A1", "A0", "A1"])
      #expect(rounds.ends[1].service == "/run/uwbd/control" && rounds.ends[1].chip == "two")
      let call = rounds.ends[0].call(reading: 123_456_789)
      let profile = call["profile"]
      #expect(call["chip"] == .string("one"))
      #expect(profile?["parameters"]?["UWB_INITIATION_TIME"] == .number(123_456_789))
      #expect(profile?["parameters"]?["CHANNEL_NUMBER"] == .number(9))
    }
  }

  @Test("a folder without a schedule, and a site without chips, are refused")
  func refused() async throws {
    try await withFolder { path, site in
      #expect(throws: SourceFailure.self) { try RoundsFolder(path + "/none", site) }
      let failure = #expect(throws: SourceFailure.self) {
        try RoundsFolder(path, SiteScene().site)
      }
      #expect(failure?.reason.contains("has a service or a chip") == true)
      let file = URL(fileURLWithPath: "\(path)/schedule.json")
      for text in ["{", "{}", #"{"block_ms": 200, "gap_ms": 1, "sessions": [{}]}"#] {
        try Data(text.utf8).write(to: file)
        #expect(throws: SourceFailure.self) { try RoundsFolder(path, site) }
      }
    }
  }

  @Test("controlees start at once, controllers at their initiation times, and again as they drift")
  func drift() async throws {
    try await withFolder { path, site in
      let chips = FakeChips()
      var loop = RoundsLoop(try RoundsFolder(path, site), chips)
      var reports: [SourceItem] = []
      func run(_ seconds: Double) async {
        let end = chips.now + seconds
        while chips.now < end {
          let pause = await loop.turn(now: { chips.now }, report: { reports.append($0) })
          chips.state.withLock { $0.now += pause }
        }
      }
      await run(5)
      let started = chips.state.withLock { $0.started }
      #expect(Set(started.keys) == ["A0 1000", "A0 1001", "A1 1000", "A1 1002"])
      #expect(started["A1 1000"] == .some(nil))
      #expect(reports == [.state(.connected(identity: "4 ends of sessions at this host"))])
      // The rounds of A1 begin 50 ms after the rounds of A0. The clocks of both chips have equal
      // readings.
      let times = ["A0 1001", "A1 1002"].compactMap { started[$0] ?? nil }
      try #require(times.count == 2)
      let apart = Double(Int64(times[1]) - Int64(times[0])) / 1000
      #expect(abs((apart / 200 - (apart / 200).rounded(.down)) * 200 - 50) < 1)
      #expect(loop.keeper.restarts == 0)
      // At 20 ppm, clocks drift by half of a gap of 38 ms in 16 minutes.
      await run(1200)
      #expect((3...9).contains(loop.keeper.restarts) && chips.state.withLock(\.stops) >= 6)
    }
  }

  @Test("a chip without a clock is asked three times, reported once, and the others go on")
  func withoutClock() async throws {
    try await withFolder { path, site in
      let chips = FakeChips()
      chips.state.withLock { $0.withoutClock = "A0" }
      var loop = RoundsLoop(try RoundsFolder(path, site), chips)
      var reports: [SourceItem] = []
      for _ in 0..<100 {
        let pause = await loop.turn(now: { chips.now }, report: { reports.append($0) })
        chips.state.withLock { $0.now += pause }
      }
      let state = chips.state.withLock { $0 }
      #expect(Set(state.started.keys) == ["A1 1000", "A1 1002"])
      #expect(state.refusals == 3 && state.stopped == ["A1 1000", "A1 1002"])
      try #require(reports.count == 2)
      let sentence = "A0, session 1000, 1001: has no clock. Without it, the rounds cannot be kept"
      #expect("\(reports[0])".contains(sentence))
      #expect(reports[1] == .state(.connected(identity: "1 ends of sessions at this host")))
    }
  }

  @Test("the only session of a plan needs no clock")
  func onlySession() throws {
    let session = ControllerSchedule.Session(id: 1000, controller: "A", start: 0, length: 0.02)
    var keeper = RoundKeeper(ControllerSchedule(block: 0.1, gap: 0.08, sessions: [session]))
    var (now, questions, starts) = (0.0, 0, [RoundKeeper.Order]())
    while now < 100 {
      let (orders, next) = keeper.orders(at: now)
      for order in orders {
        guard order == .ask(controller: "A") else {
          starts.append(order)
          continue
        }
        questions += 1
        keeper.refused("A")
      }
      now = max(next, now + 0.01)
    }
    #expect(questions == 3 && keeper.hasStartedAll)
    try #require(starts.count == 1)
    guard case .start(1000, controller: "A", reading: nil, at: _) = starts[0] else {
      Issue.record("\(starts)")
      return
    }
  }

  @Test("a chip that is away is reported once, and all its sessions start again")
  func away() async throws {
    try await withFolder { path, site in
      let chips = FakeChips()
      chips.state.withLock { $0.isAway = true }
      var loop = RoundsLoop(try RoundsFolder(path, site), chips)
      var reports: [SourceItem] = []
      func run(_ turns: Int) async {
        for _ in 0..<turns {
          let pause = await loop.turn(now: { chips.now }, report: { reports.append($0) })
          chips.state.withLock { $0.now += pause }
        }
      }
      await run(50)
      #expect((2...4).contains(reports.count) && chips.state.withLock(\.starts) == 0)
      chips.state.withLock { $0.isAway = false }
      await run(50)
      #expect(reports.last == .state(.connected(identity: "4 ends of sessions at this host")))
      #expect(chips.state.withLock(\.starts) == 4)
    }
  }
}
