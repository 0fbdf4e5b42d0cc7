// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
@testable import UWBSite

@testable import SiteServer

@Suite("A site that changes during its run") struct SiteChangeTests {
  private let collector = Collector()

  private func loop(_ site: Site) throws -> SiteLoop {
    try SiteLoop(SiteRun(site, sources: ["a"], isLive: true, epoch: 1000), sinks: [collector])
  }

  /// Runs rounds at 10 Hz of a tag at rest, with the ranges of the true anchors.
  private func rest(
    _ loop: inout SiteLoop, from start: Double, seconds: Double, _ place: SIMD3<Double>,
    tag: String = "T"
  ) throws {
    for number in 0..<Int(10 * seconds) {
      let time = start + Double(number) / 10
      for item in SiteScene.round(at: time, place, tag: tag) {
        loop.add(item, from: 0, arrival: time)
      }
      try loop.turn(now: time, isComplete: true)
    }
  }

  private var kinds: [SiteEvent.Kind] {
    collector.events.map(\.kind).filter {
      switch $0 {
      case .place: false
      default: true
      }
    }
  }

  @Test("A new zone holds from the change on, and the track goes on as sure as before")
  func newZone() throws {
    var site = try SiteScene().site
    var loop = try loop(site)
    try rest(&loop, from: 0, seconds: 5, [3, 5, 1])
    let before = try #require(collector.places.last)
    site.zones.append(Site.Zone(id: "desk", corners: [[1, 3], [4.5, 3], [4.5, 7], [1, 7]]))
    try loop.replace(site, now: 5)
    try loop.replace(site, now: 5)
    try rest(&loop, from: 5, seconds: 3, [3, 5, 1])
    #expect(kinds.filter { $0 == .siteChanged }.count == 1)
    #expect(collector.zones.map(\.zone) == ["desk"])
    let after = try #require(collector.places.first { $0.time >= 5 })
    #expect(after.r95 < 1.05 * before.r95 && abs(after.position.x - 3) < 0.1)
    #expect(collector.places.filter { $0.time >= 5 }.count == 30)
  }

  @Test("An anchor that gets its right place in the file no longer spoils the places")
  func movedAnchor() throws {
    let site = try SiteScene().site
    var wrong = site
    wrong.anchors[3].place?.position = [3, 8, 3]
    var loop = try loop(wrong)
    try rest(&loop, from: 0, seconds: 5, [3, 5, 1])
    try loop.replace(site, now: 5)
    try rest(&loop, from: 5, seconds: 10, [3, 5, 1])
    let last = try #require(collector.places.last)
    #expect(abs(last.position.x - 3) < 0.1 && abs(last.position.y - 5) < 0.1)
    #expect(last.time > 14.8)
  }

  @Test("Tags keep their tracks and zones under other numbers, and tags that are gone leave zones")
  func otherTags() throws {
    var site = try SiteScene().site
    var loop = try loop(site)
    for tag in ["T", "U"] { try rest(&loop, from: 0, seconds: 5, [7, 4, 1], tag: tag) }
    #expect(collector.zones.map(\.count) == [1, 2])
    let old = try #require(site.tags.first { $0.id == "T" })
    site.tags = [Site.Tag(id: "V"), old]
    try loop.replace(site, now: 5)
    let left = try #require(collector.zones.last)
    #expect((left.tag, left.count) == ("U", 1))
    guard case .left(let dwell) = left.side else { throw SinkFailure("\(left)") }
    #expect(abs(dwell - 5) < 1)
    try rest(&loop, from: 5, seconds: 5, [7, 4, 1])
    try rest(&loop, from: 5, seconds: 1, [7, 4, 1], tag: "U")
    #expect(collector.zones.count == 3)
    #expect(kinds.contains(.unknownBoard("U")))
    let named = collector.events.filter { event in
      if case .place("T", let place, _) = event.kind { place.time >= 5 } else { false }
    }
    #expect(named.count == 50)
  }

  @Test("A zone that is gone ends with its dwell; one with another edge is left at that edge")
  func otherEdge() throws {
    var site = try SiteScene().site
    var loop = try loop(site)
    try rest(&loop, from: 0, seconds: 5, [7, 4, 1])
    site.zones[0].shape = .polygon([[8.5, 1], [9.5, 1], [9.5, 7], [8.5, 7]])
    try loop.replace(site, now: 5)
    #expect(collector.zones.count == 1)
    try rest(&loop, from: 5, seconds: 5, [7, 4, 1])
    try #require(collector.zones.count == 2)
    #expect(collector.zones[1].count == 0 && collector.zones[1].happened > 5)
    site.zones[0].shape = .polygon([[5, 1], [9.5, 1], [9.5, 7], [5, 7]])
    try loop.replace(site, now: 10)
    try rest(&loop, from: 10, seconds: 5, [7, 4, 1])
    #expect(collector.zones.count == 3)
    site.zones = []
    try loop.replace(site, now: 15)
    let last = try #require(collector.zones.last)
    #expect((collector.zones.count, last.count, last.happened) == (4, 0, 15))
  }

  @Test("A lost tag is found again after a change, and other heights hold at once")
  func heights() throws {
    var site = try SiteScene().site
    var loop = try loop(site)
    try rest(&loop, from: 0, seconds: 5, [3, 5, 1])
    try loop.turn(now: 8, isComplete: true)
    site.tags[0].height = .known(2)
    try loop.replace(site, now: 8)
    try rest(&loop, from: 8, seconds: 5, [3, 5, 2])
    #expect(kinds.contains(.found(tag: "T", at: 8)))
    let last = try #require(collector.places.last)
    #expect(abs(last.position.z - 2) < 0.1 && abs(last.position.x - 3) < 0.1)
  }

  @Test("A file is read when it was the same in two looks, and its problems have their field")
  func watch() throws {
    let path = NSTemporaryDirectory() + UUID().uuidString + ".json"
    defer { try? FileManager.default.removeItem(atPath: path) }
    func write(_ text: String) throws {
      try text.write(toFile: path, atomically: true, encoding: .utf8)
    }
    try write(SiteScene.text)
    var watch = SiteFileWatch(path)
    #expect(watch.look() == nil && watch.look() == nil)
    try write(SiteScene.text + " ")
    #expect(watch.look() == nil)
    #expect(watch.look() == .site(try SiteScene().site))
    #expect(watch.look() == nil)
    // An editor is writing: each look finds another length.
    for length in [10, 20, 30] {
      try write(String(SiteScene.text.prefix(length)))
      #expect(watch.look() == nil)
    }
    try write(#"{"version": 1, "gauge": {"kind": "measured"}, "tags": [{"id": 1}]}"#)
    #expect(watch.look() == nil)
    guard case .refused(path, let problems)? = watch.look() else { throw SinkFailure("accepted") }
    #expect(problems.count == 1 && problems[0].hasPrefix("tags[0].id: "))
    try FileManager.default.removeItem(atPath: path)
    #expect(watch.look() == nil && watch.look() == nil)
  }

  @Test("A refused file is reported, and the former site holds")
  func refused() throws {
    var loop = try loop(SiteScene().site)
    try rest(&loop, from: 0, seconds: 2, [3, 5, 1])
    try loop.add(.refused(file: "site.json", ["tags[0].id: is missing"]), now: 2)
    try rest(&loop, from: 2, seconds: 2, [3, 5, 1])
    let sentence = "tags[0].id: is missing; the former site holds"
    #expect(kinds == [.bad(source: "site.json", sentence)])
    #expect(collector.places.filter { $0.time >= 2 }.count == 20)
  }

  @Test("A service continues with the state of tags, anchors and zones that stay")
  func service() throws {
    var site = try SiteScene().site
    let run = SiteRun(site, sources: ["a"], isLive: true, epoch: 0)
    var service = SiteService(run, run: "r")
    var batch = SiteBatch()
    let place = TagPlace(
      time: 1, position: [6, 4, 1], velocity: .zero,
      spread: Spread(xx: 0.01, xy: 0, xz: 0, yy: 0.01, yz: 0, zz: 0.01), motion: .rest, moving: 0)
    let change = ZoneChange(
      tag: "T", zone: "dock", side: .entered, happened: 1, happenedDeviation: 1, count: 1)
    let kinds: [SiteEvent.Kind] = [
      .place(tag: "T", place, floor: nil), .zone(change),
      .anchorMoved(anchor: "A1", time: 1, by: [1, 0, 0]),
      .anchorMoved(anchor: "A2", time: 1, by: [1, 0, 0]),
    ]
    batch.events = kinds.map { SiteEvent(number: 1, decided: 1, kind: $0) }
    service.add(batch)
    var reader = service.reader(after: nil, run: nil, tags: ["T"])
    _ = service.next(&reader)
    site.tags.insert(Site.Tag(id: "V"), at: 0)
    site.anchors[2].place?.position = [10, 9, 2.5]
    service.change(SiteRun(site, sources: ["a"], isLive: true, epoch: 0))
    #expect(service.tags.map(\.name) == ["V", "T", "U"])
    #expect(service.tags[1].presence == .present && service.tags[1].zones == ["dock"])
    #expect(service.counts["dock"] == 1)
    #expect(service.anchors.map(\.state) == ["good", "moved", "good", "good"])
    batch.events = [SiteEvent(number: 2, decided: 2, kind: kinds[0])]
    service.add(batch)
    let reply = service.next(&reader) ?? []
    #expect(String(decoding: reply, as: UTF8.self).contains(#""tag":"T","number":2"#))
  }
}
