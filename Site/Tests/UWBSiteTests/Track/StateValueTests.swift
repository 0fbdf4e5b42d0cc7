// SPDX-License-Identifier: Apache-2.0

import FoundationEssentials
import SiteScenarios
import Testing

@testable import UWBSite

/// The values of a state, whole and with other sizes.
@Suite struct StateValueTests {
  /// Returns a value after it was written and read, with changes of its text.
  private func copy<Value: Codable>(
    _ value: Value, replacing old: String = "", with new: String = ""
  ) throws -> Value {
    let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
    encoder.outputFormatting = .sortedKeys
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    var text = String(decoding: try encoder.encode(value), as: UTF8.self)
    if !old.isEmpty {
      try #require(text.contains(old))
      text = text.replacing(old, with: new)
    }
    return try decoder.decode(Value.self, from: Data(text.utf8))
  }

  /// Returns the state of an engine that has followed two tags.
  private func engine(_ scene: inout TrackScene, rounds: Int = 30) -> Engine {
    var engine = scene.engine
    for number in 0..<rounds {
      for tag in 0..<2 {
        for one in scene.round(Double(number) / 10, at: [3, 4 + Double(tag), 1]) {
          engine.add(one, tag: tag)
        }
      }
      engine.drain { _ in }
    }
    return engine
  }

  @Test("An engine continues its state with the same places")
  func engines() throws {
    var scene = TrackScene()
    var first = engine(&scene)
    var second = scene.engine
    let copied = try copy(first.state)
    let isResumed = second.resume(copied)
    #expect(isResumed)
    #expect(second.newest == first.newest)
    var places: [[Engine.Event]] = [[], []]
    for one in scene.round(3, at: [3, 4, 1]) {
      first.add(one, tag: 0)
      second.add(one, tag: 0)
    }
    first.drain { places[0].append($0) }
    second.drain { places[1].append($0) }
    #expect(places[0] == places[1] && places[0].count == 1)
  }

  @Test("A state of other anchors, tags or times is refused, and the engine stays as it was")
  func others() throws {
    var scene = TrackScene()
    let state = engine(&scene).state
    var fewer = TrackScene(Array(TrackScene.corners.prefix(3))).engine
    let fitsFewer = fewer.resume(state)
    #expect(!fitsFewer)
    var another = Engine(
      tags: [Engine.Tag("one", height: .fixed(1))], anchors: scene.engine.anchors)
    let fitsAnother = another.resume(state)
    #expect(!fitsAnother)
    var same = scene.engine
    for (old, new) in [
      (#""newest":2.9"#, #""newest":1e300"#), (#""anchor":3"#, #""anchor":4"#),
      (#""room":4"#, #""room":400"#), (#""balance":0"#, #""balance":-1"#),
      (#""next":120"#, #""next":121"#),
    ] {
      let changed = try copy(state, replacing: old, with: new)
      let fitsChanged = same.resume(changed)
      #expect(!fitsChanged, "\(new)")
    }
    #expect(same.newest == -.infinity)
    let fitsSame = same.resume(state)
    #expect(fitsSame)
  }

  @Test("A track has the carrier and the height of its site")
  func carriers() throws {
    var scene = TrackScene()
    let state = engine(&scene).state
    let fixed = [
      Engine.Tag("one", carrier: .fixed, height: .fixed(1)),
      Engine.Tag("two", carrier: .drone, height: .free),
    ]
    // The filters of a person have two models, and the filters of a fixed tag have one model.
    var other = Engine(tags: fixed, anchors: scene.engine.anchors)
    let fitsOther = other.resume(state)
    #expect(!fitsOther)
  }

  @Test("A filter whose covariance has another size is refused")
  func filters() throws {
    var filter = JointFilter(slots: 4)
    filter.restart([1, 2, 3], Spread(xx: 4, xy: 0, xz: 0, yy: 5, yz: 0, zz: 6), speed: [1, 1, 1])
    filter.begin(slot: 3, constant: 0.01, slow: 0.02)
    let same = try copy(filter)
    #expect(same.position == filter.position && same.spread == filter.spread)
    #expect(same.covariance(14, 14) == 0.01 && same.hasRoom(for: 4) && !same.hasRoom(for: 5))
    let row = "[0,0,0,0,0,0,0,0],"
    #expect(throws: DecodingError.self) { try copy(filter, replacing: row, with: "") }
    #expect(throws: DecodingError.self) { try copy(JointFilter(slots: 17)) }
    #expect(throws: DecodingError.self) { try copy(filter, replacing: "[0,0,", with: "[0,") }
  }

  @Test("A floor continues, and one that the site does not have is refused")
  func floors() throws {
    let floors = [Site.Floor(id: "g", height: 0), Site.Floor(id: "u", height: 4)]
    var filter = FloorFilter(floors)
    for time in 0..<10 {
      let evidence = FloorEvidence(anchors: [.init(floor: "u", isReached: true)])
      _ = filter.update(at: Double(time), evidence, connection: 0)
    }
    #expect(filter.floor == "u")
    let fresh = FloorFilter(floors)
    let copied = try copy(filter)
    let resumed = try #require(fresh.resumed(copied))
    #expect(resumed.floor == "u" && resumed.probability(of: "u") == filter.probability(of: "u"))
    #expect(FloorFilter([floors[0]]).resumed(filter) == nil)
    let another = try copy(filter, replacing: #""decided":1"#, with: #""decided":2"#)
    #expect(fresh.resumed(another) == nil)
  }

  @Test("A tag in a zone stays there, and a state of other zones is refused")
  func zones() throws {
    let tests = ZoneMonitorTests()
    var monitor = ZoneMonitor([ZoneMonitorTests.hall])
    let entered = tests.walk(&monitor, from: -3, to: 5)
    #expect(entered.count == 1)
    var next = ZoneMonitor([ZoneMonitorTests.hall])
    let copied = try copy(monitor.state)
    let isResumed = next.resume(copied)
    #expect(isResumed)
    #expect(next.tags(in: "hall") == ["tag"])
    let (rest, same) = (
      tests.walk(&monitor, from: 5, to: -3, start: 20),
      tests.walk(&next, from: 5, to: -3, start: 20)
    )
    #expect(rest == same && rest.count == 1)
    var other = ZoneMonitor([ZoneMonitorTests.hall, ZoneMonitorTests.desk])
    let fitsOther = other.resume(monitor.state)
    #expect(!fitsOther && other.count(in: "hall") == 0)
  }

  @Test("The rounds at a door go on after half of them")
  func doors() throws {
    let tests = DoorTests()
    let places = tests.places(from: 4, to: 0.5)
    var whole = DoorWatch(separation: 0.4)
    let all = tests.rounds(&whole, from: 0, xs: places)
    var first = DoorWatch(separation: 0.4)
    let half = places.count - 6
    let before = tests.rounds(&first, from: 0, xs: Array(places.prefix(half)))
    var second = DoorWatch(separation: 0.4).resumed(try copy(first))
    let after = tests.rounds(&second, from: Double(half) / 10, xs: Array(places.dropFirst(half)))
    #expect(before + after == all && all.contains(true))
    #expect(second.state.side == whole.state.side)
  }
}
