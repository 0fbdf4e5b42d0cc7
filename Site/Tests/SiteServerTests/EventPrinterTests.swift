// SPDX-License-Identifier: Apache-2.0

import Testing
import UWBSite

@testable import SiteServer

@Suite struct EventPrinterTests {
  private final class Lines {
    var output = ""
    var reports: [String] = []
  }

  private static let place: TagPlace = {
    var loop = Engine(
      tags: [Engine.Tag("T", height: .fixed(1))],
      anchors: SiteScene.anchors.enumerated().map {
        Engine.Anchor("A\($0)", TagTrack.Anchor($1))
      })
    var found: TagPlace?
    for round in 0..<20 {
      for item in SiteScene.round(at: Double(round) / 10, [3, 5, 1]) {
        if case .measurement(let line) = item { _ = loop.add(line) }
      }
      loop.drain { if case .place(_, let place) = $0 { found = place } }
    }
    guard let found else { preconditionFailure() }
    return found
  }()

  private static let zone = ZoneChange(
    tag: "T", zone: "dock", side: .left(dwell: 61.25), happened: 3, happenedDeviation: 0.1, count: 2
  )
  private static let floor: FloorFilter.Change? = {
    let site = try? SiteScene(
      """
      {"version": 1, "gauge": {"kind": "shape"},
       "floors": [{"id": "g", "height_m": 0}, {"id": "u", "height_m": 4}]}
      """
    ).site
    var filter = FloorFilter(site?.floors ?? [])
    let evidence = FloorEvidence(anchors: (0..<4).map { _ in .init(floor: "u", isReached: true) })
    for second in 0..<10 {
      if let change = filter.update(at: Double(second), evidence, connection: 0) { return change }
    }
    return nil
  }()

  private func print(_ kinds: [SiteEvent.Kind], _ format: EventPrinter.Format) throws -> Lines {
    let lines = Lines()
    let printer = EventPrinter(format) {
      lines.output += $0
    } report: {
      lines.reports.append($0)
    }
    let site = try SiteScene().site
    printer.begin(SiteRun(site, sources: ["a"], isLive: true, epoch: 0))
    var batch = SiteBatch()
    batch.events = kinds.enumerated().map { SiteEvent(number: $0 + 1, decided: 4, kind: $1) }
    try printer.receive(batch)
    return lines
  }

  @Test("Each event has a line of text")
  func text() throws {
    let lines = try print(
      [
        .zone(Self.zone), .lost(tag: "T", since: 2.5, zones: ["dock", "hall"]),
        .lost(tag: "U", since: 2.5, zones: []), .found(tag: "T", at: 9),
        .door(DoorChange(tag: "T", door: "gate", kind: .unlocks, happened: 3.5, outside: 1)),
        .floor(tag: "T", try #require(Self.floor)), .unknownBoard("0x0009"),
        .anchorMoved(anchor: "A1", time: 60, by: [3, 4, 0]),
        .anchorDoubtful(anchor: "A1", time: 60),
        .anchorRestored(anchor: "A1", time: 99), .clockSet(source: "a", by: -3600),
        .source("a", .connected(identity: nil)), .bad(source: "a", "line 1: t: is missing"),
      ], .text)
    #expect(
      lines.output == """
                 3  T  left dock after 61.3 s (2 tags)
               2.5  T  lost: no measurement since, last in dock, hall
               2.5  U  lost: no measurement since
                 9  T  found
               3.5  T  unlocks door gate
                 0  T  floor u
        the board 0x0009 is not in the site file
                60  anchor A1 is not at its place: it seems to have moved by 5 m
                60  anchor A1: its ranges do not fit its place
                99  anchor A1 fits its place again
        the clock of a was set by -3600 s

        """)
    #expect(lines.reports == ["a: connected", "a: line 1: t: is missing"])
  }

  @Test("Each event is an object of JSON with its keys")
  func json() throws {
    let lines = try print(
      [
        .zone(Self.zone), .lost(tag: "T", since: 2.5, zones: ["dock"]),
        .door(DoorChange(tag: "T", door: "gate", kind: .outside, happened: 3.5, outside: 0.9999)),
        .source("a", .interrupted(reason: "gone.", retryAfter: 0.5)),
        .source("a", .ended(reason: nil)), .bad(source: "a", "x"),
        .clockSet(source: "a", by: -3600),
      ], .json)
    #expect(
      lines.output == """
        {"t": 3, "t_sd_s": 0.1, "decided": 4, "tag": "T", "event": "left", "dwell_s": 61.25, \
        "zone": "dock", "count": 2}
        {"t": 2.5, "decided": 4, "tag": "T", "event": "lost", "zones": ["dock"]}
        {"t": 3.5, "decided": 4, "tag": "T", "event": "outside", "door": "gate", \
        "outside_probability": 0.9999}
        {"event": "source_interrupted", "source": "a", "reason": "gone.", "retry_after_s": 0.5}
        {"event": "source_ended", "source": "a"}
        {"event": "clock_set", "source": "a", "by_s": -3600}

        """)
    #expect(
      lines.reports == ["a: gone; the next attempt follows in 0.5 s", "a: x"])
  }

  @Test("A place has its covariance and its floor; a refused one is a line once")
  func places() throws {
    let kinds: [SiteEvent.Kind] = [
      .place(tag: "T", Self.place, floor: "g"), .refused(tag: "T", .uncertain, Self.place),
      .refused(tag: "T", .uncertain, Self.place), .place(tag: "T", Self.place, floor: nil),
      .refused(tag: "T", .ambiguous(or: [1, 2, 3]), Self.place),
    ]
    let text = try print(kinds, .text).output.split(separator: "\n")
    #expect(text.count == 4)
    #expect(text[0].hasSuffix("rest  g") && text[2].hasSuffix("rest"))
    #expect(text[3].contains("no place: a second place at 1.0, 2.0 is likely, too"))
    let json = try print(kinds, .json).output.split(separator: "\n")
    #expect(json.count == 5)
    let first = try JSONValue(Array(json[0].utf8))
    #expect(first["floor"] == .string("g"))
    guard case .array(let spread)? = first["covariance_m2"] else {
      Issue.record("\(first)")
      return
    }
    #expect(spread.count == 6)
    #expect(try JSONValue(Array(json[1].utf8))["refused"] == .string("uncertain"))
  }
}
