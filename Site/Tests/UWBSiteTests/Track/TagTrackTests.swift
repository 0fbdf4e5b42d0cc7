// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import UWBSite

@Suite struct TagTrackTests {
  @Test("A resting tag is where its ranges say, and its deviation covers the errors")
  func rest() throws {
    var scene = TrackScene()
    var track = TagTrack(.person, .fixed(1))
    scene.follow(&track, rounds: 40) { _ in [3, 5, 1] }
    let place = try track.place()
    #expect((place.position - [3, 5, 1]).length < 0.15)
    #expect(place.r95 > 0.05 && place.r95 < 0.5)
    #expect(place.motion == .rest)
  }

  @Test("A walking tag is followed with its velocity")
  func walk() throws {
    var scene = TrackScene()
    var track = TagTrack(.person, .fixed(1))
    let end = scene.follow(&track, rounds: 50) { [2 + $0, 4, 1] }
    let place = try track.place()
    #expect((place.position - [2 + end, 4, 1]).length < 0.3)
    #expect(abs(place.velocity.x - 1) < 0.3)
    #expect(place.motion == .walk)
  }

  @Test("A tag that walks across, far from its anchors, is not taken for one at rest")
  func across() {
    // Stated deviations are several times the noise, as is usual without a calibration.
    var scene = TrackScene([[2.6, 0.9, 2], [2.6, -0.9, 2], [2.6, -0.9, 0.5], [0.7, 0.9, 0.5]])
    scene.noise = 0.02
    var track = TagTrack(.person, .fixed(1))
    var (inside, count, squares) = (0, 0, 0.0)
    for number in 0..<900 {
      let time = Double(number) / 10
      // It turns every 15 s, and rests before it does.
      let part = (time / 15).truncatingRemainder(dividingBy: 2)
      let way = min(1, 1.2 * (part < 1 ? part : 2 - part))
      let truth: SIMD3<Double> = [28, 16 * way - 8, 1]
      for (anchor, var one) in scene.round(time, at: truth).enumerated() {
        one.deviation = 0.15
        one.value += 0.06 * Math.sin(time / 2 + 2 * Double(anchor))
        _ = track.add(one, scene.anchors)
      }
      guard number > 100, let place = track.answer().place else { continue }
      let error = (place.position - truth).length
      (count, squares) = (count + 1, squares + error * error)
      inside += error <= place.r95 ? 1 : 0
    }
    let rms = (squares / Double(max(1, count))).squareRoot()
    #expect(count > 700 && rms < 1.4, "\(rms) of \(count)")
    #expect(Double(inside) >= 0.75 * Double(count), "\(inside) of \(count)")
  }

  @Test("Ranges along a blocked path hardly move the place")
  func blocked() throws {
    var scene = TrackScene(TrackScene.corners + [[5, 0, 2.5]])
    var track = TagTrack(.person, .fixed(1))
    scene.follow(&track, rounds: 30) { _ in [3, 5, 1] }
    for number in 30..<50 {
      for var one in scene.round(Double(number) / 10, at: [3, 5, 1]) {
        if one.kind == .range(anchor: 1) { one.value += 2 }
        let reception = track.add(one, scene.anchors)
        #expect(reception.kind == (one.kind == .range(anchor: 1) ? .rejected : .used))
      }
    }
    let place = try track.place()
    #expect((place.position - [3, 5, 1]).length < 0.2)
  }

  @Test("A place with a mirror image is refused until the measurements decide")
  func mirror() throws {
    var line = TrackScene([[0, 0, 2], [4, 0, 2], [9, 0, 2]])
    var track = TagTrack(.person, .fixed(1))
    line.follow(&track, rounds: 20) { _ in [3, 5, 1] }
    let answer = track.answer()
    guard case .refused(.ambiguous(let other), let place) = answer else {
      Issue.record("\(answer)")
      return
    }
    #expect(abs(other.y + place.position.y) < 0.5)
    line.anchors.append(TagTrack.Anchor([4, 9, 2]))
    line.follow(&track, from: 2, rounds: 30) { _ in [3, 5, 1] }
    let decided = try track.place()
    #expect((decided.position - [3, 5, 1]).length < 0.3)
  }

  @Test(
    "Far from the anchors, the deviation across grows, and a place without a direction is refused")
  func outside() throws {
    var scene = TrackScene([[0, 0, 2], [1, 0, 2], [1, 1, 2], [0, 1, 2]])
    var track = TagTrack(.person, .fixed(1))
    scene.follow(&track, rounds: 30) { _ in [8, 2, 1] }
    let near = try track.place()
    #expect(near.spread.axes.long > 10 * near.spread.axes.short)
    #expect((near.position - [8, 2, 1]).length < near.r95)
    var far = TagTrack(.person, .fixed(1))
    scene.follow(&far, rounds: 30) { _ in [80, 20, 1] }
    let answer = far.answer()
    #expect(answer.place == nil)
  }

  @Test("Late measurements are used, later and repeated ones are not")
  func lateness() throws {
    var scene = TrackScene()
    var track = TagTrack(.person, .fixed(1))
    scene.follow(&track, rounds: 30) { [2 + $0, 4, 1] }
    let (next, after) = (scene.round(3, at: [5, 4, 1]), scene.round(3.1, at: [5.1, 4, 1]))
    let first = next.map { track.add($0, scene.anchors).kind }
    #expect(first == [.used, .used, .used, .used])
    let last = after.map { track.add($0, scene.anchors).kind }
    #expect(last == [.used, .used, .used, .used])
    let repeated = next.map { track.add($0, scene.anchors).kind }
    #expect(repeated == [.repeated, .repeated, .repeated, .repeated])
    let late = track.add(scene.round(2.95, at: [4.95, 4, 1])[0], scene.anchors)
    #expect(late.kind == .used)
    let later = track.add(scene.round(2.4, at: [4.4, 4, 1])[0], scene.anchors)
    #expect(later.kind == .late)
    let place = try track.place()
    #expect(place.time == 3.1)
    #expect((place.position - [5.1, 4, 1]).length < 0.3)
  }

  @Test("A tag is lost after twelve intervals, at least a second")
  func lost() throws {
    var scene = TrackScene()
    var fast = TagTrack(.person, .fixed(1))
    let end = scene.follow(&fast, rounds: 60) { _ in [3, 5, 1] }
    #expect(abs(fast.lostFrom - end - 1.2) < 0.1)
    var slow = TagTrack(.person, .fixed(1))
    for number in 0..<8 {
      for one in scene.round(5 * Double(number), at: [3, 5, 1]) { _ = slow.add(one, scene.anchors) }
    }
    #expect(abs(slow.lostFrom - 35 - 60) < 1)
    let place = try slow.place()
    #expect(place.r95 < 3)
  }

  @Test("A tag that was carried away in silence is found again")
  func silence() throws {
    var scene = TrackScene()
    var track = TagTrack(.person, .fixed(1))
    scene.follow(&track, rounds: 20) { _ in [3, 5, 1] }
    scene.follow(&track, from: 100, rounds: 20) { _ in [8, 2, 1] }
    let place = try track.place()
    #expect((place.position - [8, 2, 1]).length < 0.3)
  }

  @Test("Differences of ranges and directions lead to the place as well")
  func otherKinds() throws {
    let scene = TrackScene()
    let place: SIMD3<Double> = [3, 5, 1]
    func range(_ index: Int) -> Double { (place - scene.anchors[index].position).length }
    var differences = TagTrack(.person, .fixed(1))
    var directions = TagTrack(.person, .fixed(1))
    for number in 0..<20 {
      let time = Double(number) / 10
      for index in 1..<4 {
        let one = TagMeasurement(time: time, .difference(0, index), range(index) - range(0))
        _ = differences.add(one, scene.anchors)
      }
      let arm = place - scene.anchors[0].position
      _ = directions.add(
        TagMeasurement(
          time: time, .azimuth(anchor: 0), Math.atan2(arm.y, arm.x), deviation: 0.05),
        scene.anchors)
      _ = directions.add(TagMeasurement(time: time, .range(anchor: 0), range(0)), scene.anchors)
    }
    for var track in [differences, directions] {
      let found = try track.place()
      #expect((found.position - place).length < 0.2)
    }
  }

  @Test("Anchors beyond sixteen take the place of the one that was silent longest")
  func manyAnchors() throws {
    let places = (0..<20).map { SIMD3<Double>(Double($0) * 2, $0 % 2 == 0 ? 0 : 6, 2.5) }
    var scene = TrackScene(places)
    var track = TagTrack(.person, .fixed(1))
    scene.follow(&track, rounds: 6) { [10 + $0, 3, 1] }
    let place = try track.place()
    #expect((place.position - [10.5, 3, 1]).length < 0.3)
  }

  @Test("Measurements that cannot be used are refused")
  func unusable() {
    let scene = TrackScene()
    var track = TagTrack(.person, .fixed(1))
    let cases: [(TagMeasurement.Kind, Double, Double)] = [
      (.range(anchor: 9), 1, 0.1), (.range(anchor: -1), 1, 0.1),
      (.range(anchor: 0), .nan, 0.1), (.range(anchor: 0), -2, 0.1), (.range(anchor: 0), 1, 0),
      (.difference(1, 1), 0, 0.1), (.odometry(turn: .infinity), 0, 0.1),
    ]
    for (kind, value, deviation) in cases {
      let one = TagMeasurement(time: 0, kind, value, deviation: deviation)
      let reception = track.add(one, scene.anchors)
      #expect(reception.kind == .unusable)
    }
    let timeless = track.add(TagMeasurement(time: .nan, .range(anchor: 0), 1), scene.anchors)
    #expect(timeless.kind == .unusable)
    let answer = track.answer()
    #expect(answer == .searching)
  }

  @Test("Another floor moves the height of a tag")
  func floor() throws {
    var scene = TrackScene()
    var track = TagTrack(.person, .fixed(1))
    scene.follow(&track, rounds: 20) { _ in [3, 5, 1] }
    track.set(height: .fixed(4))
    let place = try track.place()
    #expect(abs(place.position.z - 4) < 0.1)
  }

  @Test("Odometry turns the velocity")
  func odometry() throws {
    var scene = TrackScene()
    var track = TagTrack(.vehicle, .fixed(1))
    // A circle of 2 m at 1 m/s.
    func place(_ time: Double) -> SIMD3<Double> {
      [5 + 2 * Math.cos(time / 2), 4 + 2 * Math.sin(time / 2), 1]
    }
    for number in 0..<60 {
      let time = Double(number) / 10
      _ = track.add(
        TagMeasurement(time: time, .odometry(turn: 0.5), 1, deviation: 0.03), scene.anchors)
      for one in scene.round(time, at: place(time)) { _ = track.add(one, scene.anchors) }
    }
    let found = try track.place()
    #expect((found.position - place(5.9)).length < 0.25)
    #expect(abs(found.velocity.length - 1) < 0.15)
  }
}
