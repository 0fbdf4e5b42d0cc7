// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SiteServer
@testable import UWBSite

/// A service that is fed by hand.
struct FedService {
  var service: SiteService
  private var number = 0

  init(_ site: Site, run: String = "run") {
    service = SiteService(SiteRun(site, sources: ["a"], isLive: true, epoch: 1000), run: run)
  }

  mutating func add(_ kinds: SiteEvent.Kind...) {
    var batch = SiteBatch()
    for kind in kinds {
      number += 1
      batch.events.append(SiteEvent(number: number, decided: Double(number), kind: kind))
    }
    service.add(batch)
  }

  static func place(_ x: Double, at time: Double = 0) -> TagPlace {
    TagPlace(
      time: time, position: [x, 2, 1], velocity: [0, -0.5, 0],
      spread: Spread(xx: 0.01, xy: 0.002, xz: 0, yy: 0.02, yz: 0, zz: 0.0001), motion: .walk,
      moving: 0.5)
  }
}

/// A reply to `Watch`.
struct WatchReply {
  let run: String
  let sequence: Int
  let lost: Int
  let events: [JSONValue]
  let places: [JSONValue]

  init?(_ bytes: [UInt8]?) {
    guard let bytes, let value = try? JSONValue(bytes), case .string(let run)? = value["run"],
      case .number(let sequence)? = value["sequence"], case .number(let lost)? = value["lost"],
      case .array(let events)? = value["events"], case .array(let places)? = value["places"]
    else { return nil }
    (self.run, self.sequence, self.lost) = (run, Int(sequence), Int(lost))
    (self.events, self.places) = (events, places)
  }

  var sequences: [Int] {
    events.compactMap { if case .number(let number)? = $0["sequence"] { Int(number) } else { nil } }
  }

  /// The tags of the places with the numbers of the places.
  var tags: [String] {
    places.compactMap {
      guard case .string(let tag)? = $0["tag"], case .number(let number)? = $0["number"] else {
        return nil
      }
      return "\(tag)\(Int(number))"
    }
  }
}

@Suite struct SiteServiceTests {
  private func fed(_ text: String = SiteScene.text) throws -> FedService {
    FedService(try SiteScene(text).site)
  }

  @Test("A program gets the events after the one that it has, once")
  func watch() throws {
    var fed = try fed()
    for by in 1...3 { fed.add(.clockSet(source: "a", by: Double(by))) }
    var reader = fed.service.reader(after: 1, run: "run")
    let first = try #require(WatchReply(fed.service.next(&reader)))
    #expect((first.sequences, first.sequence, first.lost) == ([2, 3], 3, 0))
    #expect(first.events[0]["event"] == .string("clock_set"))
    #expect(fed.service.next(&reader) == nil)
    fed.add(.found(tag: "T", at: 4))
    #expect(WatchReply(fed.service.next(&reader))?.sequences == [4])
  }

  @Test("Without a number, a program gets the events from now on; of another run, all")
  func positions() throws {
    var fed = try fed()
    fed.add(.clockSet(source: "a", by: 1))
    var now = fed.service.reader(after: nil, run: nil)
    #expect(fed.service.next(&now) == nil)
    #expect(WatchReply(fed.service.next(&now, isFirst: true))?.events.isEmpty == true)
    var other = fed.service.reader(after: 90, run: "before")
    #expect(WatchReply(fed.service.next(&other))?.sequences == [1])
    var ahead = fed.service.reader(after: 90, run: "run")
    #expect(fed.service.next(&ahead) == nil)
  }

  @Test("A slow program gets the number of the events that it missed")
  func lost() throws {
    var fed = try fed()
    var reader = fed.service.reader(after: 0, run: nil)
    let all = SiteService.capacity + 100
    for by in 1...all { fed.add(.clockSet(source: "a", by: Double(by))) }
    var (received, lost): ([Int], [Int]) = ([], [])
    while let reply = WatchReply(fed.service.next(&reader)) {
      received += reply.sequences
      lost.append(reply.lost)
      #expect(reply.sequence == received.last)
    }
    #expect(received == Array(101...all))
    #expect(lost.first == 100 && lost.dropFirst().allSatisfy { $0 == 0 })
    #expect(lost.count > 3, "A reply has about 32 KiB.")
  }

  @Test("A reply has the newest place of each tag, with the number of its places")
  func places() throws {
    var fed = try fed()
    var reader = fed.service.reader(after: nil, run: nil)
    fed.add(.place(tag: "T", FedService.place(1), floor: nil))
    fed.add(.place(tag: "U", FedService.place(2), floor: "0"))
    fed.add(.place(tag: "T", FedService.place(3), floor: nil))
    let reply = try #require(WatchReply(fed.service.next(&reader)))
    #expect(reply.tags == ["U1", "T2"])
    #expect(reply.places[1]["position_m"] == .array([.number(3), .number(2), .number(1)]))
    #expect(reply.places[0]["floor"] == .string("0"))
    #expect(fed.service.next(&reader) == nil)
    fed.add(.refused(tag: "T", .uncertain, FedService.place(3)))
    let refused = try #require(WatchReply(fed.service.next(&reader)))
    #expect(refused.tags == ["T3"] && refused.places[0]["refused"] == .string("uncertain"))
    #expect(refused.places[0]["position_m"] == nil)
  }

  @Test("A program gets the places of the tags that it selects")
  func selection() throws {
    var fed = try fed()
    var some = fed.service.reader(after: nil, run: nil, tags: ["U"])
    var none = fed.service.reader(after: nil, run: nil, tags: [])
    fed.add(
      .place(tag: "T", FedService.place(1), floor: nil),
      .place(tag: "U", FedService.place(2), floor: nil))
    #expect(WatchReply(fed.service.next(&some))?.tags == ["U1"])
    fed.add(.place(tag: "T", FedService.place(1), floor: nil))
    #expect(fed.service.next(&some) == nil && fed.service.next(&none) == nil)
  }

  @Test("The places of many tags are divided over replies, each once")
  func manyTags() throws {
    let tags = (0..<500).map { #"{"id": "T\#($0)"}"# }.joined(separator: ",")
    var fed = try fed(#"{"version": 1, "gauge": {"kind": "measured"}, "tags": [\#(tags)]}"#)
    for tag in (0..<500).reversed() {
      fed.add(.place(tag: "T\(tag)", FedService.place(Double(tag)), floor: nil))
    }
    var reader = fed.service.reader(after: nil, run: nil)
    var received: [String] = []
    while let bytes = fed.service.next(&reader) {
      #expect(bytes.count < 34_000)
      let isFirst = received.isEmpty
      received += try #require(WatchReply(bytes)).tags
      // A newer place of a tag that the program already has follows after the rest.
      if isFirst { fed.add(.place(tag: "T499", FedService.place(0), floor: nil)) }
    }
    #expect(Set(received).count == received.count && received.count > 500)
    #expect(received.last?.hasPrefix("T499") == true)
    let replies = fed.service.list(more: true)
    #expect(replies.count == 8 && fed.service.list(more: false).count == 1)
    let listed = replies.compactMap { try? JSONValue($0) }.flatMap { reply -> [JSONValue] in
      if case .array(let tags)? = reply["tags"] { tags } else { [] }
    }
    #expect(listed.count == 500 && listed.allSatisfy { $0["state"] == .string("present") })
  }

  @Test("The state of tags, zones, doors and anchors follows from their events")
  func state() throws {
    let text =
      SiteScene.text.dropLast() + """
        , "doors": [{"id": "D", "ends_m": [[0, 0], [1, 0]]}]}
        """
    var fed = try fed(String(text))
    #expect(try tag("T", fed)["state"] == .string("silent"))
    #expect(try tag("T", fed)["place"] == .null)
    fed.add(
      .place(tag: "T", FedService.place(6), floor: nil), .zone(change(.entered, count: 1)),
      .door(DoorChange(tag: "T", door: "D", kind: .outside, happened: 1, outside: 0.9)),
      .door(DoorChange(tag: "T", door: "D", kind: .inside, happened: 1, outside: 0.1)),
      .anchorMoved(anchor: "A1", time: 2, by: [5, 0, 0]))
    #expect(try tag("T", fed)["zones"] == .array([.string("dock")]))
    #expect(try first("zones", fed)["count"] == .number(1))
    #expect(try first("doors", fed)["inside"] == .array([.string("T")]))
    #expect(try first("doors", fed)["outside"] == .array([]))
    fed.add(.lost(tag: "T", since: 3, zones: ["dock"]))
    #expect(try tag("T", fed)["state"] == .string("lost"))
    #expect(try first("zones", fed)["count"] == .number(1))
    #expect(try first("zones", fed)["lost"] == .number(1))
    #expect(try tag("T", fed)["zones"] == .array([.string("dock")]))
    fed.add(.zone(change(.left(dwell: 4), count: 0)), .found(tag: "T", at: 5))
    #expect(try tag("T", fed)["zones"] == .array([]))
    #expect(try first("zones", fed)["count"] == .number(0))
    #expect(try first("zones", fed)["lost"] == .number(0))
    guard case .array(let anchors)? = try list(fed)["anchors"] else { throw SinkFailure("none") }
    #expect(anchors.map { $0["state"] } == ["good", "moved", "good", "good"].map { .string($0) })
    #expect(anchors[1]["by_m"] == .array([.number(5), .number(0), .number(0)]))
  }

  private func change(_ side: ZoneChange.Side, count: Int) -> ZoneChange {
    ZoneChange(
      tag: "T", zone: "dock", side: side, happened: 1, happenedDeviation: .infinity, count: count)
  }

  private func list(_ fed: FedService) throws -> JSONValue {
    var service = fed.service
    return try JSONValue(try #require(service.list(more: false).first))
  }

  private func first(_ name: String, _ fed: FedService) throws -> JSONValue {
    guard case .array(let values)? = try list(fed)[name] else { throw SinkFailure(name) }
    return try #require(values.first)
  }

  private func tag(_ name: String, _ fed: FedService) throws -> JSONValue {
    guard case .array(let tags)? = try list(fed)["tags"] else { throw SinkFailure("no tags") }
    return try #require(tags.first { $0["tag"] == .string(name) })
  }

  @Test("Places have the numbers that run prints, and all keys are in the interface")
  func keys() throws {
    var random = SplitMix64(seed: 5)
    var fed = try fed()
    for _ in 0..<500 {
      func number(_ size: Double) -> Double { Double.random(in: -size...size, using: &random) }
      var place = FedService.place(number(1e4), at: number(1e6))
      place.position.z = number(1e-3)
      place.velocity = [number(10), number(0.001), 0]
      place.spread.xx = abs(number(1e3))
      place.spread.xy = number(1e-7)
      fed.add(.place(tag: "T", place, floor: "0"))
      let event = SiteEvent(number: 1, decided: 0, kind: .place(tag: "T", place, floor: "0"))
      let served = try JSONValue(fed.service.text(of: 0))
      guard case .object(let members) = event.json else { throw SinkFailure("no object") }
      for member in members { #expect(served[member.name] == member.value) }
    }
    fed.add(
      .zone(change(.left(dwell: 2), count: 0)), .lost(tag: "T", since: 1, zones: []),
      .door(DoorChange(tag: "T", door: "D", kind: .unlocks, happened: 1, outside: 1)),
      .source("a", .interrupted(reason: "cable", retryAfter: 1)), .siteChanged,
      .bad(source: "a", "line 1"),
      .unknownBoard("0x01"), .anchorMoved(anchor: "A1", time: 0, by: .zero))
    var reader = fed.service.reader(after: 0, run: nil)
    let reply = try #require(WatchReply(fed.service.next(&reader)))
    let list = try list(fed)
    for value in reply.events + reply.places + [list, fed.service.info] { expectKeys(value) }
  }

  /// Expects all names of members in the description of the interface.
  private func expectKeys(_ value: JSONValue) {
    switch value {
    case .object(let members):
      for member in members {
        let isField = SiteCalls.description.contains("  \(member.name): ")
        #expect(isField, "\(member.name)")
        expectKeys(member.value)
      }
    case .array(let values): for value in values { expectKeys(value) }
    default: break
    }
  }
}
