// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import UWBSite

@Suite("Frames, first places of a walk, and labels")
struct FrameTests {
  static let places: [SIMD2<Double>] = [[1, 2], [6, 3], [4, 8], [-2, 5]]

  // MARK: frames

  @Test(
    "A line holds its anchor, its direction and its side",
    arguments: [false, true], [0.0, 1.1, -2.4])
  func line(_ isLeft: Bool, _ heading: Double) {
    let gauge = SurveyGauge.line(
      .init(0, at: [10, -3], toward: 1, heading: heading, side: .init(2, isLeft: isLeft)))
    let moved = Self.places.map(gauge.motion(Self.places).callAsFunction)
    #expect((moved[0] - [10, -3]).length < 1e-9)
    let along = moved[1] - moved[0]
    #expect(abs((Math.atan2(along.y, along.x) - heading).remainder(dividingBy: 2 * .pi)) < 1e-9)
    #expect(((moved[2] - moved[0]).dot(along.normal) > 0) == isLeft)
    for (i, j) in [(0, 1), (1, 3), (2, 3)] {
      let before = (Self.places[i] - Self.places[j]).length
      #expect(abs((moved[i] - moved[j]).length - before) < 1e-9)
    }
  }

  @Test("Two known anchors are a line from one to the other")
  func twoAnchors() {
    let gauge = SurveyGauge.anchors(1, at: [0, 0], 3, at: [0, 4], side: .init(2, isLeft: false))
    let moved = Self.places.map(gauge.motion(Self.places).callAsFunction)
    #expect(moved[1].length < 1e-9)
    // The distance between both known anchors is the measured distance.
    #expect(abs(moved[3].x) < 1e-9 && abs(moved[3].y - Double(68).squareRoot()) < 1e-9)
    #expect(moved[2].x > 0)
  }

  @Test("A shape lies along x about its middle")
  func shape() {
    let moved = Self.places.map(SurveyGauge.shape.motion(Self.places).callAsFunction)
    let mean = moved.reduce(SIMD2<Double>.zero, +) / 4
    #expect(mean.length < 1e-9)
    let xx = moved.reduce(0) { $0 + $1.x * $1.x }
    let xy = moved.reduce(0) { $0 + $1.x * $1.y }
    let yy = moved.reduce(0) { $0 + $1.y * $1.y }
    #expect(xx > yy && abs(xy) < 1e-9)
  }

  @Test("Rough places are a frame of their own")
  func rough() {
    let motion = SurveyGauge.places.motion(Self.places)
    #expect(Self.places.allSatisfy { motion($0) == $0 })
    #expect(!SurveyGauge.places.leavesMirrorOpen)
    #expect(SurveyGauge.shape.leavesMirrorOpen)
  }

  @Test("The covariance in a line has no error of its anchor, and none across its direction")
  func covariance() {
    let gauge = SurveyGauge.anchors(0, at: [0, 0], 1, at: [5, 0], side: .init(2, isLeft: true))
    let moved = Self.places.map(gauge.motion(Self.places).callAsFunction)
    let change = gauge.transformation(moved)
    let covariance = change * Matrix.identity(8) * change.transposed
    for index in [0, 1, 3] { #expect(abs(covariance[index, index]) < 1e-9) }
    #expect(covariance[2, 2] > 1 && covariance[4, 4] > 1 && covariance[5, 5] > 1)
    // A motion or turn of the whole shape does not change the covariance on the line.
    for (direction, place) in [(SIMD2(1.0, 0.0), false), (SIMD2(0, 1), false), (.zero, true)] {
      let step = moved.flatMap { place ? [$0.normal.x, $0.normal.y] : [direction.x, direction.y] }
      #expect((change * step).allSatisfy { abs($0) < 1e-9 })
    }
  }

  @Test("A turn of the frame turns the ellipses", arguments: [0.3, 1.5, 2.9])
  func turned(_ angle: Double) {
    var motion = RigidMotion()
    (motion.cosine, motion.sine) = (Math.cos(angle), Math.sin(angle))
    let change = motion.transformation(count: 2)
    let turned = change * Matrix(diagonal: [4, 1, 9, 1]) * change.transposed
    let ellipse = PlaceEllipse(xx: turned[0, 0], xy: turned[0, 1], yy: turned[1, 1])
    #expect(abs(ellipse.axes.major - 2) < 1e-9 && abs(ellipse.axes.minor - 1) < 1e-9)
    let along = motion.turned([1, 0])
    #expect(abs(ellipse.squaredDeviations(along) - 0.25) < 1e-9)
    #expect(abs(ellipse.squaredDeviations(along.normal) - 1) < 1e-9)
  }

  // MARK: walks

  @Test("Squared distances lead to both sets of places, up to a motion", arguments: [3, 4, 6])
  func walkStart(_ count: Int) throws {
    let all: [SIMD2<Double>] = [[0, 0], [9, 1], [3, 8], [10, 9], [-2, 4], [5, 5]]
    let anchors = Array(all.prefix(count))
    let path = (0..<20).map { step -> SIMD2<Double> in
      let angle = Double(step) * 0.5
      return [4 + 3 * Math.cos(angle), 4 + 2 * Math.sin(2.3 * angle)]
    }
    let squares = path.map { place in anchors.map { (place - $0).lengthSquared } }
    let start = try #require(WalkStart(squares: squares))
    let motion = RigidMotion.nearest(from: start.anchors, to: anchors)
    for (found, anchor) in zip(start.anchors, anchors) {
      #expect((motion(found) - anchor).length < 1e-5)
    }
    for (found, place) in zip(start.places, path) { #expect((motion(found) - place).length < 1e-5) }
  }

  @Test("A path on a line, and few places, have no start", arguments: [5, 20])
  func noStart(_ count: Int) {
    let anchors: [SIMD2<Double>] = [[0, 0], [9, 1], [3, 8]]
    let path = (0..<count).map { SIMD2(Double($0), 2 * Double($0) + 1) }
    let squares = path.map { place in anchors.map { (place - $0).lengthSquared } }
    #expect(WalkStart(squares: squares) == nil)
  }

  // MARK: estimates

  @Test(
    "The longest deviation is the largest of all directions",
    arguments: [(1.0, 0.0, 4.0), (2, 1.2, 1), (3, -2, 2)])
  func largest(_ xx: Double, _ xy: Double, _ yy: Double) {
    let estimate = PlaneEstimate(mean: .zero, xx: xx, xy: xy, yy: yy)
    let deviations = (0..<180).map { degree in
      let angle = Double(degree) * .pi / 180
      return estimate.deviation(along: [Math.cos(angle), Math.sin(angle)])
    }
    #expect(abs((deviations.max() ?? 0) - estimate.largestDeviation) < 1e-3)
  }

  @Test(
    "Whitened points have the distance that the ellipse gives",
    arguments: [SIMD2<Double>(1, 0), [0, 1], [2, -3]])
  func whitened(_ step: SIMD2<Double>) {
    let estimate = PlaneEstimate(mean: [4, 5], xx: 2, xy: 0.7, yy: 1)
    let ellipse = PlaceEllipse(xx: 2, xy: 0.7, yy: 1)
    let point = estimate.whitened(estimate.mean + step)
    #expect(abs(point.lengthSquared - ellipse.squaredDeviations(step)) < 1e-9)
    #expect(estimate.whitened(estimate.mean).length < 1e-12)
  }

  // MARK: labels

  @Test("Labels of crowded points do not overlap, and stay in the drawing", arguments: [3, 6, 9])
  func labels(_ count: Int) {
    var placer = LabelPlacer(least: .zero, greatest: [200, 200])
    let points = (0..<count).map { number -> SIMD2<Double> in
      let (column, row) = (Double(number % 3), Double(number / 3))
      return [90 + 8 * column, 90 + 8 * row]
    }
    for point in points { placer.keepFree(point, radius: 2) }
    let ends = points.map { placer.place("A10", beside: $0, distance: 4, size: 8) }
    let width = 0.62 * 8 * 3
    for (index, end) in ends.enumerated() {
      #expect(end.x >= 0 && end.x + width <= 200 && end.y >= 6 && end.y <= 200)
      for other in ends[(index + 1)...] {
        let isApart = abs(end.x - other.x) >= width - 1e-9 || abs(end.y - other.y) >= 8 - 1e-9
        #expect(isApart || count > 6)
      }
    }
  }
}
