// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import UWBSite

@Suite("The profiles of a plan")
struct PlanProfileTests {
  func site() throws -> Site {
    let text = """
      {"version": 1, "gauge": {"kind": "measured"},
       "anchors": [{"id": "north/1", "addresses": ["0x0a00"]}, {"id": "A1"}, {"id": "A2"}],
       "tags": [{"id": "T", "addresses": ["0x0001"]}, {"id": "U"}]}
      """
    return try Site(json: Array(text.utf8))
  }

  func plan(_ scheme: PlanScheme, anchors: Int = 3, tags: Int = 2) throws -> Plan {
    try Plan(scheme, PlanRequest(anchors: anchors, tags: tags, rate: 5))
  }

  @Test("each end of each session has a profile, with the addresses of the site")
  func ends() throws {
    let profiles = try PlanProfiles(plan(.twoWayByAnchors), site())
    #expect(profiles.schedule.sessions.map(\.controller) == ["north/1", "A1", "A2"])
    #expect(profiles.profiles.count == 9)
    let first = profiles.profiles[0]
    #expect(first.node == "north/1" && first.isController && first.session == 1000)
    #expect(first.text.contains(#""DST_MAC_ADDRESS": ["0x0001", "0x0004"]"#), "\(first.text)")
    #expect(first.text.contains(#""MULTI_NODE_MODE": "one to many""#))
    let tag = profiles.profiles[1]
    #expect(tag.node == "T" && !tag.isController)
    #expect(tag.text.contains(#""DST_MAC_ADDRESS": "0x0a00""#))
    #expect(tag.text.contains(#""NUMBER_OF_CONTROLEES": 1,"#))
  }

  @Test("files have names without the signs of paths, and the schedule names them")
  func files() throws {
    let files = try PlanProfiles(plan(.twoWayByTags), site()).files
    #expect(files.count == 9 && Set(files.map(\.name)).count == 9)
    #expect(files.contains { $0.name == "north_1-1000.json" })
    let schedule = try JSONValue(Array(#require(files.last).text.utf8))
    #expect(files.last?.name == "schedule.json" && schedule["block_ms"] == .number(200))
    guard case .array(let sessions)? = schedule["sessions"] else {
      Issue.record("there are no sessions")
      return
    }
    #expect(sessions.count == 2 && sessions[1]["start_ms"] == .number(100))
    #expect(try JSONValue(Array(files[0].text.utf8))["session_id"] == .number(1000))
  }

  @Test("without a site, boards are numbered")
  func numbered() throws {
    let profiles = try PlanProfiles(plan(.twoWayByTags), nil)
    #expect(profiles.profiles.prefix(2).map(\.node) == ["tag-1", "anchor-1"])
  }

  /// Returns the profile of a node as JSON.
  private func profile(_ node: String, _ profiles: PlanProfiles) throws -> JSONValue {
    let found = try #require(profiles.profiles.first { $0.node == node })
    return try JSONValue(Array(found.text.utf8))
  }

  @Test("uplink: one anchor gives the time, the others receive, and tags blink by their names")
  func uplink() throws {
    let text = """
      {"version": 1, "gauge": {"kind": "measured"},
       "anchors": [{"id": "A0"}, {"id": "A1", "roles": ["sync"]}, {"id": "A2"}, {"id": "A3"}],
       "tags": [{"id": "T", "blink_ids": ["ab01"]}, {"id": "U"}]}
      """
    let site = try Site(json: Array(text.utf8))
    let profiles = try PlanProfiles(plan(.differencesUp, anchors: 4), site)
    #expect(profiles.profiles.map(\.node) == ["A1", "A0", "A2", "A3", "T", "U"])
    #expect(profiles.profiles.filter(\.isController).map(\.node) == ["A1"])
    let sync = try profile("A1", profiles)["parameters"]
    #expect(sync?["DEVICE_ROLE"] == .string("UT-sync anchor"))
    // Two frames in a block of 200 ms: at most 150 ms apart.
    #expect(sync?["RANGING_DURATION"] == .string("100 ms"))
    #expect(sync?["UL_TDOA_TX_TIMESTAMP"] == .string("40 bits"))
    #expect(try profile("A0", profiles)["parameters"]?["DEVICE_ROLE"] == .string("UT-anchor"))
    let tag = try profile("T", profiles)["parameters"]
    #expect(tag?["UL_TDOA_DEVICE_ID"] == .string("01:ab:01"))
    #expect(tag?["UL_TDOA_TX_INTERVAL"] == .string("190 ms"))
    #expect(try profile("U", profiles)["parameters"]?["UL_TDOA_DEVICE_ID"] == nil)
    #expect(profiles.schedule.sessions.map(\.controller) == ["A1"])
  }

  @Test("downlink: each cluster has a round, and tags receive all")
  func downlink() throws {
    let profiles = try PlanProfiles(plan(.differencesDown, anchors: 9), nil)
    #expect(profiles.profiles.filter(\.isController).map(\.node) == ["anchor-1", "anchor-5"])
    let first = try profile("anchor-5", profiles)
    guard case .array(let rounds)? = first["rounds"],
      case .array(let others)? = rounds[0]["responders"]
    else {
      Issue.record("\(first)")
      return
    }
    #expect(rounds[0]["index"] == .number(1) && others.count == 4)
    #expect(try profile("anchor-6", profiles)["rounds"] == .array([.number(1)]))
    let tag = try profile("tag-2", profiles)
    #expect(tag["rounds"] == .array([.number(0), .number(1)]))
    #expect(tag["parameters"]?["DEVICE_TYPE"] == nil)
    #expect(tag["parameters"]?["SLOTS_PER_RR"] == .string("6 slots"))
  }

  @Test("anchors that share their time have a round with one another")
  func shared() throws {
    var request = PlanRequest(anchors: 4, tags: 4, rate: 2)
    request.sharesTime = true
    let plan = try Plan(.twoWayByAnchors, request)
    #expect(plan.rounds[0].others == 2...4 && plan.rounds[0].areAnchors)
    let profiles = try PlanProfiles(plan, nil).profiles.filter { $0.session == 1000 }
    #expect(profiles.map(\.node) == ["anchor-1", "anchor-2", "anchor-3", "anchor-4"])
    #expect(throws: PlanRefusal.self) { try Plan(.twoWayByTags, request) }
    request.anchors = 10
    #expect(throws: PlanRefusal.self) { try Plan(.twoWayByAnchors, request) }
  }
}

@Suite("The abilities of chips for a plan")
struct ChipNeedTests {
  static let capabilities = """
    {"id":5,"name":"DEVICE_ROLES","meaning":"responder, initiator","octets":"03","summary":""}
    {"id":6,"name":"RANGING_METHOD","meaning":"SS-TWR deferred, DS-TWR deferred","octets":"06"}
    {"id":8,"name":"MULTI_NODE_MODE","meaning":"unicast","octets":"01","summary":""}
    {"id":13,"name":"UWB_INITIATION_TIME","meaning":"yes","octets":"01","summary":""}
    {"id":228,"name":"MIN_RANGING_INTERVAL","meaning":"240 ms","octets":"f0","summary":""}
    {"id":233,"name":"MAX_SESSIONS","meaning":"2 sessions","octets":"02","summary":""}

    """

  @Test("capabilities are read from the lines of uwbctl caps")
  func read() throws {
    let chip = try ChipAbilities(lines: Array(Self.capabilities.utf8))
    #expect(chip.methods == ["SS-TWR deferred", "DS-TWR deferred"] && chip.modes == ["unicast"])
    #expect(chip.mostSessions == 2 && chip.shortestInterval == 240)
    #expect(chip.hasInitiationTime == true)
  }

  @Test("each reason has its number")
  func refusals() throws {
    let chip = try ChipAbilities(lines: Array(Self.capabilities.utf8))
    let needs = ChipNeeds(try Plan(.twoWayByAnchors, PlanRequest(anchors: 4, tags: 3, rate: 5)))
    #expect(
      needs.refusals(chip, sessions: needs.tagSessions).map(\.description) == [
        "a round has 3 controlees; the chip has 1 (no one to many)",
        "4 sessions at a time are needed; the chip has 2",
        "rounds repeat after 200 ms; the chip needs 240 ms",
      ])
    #expect(needs.refusals(ChipAbilities(), sessions: 4).isEmpty)
    let up = ChipNeeds(try Plan(.differencesUp, PlanRequest(anchors: 4, tags: 3, rate: 1)))
    let reason = up.refusals(chip, sessions: 1).first?.description
    #expect(reason?.hasPrefix("the chip has no UL-TDoA") == true)
    #expect(
      needs.description
        == "DS-TWR deferred, one to many with 3 controlees, 1 session at an anchor, 4 at a tag")
  }

  @Test("other text is refused with its line", arguments: ["", "\n{}\n", "{\"name\": 1}", "text"])
  func bad(_ text: String) {
    #expect(throws: PlanRefusal.self) { try ChipAbilities(lines: Array(text.utf8)) }
  }
}
