// SPDX-License-Identifier: Apache-2.0

import Testing
import UWBSite

@testable import SiteServer

@Suite struct PresenceTests {
  private let collector = Collector()

  /// Runs rounds at 10 Hz; a tag reaches some anchors from a place.
  private func run(
    _ site: String, seconds: Double,
    _ round: (Double) -> [(tag: String, place: SIMD3<Double>, anchors: [String: SIMD3<Double>])]
  ) throws {
    var loop = try SiteLoop(
      SiteRun(try SiteScene(site).site, sources: ["a"], isLive: true, epoch: 0),
      sinks: [collector])
    for step in 0..<Int(seconds * 10) {
      let time = Double(step) / 10
      for (tag, place, anchors) in round(time) {
        for (name, anchor) in anchors.sorted(by: { $0.key < $1.key }) {
          loop.add(
            .measurement(SiteScene.range(at: time, tag, name, place - anchor)), from: 0,
            arrival: time)
        }
      }
      try loop.turn(now: time, isComplete: true)
    }
  }

  private static func text(_ anchors: [String: SIMD3<Double>], floor: String? = nil) -> String {
    anchors.sorted { $0.key < $1.key }.map { name, place in
      let storey = floor.map { ", \"floor\": \"\($0)\"" } ?? ""
      return "{\"id\": \"\(name)\", \"position_m\": [\(place.x), \(place.y), \(place.z)], "
        + "\"position_sd_m\": [0.01, 0.01, 0.01]\(storey)}"
    }.joined(separator: ", ")
  }

  // MARK: doors

  private static let doorAnchors: [String: SIMD3<Double>] = [
    "in": [5, 0.2, 1.2], "out": [5, -0.2, 1.2], "A": [0, -6, 2.5], "B": [10, -6, 2.5],
    "C": [5, 6, 2.5],
  ]

  private func door(seconds: Double, _ y: @escaping (Double) -> Double) throws -> [DoorChange] {
    let site = """
      {"version": 1, "gauge": {"kind": "measured"}, "anchors": [\(Self.text(Self.doorAnchors))],
       "tags": [{"id": "T", "height_m": 1.2}], "doors": [{"id": "gate", "ends_m": [[4.5, 0], [5.5, 0]],
       "inside_anchor": "in", "outside_anchor": "out"}]}
      """
    try run(site, seconds: seconds) { [("T", [5, y($0), 1.2], Self.doorAnchors)] }
    return collector.events.compactMap {
      if case .door(let change) = $0.kind { change } else { nil }
    }
  }

  @Test("A tag that comes nearer from outside unlocks the door, with its side before")
  func unlocks() throws {
    let changes = try door(seconds: 5) { min(-0.8, -5 + 1.2 * $0) }
    #expect(changes.map(\.kind) == [.outside, .unlocks])
    #expect(changes.allSatisfy { $0.tag == "T" && $0.door == "gate" && $0.outside > 0.999 })
    // The tag is 1.5 m away from the door after 2.9 s.
    #expect(changes.last.map { $0.happened > 2.8 && $0.happened < 3.6 } == true)
  }

  @Test("A tag inside never unlocks the door, however near it comes")
  func inside() throws {
    let changes = try door(seconds: 5) { max(0.8, 5 - 1.2 * $0) }
    #expect(changes.map(\.kind) == [.inside])
    #expect(changes.first.map { $0.outside < 0.001 } == true)
  }

  @Test("A door without boards that have places is not watched")
  func withoutBoards() throws {
    let scene = try SiteScene()
    var site = scene.site
    site.doors = try SiteScene(
      """
      {"version": 1, "gauge": {"kind": "measured"},
       "doors": [{"id": "gate", "ends_m": [[4.5, 0], [5.5, 0]]}]}
      """
    ).site.doors
    #expect(site.doors.count == 1)
    #expect(DoorPair(site.doors[0], Engine(site)) == nil)
  }

  // MARK: floors

  private static let ground: [String: SIMD3<Double>] = [
    "g0": [0, 0, 2.5], "g1": [10, 0, 2.5], "g2": [10, 8, 2.5], "g3": [0, 8, 2.5],
  ]
  private static let upper: [String: SIMD3<Double>] = [
    "u0": [0, 0, 6.5], "u1": [10, 0, 6.5], "u2": [10, 8, 6.5], "u3": [0, 8, 6.5],
  ]

  @Test("The anchors that a tag reaches decide on its floor, and its zones are on this floor")
  func floors() throws {
    let site = """
      {"version": 1, "gauge": {"kind": "measured"},
       "floors": [{"id": "ground", "height_m": 0}, {"id": "upper", "height_m": 4}],
       "anchors": [\(Self.text(Self.ground, floor: "ground")),
         \(Self.text(Self.upper, floor: "upper"))],
       "tags": [{"id": "T", "height_m": 1}, {"id": "U", "height_m": 5}],
       "zones": [{"id": "office", "floor": "upper", "polygon_m": [[1, 1], [9, 1], [9, 7], [1, 7]]}]}
      """
    try run(site, seconds: 20) { _ in
      [("T", [5, 4, 1], Self.ground), ("U", [5, 4, 5], Self.upper)]
    }
    var floors: [String: String] = [:]
    for case .floor(let tag, let change) in collector.events.map(\.kind) {
      #expect(change.from == nil && change.decided >= change.happened + 3)
      floors[tag] = change.to
    }
    #expect(floors == ["T": "ground", "U": "upper"])
    var last: [String: String?] = [:]
    for case .place(let tag, _, let floor) in collector.events.map(\.kind) { last[tag] = floor }
    #expect(last == ["T": "ground", "U": "upper"])
    // Before its floor was decided, a tag may be in a zone of any floor.
    var inside: Set<String> = []
    for zone in collector.zones {
      if zone.side == .entered { inside.insert(zone.tag) } else { inside.remove(zone.tag) }
    }
    #expect(inside == ["U"])
  }
}
