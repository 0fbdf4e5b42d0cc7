// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import UWBSite

@Suite struct EngineTests {
  /// Adds a round of both tags, and returns the events.
  private func step(
    _ engine: inout Engine, _ scene: inout TrackScene, _ time: Double, shift: Double = 0,
    moved: SIMD3<Double> = .zero
  ) -> [Engine.Event] {
    for tag in 0..<2 {
      // Both tags walk on circles.
      let angle = time / 3 + Double(tag) * 2
      let place: SIMD3<Double> = [5 + 3 * Math.cos(angle), 4 + 3 * Math.sin(angle), 1]
      for var one in scene.round(time + shift, at: place) {
        if one.kind == .range(anchor: 2) {
          one.value = (place - scene.anchors[2].position - moved).length
        }
        engine.add(one, tag: tag)
      }
    }
    var events: [Engine.Event] = []
    engine.drain { events.append($0) }
    return events
  }

  @Test("Each round has a place of each tag")
  func places() {
    var scene = TrackScene()
    var engine = scene.engine
    var count = [0, 0]
    for number in 0..<20 {
      for event in step(&engine, &scene, Double(number) / 10) {
        if case .place(let tag, let place) = event {
          count[tag] += 1
          #expect(place.r95 < 2)
        }
      }
    }
    #expect(count[0] >= 12 && count[1] == count[0])
    #expect(engine.counters.used > 100)
  }

  @Test("Names and addresses lead to tags and anchors; an unknown one is an event once")
  func addresses() {
    var engine = TrackScene().engine
    #expect(engine.node("one") == .tag(0))
    #expect(engine.node("01:03") == .tag(1))
    #expect(engine.node("0x0a02") == .anchor(2))
    #expect(engine.node("99") == nil)
    #expect(engine.node("99") == nil)
    var events: [Engine.Event] = []
    engine.drain { events.append($0) }
    #expect(events == [.unknown(address: "99")])
    #expect(engine.counters.unknown == 2)
    for number in 0..<3000 { _ = engine.node("x\(number)") }
    var count = 0
    engine.drain { _ in count += 1 }
    #expect(count == 999)
  }

  @Test(
    "A height above one of several floors is a range in the frame of the site",
    arguments: [
      (
        TagTrack.Height.fixed(1, deviation: 0.2), 0.0...0.0,
        TagTrack.Height.fixed(1, deviation: 0.2)
      ),
      (.fixed(1, deviation: 0.2), 4...4, .fixed(5, deviation: 0.2)),
      (.fixed(1), 0...4, .within(1...5)), (.within(0.5...1.5), 4...4, .within(4.5...5.5)),
      (.within(0.5...1.5), -3...4, .within(-2.5...5.5)), (.free, 0...8, .free),
    ])
  func heights(
    _ own: TagTrack.Height, _ surfaces: ClosedRange<Double>, _ expected: TagTrack.Height
  ) {
    #expect(own.raised(by: surfaces) == expected)
  }

  @Test("The height of a tag follows its floor", arguments: [0.0, 4])
  func floor(_ surface: Double) throws {
    var scene = TrackScene(TrackScene.corners.map { $0 + [0, 0, surface] })
    var engine = Engine(
      tags: [Engine.Tag("one", height: .fixed(1))],
      anchors: scene.anchors.enumerated().map { Engine.Anchor("A\($0)", $1) }, surfaces: 0...4)
    var heights: [Double] = []
    for number in 0..<40 {
      if number == 20 { engine.set(surface: surface, ofTag: 0) }
      for one in scene.round(Double(number) / 10, at: [3, 5, 1 + surface]) {
        engine.add(one, tag: 0)
      }
      engine.drain { if case .place(_, let place) = $0 { heights.append(place.position.z) } }
    }
    let last = try #require(heights.last)
    #expect(heights.count > 20 && abs(last - 1 - surface) < 0.1)
  }

  @Test("A silent tag is lost once, and present again with its next measurement")
  func lost() {
    var scene = TrackScene()
    var engine = scene.engine
    for number in 0..<15 { _ = step(&engine, &scene, Double(number) / 10) }
    var events: [Engine.Event] = []
    engine.drain(now: 2) { events.append($0) }
    #expect(events.isEmpty)
    engine.drain(now: 4) { events.append($0) }
    #expect(events == [.lost(tag: 0, since: 1.4), .lost(tag: 1, since: 1.4)])
    engine.drain(now: 5) { events.append($0) }
    #expect(events.count == 2)
    let again = step(&engine, &scene, 6)
    #expect(again.contains { if case .place = $0 { true } else { false } })
  }

  @Test("An anchor that was moved by 5 m is named within a minute, and no other one")
  func movedAnchor() throws {
    var scene = TrackScene(TrackScene.corners + [[5, 0, 2.5], [5, 8, 3]])
    var engine = scene.engine
    for number in 0..<30 { _ = step(&engine, &scene, Double(number) / 5) }
    var found: [(Int, Double, SIMD3<Double>)] = []
    for number in 30..<330 {
      for event in step(&engine, &scene, Double(number) / 5, moved: [-4, -3, 0]) {
        if case .anchorMoved(let anchor, let time, let by) = event {
          found.append((anchor, time, by))
        }
      }
    }
    try #require(found.count == 1)
    #expect(found[0].0 == 2)
    #expect(found[0].1 < 66)
    // The residuals are linear in small displacements only.
    #expect((found[0].2 - [-4, -3, 0]).length < 3)
  }

  @Test("Three anchors do not show which one has moved: none is named, and the deviations hold")
  func contradiction() {
    var scene = TrackScene([[0, 0, 2.5], [10, 0, 3], [5, 8, 2.7]])
    var engine = scene.engine
    var (names, inside, count, refused) = (0, 0, 0, 0)
    for number in 0..<500 {
      let time = Double(number) / 5
      for event in step(&engine, &scene, time, moved: number < 100 ? .zero : [-4, -3, 0]) {
        switch event {
        case .anchorMoved, .anchorDoubtful: names += 1
        case .refused where number >= 250: refused += 1
        case .place(let tag, let place) where number >= 250:
          let angle = time / 3 + Double(tag) * 2
          let error = place.position - [5 + 3 * Math.cos(angle), 4 + 3 * Math.sin(angle), 1]
          count += 1
          inside += (error.x * error.x + error.y * error.y).squareRoot() <= place.r95 ? 1 : 0
        default: break
        }
      }
    }
    #expect(names == 0 && count + refused == 500)
    #expect(Double(inside) >= 0.91 * Double(count), "\(inside) of \(count)")
  }

  @Test("A named anchor no longer moves tags, and is restored when it is back")
  func restoredAnchor() {
    var scene = TrackScene(TrackScene.corners + [[5, 0, 2.5], [5, 8, 3]])
    var engine = scene.engine
    var (names, errors): ([String], [Double]) = ([], [])
    for number in 0..<700 {
      let (time, isMoved) = (Double(number) / 5, 30..<330 ~= number)
      for event in step(&engine, &scene, time, moved: isMoved ? [-4, -3, 0] : .zero) {
        switch event {
        case .anchorMoved(let anchor, _, _): names.append("moved \(anchor)")
        case .anchorDoubtful(let anchor, _): names.append("doubtful \(anchor)")
        case .anchorRestored(let anchor, _): names.append("restored \(anchor)")
        case .place(let tag, let place) where 250..<330 ~= number:
          let angle = time / 3 + Double(tag) * 2
          let truth: SIMD3<Double> = [5 + 3 * Math.cos(angle), 4 + 3 * Math.sin(angle), 1]
          errors.append((place.position - truth).length)
        default: break
        }
      }
    }
    #expect(names == ["moved 2", "restored 2"])
    #expect(errors.count == 160 && (errors.max() ?? 9) < 0.35, "\(errors.max() ?? 9)")
  }

  @Test("A clock that is set back by an hour is an event, and the tags stay")
  func clock() {
    var scene = TrackScene()
    var engine = scene.engine
    for number in 0..<20 { _ = step(&engine, &scene, Double(number) / 10) }
    var events: [Engine.Event] = []
    for number in 20..<30 {
      events += step(&engine, &scene, Double(number) / 10, shift: -3600)
    }
    let changes = events.compactMap { event -> Double? in
      if case .clockSet(0, let by) = event { by } else { nil }
    }
    #expect(changes.count == 1)
    #expect(abs((changes.first ?? 0) + 3600) < 1)
    #expect(events.contains { if case .place = $0 { true } else { false } })
  }

  @Test("A source that floods with unusable measurements is counted")
  func flood() {
    var engine = TrackScene().engine
    for number in 0..<5000 {
      engine.add(
        TagMeasurement(time: .nan, .range(anchor: number), .infinity, deviation: -1), tag: 0)
      engine.add(TagMeasurement(time: 1, .range(anchor: number + 4), 1), tag: 1)
    }
    var count = 0
    engine.drain { _ in count += 1 }
    #expect(count == 0)
    #expect(engine.counters.late + engine.counters.unusable == 10_000)
  }
}

@Suite struct SourceClockTests {
  @Test("A recording keeps its own times, in any order")
  func recording() {
    var clock = SourceClock()
    #expect(clock.read(100, arrival: nil)?.time == 100)
    #expect(clock.read(1000, arrival: nil)?.time == 1000)
    #expect(clock.read(999.8, arrival: nil)?.time == 999.8)
  }

  @Test("Live times are moved by the least delay")
  func live() throws {
    var clock = SourceClock()
    #expect(clock.read(5, arrival: 1000.3)?.time == 1000.3)
    #expect(clock.read(6, arrival: 1001.1)?.time == 1001.1)
    let delayed = clock.read(7, arrival: 1002.5)
    let late = try #require(delayed?.time)
    #expect(abs(late - 1002.1) < 0.001)
  }

  @Test("One time far back is dropped; three that agree are a change of the clock")
  func change() throws {
    var clock = SourceClock()
    _ = clock.read(5000, arrival: nil)
    #expect(clock.read(1400, arrival: nil) == nil)
    #expect(clock.read(5001, arrival: nil)?.time == 5001)
    #expect(clock.read(1401, arrival: nil) == nil)
    #expect(clock.read(1401.1, arrival: nil) == nil)
    let changed = clock.read(1401.2, arrival: nil)
    let reading = try #require(changed)
    #expect(reading.change.map { abs($0 + 3600) < 1 } == true)
    #expect(abs(reading.time - 5001) < 1)
    #expect(clock.read(1401.3, arrival: nil)?.change == nil)
  }

  @Test("A clock that jumps forward is noticed where the engine has a clock")
  func forward() throws {
    var clock = SourceClock()
    _ = clock.read(0, arrival: 50)
    #expect(clock.read(3600, arrival: 50.1) == nil)
    #expect(clock.read(3600.1, arrival: 50.2) == nil)
    let changed = clock.read(3600.2, arrival: 50.3)
    let reading = try #require(changed)
    #expect(abs(reading.time - 50.3) < 0.01)
    // An hour of silence is not a change.
    #expect(clock.read(7200.2, arrival: 3650.3)?.change == nil)
  }
}
