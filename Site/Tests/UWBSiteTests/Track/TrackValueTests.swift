// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import UWBSite

@Suite("Values of a track")
struct TrackValueTests {
  // MARK: spread

  @Test(
    "The axes of an ellipse do not depend on its direction",
    arguments: [(4.0, 1.0), (1, 1), (9, 0)], [0.0, 0.4, 1.2, 2.5])
  func axes(_ variances: (Double, Double), _ turn: Double) {
    let (c, s) = (Math.cos(turn), Math.sin(turn))
    var spread = Spread.zero
    spread.add([c, s, 0], variances.0)
    spread.add([-s, c, 0], variances.1)
    #expect(abs(spread.axes.long - variances.0) < 1e-9)
    #expect(abs(spread.axes.short - variances.1) < 1e-9)
  }

  @Test(
    "The circle of 95 of 100 lies between the one of a line and the one of a round ellipse",
    arguments: [(1.0, 0.0, 1.96), (1, 1, 2.448), (4, 1, 4.1), (0, 0, 0)])
  func circle(_ long: Double, _ short: Double, _ radius: Double) {
    let spread = Spread(xx: long, xy: 0, xz: 0, yy: short, yz: 0, zz: 1)
    #expect(abs(spread.r95 - radius) < 0.1)
  }

  @Test("An inverse times its matrix is 1; other matrices have none")
  func inverse() throws {
    let spread = Spread(xx: 2, xy: 0.3, xz: 0.1, yy: 1, yz: 0.2, zz: 1)
    let inverse = try #require(spread.inverse)
    for (axis, unit) in [SIMD3<Double>(1, 0, 0), [0, 1, 0], [0, 0, 1]].enumerated() {
      let back = spread.times(inverse.times(unit))
      for other in 0..<3 { #expect(abs(back[other] - (other == axis ? 1 : 0)) < 1e-12) }
    }
    let flat = Spread(xx: 1, xy: 1, xz: 0, yy: 1, yz: 0, zz: 1)
    let negative = Spread(xx: -1, xy: 0, xz: 0, yy: 1, yz: 0, zz: 1)
    let infinite = Spread(xx: .infinity, xy: 0, xz: 0, yy: 1, yz: 0, zz: 1)
    for spread in [Spread.zero, flat, negative, infinite] { #expect(spread.inverse == nil) }
  }

  // MARK: rhythm

  @Test(
    "The patience with a tag is twelve intervals, and from a second to ten minutes",
    arguments: [(0.01, 1.0), (0.1, 1.2), (1, 12), (5, 60), (100, 600)])
  func patience(_ interval: Double, _ seconds: Double) {
    var rhythm = Rhythm()
    for _ in 0..<200 { rhythm.add(interval) }
    #expect(abs(rhythm.patience - seconds) < 0.05 * seconds)
  }

  @Test("One gap hardly changes an interval", arguments: [1.0, 60, 1e6])
  func gap(_ seconds: Double) {
    var rhythm = Rhythm()
    for _ in 0..<50 { rhythm.add(0.1) }
    rhythm.add(seconds)
    #expect(rhythm.interval < 0.13)
  }

  // MARK: recent measurements

  @Test("A repeated measurement is recognised among the last sixteen")
  func repeated() {
    var recent = RecentMeasurements()
    let all = (0..<300).map { number in
      TagMeasurement(time: Double(number) / 10, .range(anchor: number % 3), 5 + Double(number))
    }
    for (number, one) in all.enumerated() {
      #expect(!recent.contains(one))
      recent.add(one)
      #expect(recent.contains(one))
      if number >= 15 { #expect(recent.contains(all[number - 15])) }
      if number >= 16 { #expect(!recent.contains(all[number - 16])) }
    }
  }

  @Test(
    "Another time, value or anchor is another measurement",
    arguments: [
      TagMeasurement(time: 1.01, .range(anchor: 1), 5),
      TagMeasurement(time: 1, .range(anchor: 2), 5),
      TagMeasurement(time: 1, .range(anchor: 1), 5.0001),
      TagMeasurement(time: 1, .azimuth(anchor: 1), 5),
    ])
  func other(_ measurement: TagMeasurement) {
    var recent = RecentMeasurements()
    recent.add(TagMeasurement(time: 1, .range(anchor: 1), 5))
    #expect(!recent.contains(measurement))
  }

  @Test("A window has its measurements in the order of their times")
  func window() {
    var recent = RecentMeasurements()
    for number in 0..<200 {
      // Every second measurement is late.
      let time = Double(number) / 10 - (number % 2 == 0 ? 0 : 0.25)
      recent.add(TagMeasurement(time: time, .range(anchor: 0), Double(number)))
    }
    let window = recent.since(15, before: 18)
    #expect(window.count == 30)
    #expect(window.allSatisfy { (15..<18).contains($0.time) })
    #expect(zip(window, window.dropFirst()).allSatisfy { $0.time <= $1.time })
  }

  // MARK: noise

  @Test(
    "The learned factor follows the innovations, and keeps the part that they do not show",
    arguments: [(0.0, 0.2), (0.98, 1), (1.96, 1.8), (100, 3.4)])
  func noise(_ normalised: Double, _ factor: Double) {
    var noise = LearnedNoise()
    #expect(abs(noise.factor - 1) < 1e-9)
    for _ in 0..<2000 {
      noise.add(normalised)
      noise.fade(0.1)
    }
    #expect(abs(noise.factor - factor) < 0.15, "\(noise.factor)")
    noise.fade(1e6)
    #expect(abs(noise.factor - 1) < 0.05)
  }

  // MARK: first places

  private func candidates(
    _ anchors: [SIMD3<Double>], at place: SIMD3<Double>, _ height: TagTrack.Height
  ) -> [TrackStart.Candidate] {
    let scene = TrackScene(anchors)
    let ranges = anchors.enumerated().map { index, anchor in
      TagMeasurement(time: 0, .range(anchor: index), (place - anchor).length, deviation: 0.1)
    }
    return TrackStart(ranges, scene.anchors, height, TagTrack.Errors()).candidates()
  }

  @Test(
    "Ranges to anchors in four corners have one place",
    arguments: [SIMD3<Double>(3, 5, 1), [9, 1, 1], [5, 4, 1], [-6, 2, 1], [14, 14, 1]])
  func single(_ place: SIMD3<Double>) throws {
    let found = candidates(TrackScene.corners, at: place, .fixed(1))
    #expect(found.count == 1)
    let first = try #require(found.first)
    #expect((first.position - place).length < 0.1)
  }

  @Test(
    "Anchors in a line, and two anchors, leave a mirror image",
    arguments: [[[0, 0, 2], [4, 0, 2], [9, 0, 2]], [[0, 0, 2], [8, 0, 2]]] as [[SIMD3<Double>]])
  func mirrored(_ anchors: [SIMD3<Double>]) {
    let found = candidates(anchors, at: [3, 4, 1], .fixed(1))
    #expect(found.count == 2)
    for side in [4.0, -4] {
      #expect(found.contains { ($0.position - [3, side, 1]).length < 0.1 })
    }
  }

  @Test("Fewer ranges than coordinates have no place")
  func tooFew() {
    #expect(candidates([[0, 0, 2]], at: [3, 4, 1], .fixed(1)).isEmpty)
    #expect(candidates([[0, 0, 2], [8, 0, 2]], at: [3, 4, 1], .free).isEmpty)
  }

  // MARK: measurements

  @Test(
    "Gradients are the derivatives of the expected values",
    arguments: [
      TagMeasurement.Kind.range(anchor: 1), .difference(0, 2), .azimuth(anchor: 3),
      .elevation(anchor: 0),
    ], [SIMD3<Double>(3, 5, 1), [-4, 12, 2], [9.5, 0.2, 0.3]])
  func gradients(_ kind: TagMeasurement.Kind, _ place: SIMD3<Double>) {
    let anchors = TrackScene().anchors
    let one = TagMeasurement(time: 0, kind, 0)
    let gradient = one.expected(at: place, anchors).gradient
    for axis in 0..<3 {
      var step = SIMD3<Double>.zero
      step[axis] = 1e-6
      let difference =
        one.expected(at: place + step, anchors).value
        - one.expected(at: place - step, anchors).value
      #expect(abs(difference / 2e-6 - gradient[axis]) < 1e-5)
    }
  }

  @Test(
    "A step of time divides into shorter ones",
    arguments: [MotionModel.rest, .walk, .vehicle, .glide, .drone],
    [TagTrack.Height.free, .fixed(1), .within(0...2)])
  func steps(_ model: MotionModel, _ height: TagTrack.Height) {
    func filter() -> JointFilter {
      var filter = JointFilter(slots: 4)
      let spread = Spread(xx: 2, xy: 0.3, xz: 0, yy: 1, yz: 0, zz: 0.5)
      filter.restart([1, 2, 3], spread, speed: [1, 0.5, 0.2])
      filter.begin(slot: 2, constant: 0.01, slow: 0.02)
      return filter
    }
    var (one, two) = (filter(), filter())
    one.advance(MotionStep(model, 0.5, height: height, slow: (0.02, 2)))
    for part in [0.2, 0.3] {
      two.advance(MotionStep(model, part, height: height, slow: (0.02, 2)))
    }
    #expect((one.position - two.position).length < 1e-9)
    for state in [0, 1, 2, 3, 4, 5, 12, 13] {
      let (a, b) = (one.covariance(state, state), two.covariance(state, state))
      #expect(abs(a - b) < 1e-3 * max(abs(a), 1e-3), "\(state): \(a) \(b)")
    }
  }
}
