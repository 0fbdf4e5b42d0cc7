// SPDX-License-Identifier: Apache-2.0

import SiteScenarios
import Testing

@testable import UWBSite

@Suite("Values of a survey")
struct SurveyValueTests {
  // MARK: motions

  static let points: [SIMD2<Double>] = [[0, 0], [4, 1], [2, 5], [-3, 2]]

  @Test(
    "The nearest motion is the one that moved the points", arguments: [false, true],
    [0.0, 0.7, 2.9, -1.4])
  func motion(_ isMirrored: Bool, _ angle: Double) {
    var known = RigidMotion()
    (known.isMirrored, known.cosine, known.sine) = (isMirrored, Math.cos(angle), Math.sin(angle))
    known.shift = [3, -2]
    let found = RigidMotion.nearest(from: Self.points, to: Self.points.map(known.callAsFunction))
    #expect(found.isMirrored == isMirrored)
    for point in Self.points + [[10, -7]] {
      #expect((found(point) - known(point)).length < 1e-9)
    }
  }

  @Test("Points without weight do not move the others")
  func weights() {
    var targets = Self.points.map { $0 + [1, 1] }
    targets[3] = [100, 50]
    let found = RigidMotion.nearest(from: Self.points, to: targets, weights: [1, 1, 1, 0])
    #expect((found(Self.points[0]) - [1, 1]).length < 1e-9)
  }

  // MARK: descent

  @Test("A descent ends in the minimum of a bent valley", arguments: [-1.2, 0.5, 3])
  func descent(_ start: Double) {
    // Rosenbrock's function as two residuals.
    func residuals(_ p: SIMD2<Double>) -> SIMD2<Double> { [10 * (p.y - p.x * p.x), 1 - p.x] }
    func cost(_ p: SIMD2<Double>) -> Double { residuals(p).lengthSquared }
    var descent = Descent<SIMD2<Double>>(from: [start, 1], cost: cost([start, 1]))
    descent.follow(steps: 200, cost: cost) { p in
      let (r, x) = (residuals(p), Matrix(diagonal: [0, 0]))
      var matrix = x
      let rows: [SIMD2<Double>] = [[-20 * p.x, 10], [-1, 0]]
      var slope = SIMD2<Double>.zero
      for (row, residual) in [(rows[0], r.x), (rows[1], r.y)] {
        slope -= row * residual
        matrix[0, 0] += row.x * row.x
        matrix[0, 1] += row.x * row.y
        matrix[1, 0] += row.x * row.y
        matrix[1, 1] += row.y * row.y
      }
      return { damping in
        var damped = matrix
        for index in 0..<2 { damped[index, index] *= 1 + damping }
        return Cholesky(damped).map { factor in
          let step = factor.solve([slope.x, slope.y])
          return p + SIMD2(step[0], step[1])
        }
      }
    }
    #expect((descent.state - [1, 1]).length < 0.1)
    #expect(descent.cost < 0.01)
  }

  @Test("Equations without a solution leave the state as it is")
  func noSolution() {
    var descent = Descent(from: 3.0, cost: 9)
    descent.follow(steps: 5, cost: { $0 * $0 }, { _ in { _ in nil } })
    #expect(descent.state == 3 && descent.cost == 9)
  }

  // MARK: loss

  @Test(
    "The weight of a loss is its derivative over the one of squares",
    arguments: [SurveyModel.Loss.squares, .oneSided], [-0.6, -0.1, -0.02, 0.03, 0.1, 0.4, 2])
  func weight(_ loss: SurveyModel.Loss, _ excess: Double) {
    var model = SurveyModel(anchors: [], pairs: [])
    model.loss = loss
    let (above, below) = (model.loss(excess + 1e-6, 0.05), model.loss(excess - 1e-6, 0.05))
    let derivative = (above.cost - below.cost) / 2e-6
    let weight = model.loss(excess, 0.05).weight
    #expect(abs(derivative - 2 * weight * excess / (0.05 * 0.05)) < 1e-3 * abs(derivative) + 1e-3)
  }

  @Test(
    "A range that is too long costs less than one that is too short", arguments: [0.15, 0.5, 2])
  func oneSided(_ excess: Double) {
    for loss in [SurveyModel.Loss.oneSided, .detours] {
      var model = SurveyModel(anchors: [], pairs: [])
      model.loss = loss
      #expect(model.loss(excess, 0.05).cost < model.loss(-excess, 0.05).cost)
    }
  }

  @Test(
    "A range that others control has a hidden excess only if its residual shows it",
    arguments: [(0.0, 0.0, 0.1), (0.3, 0.6, 1), (-0.2, 0, 0.2)])
  func hidden(_ residual: Double, _ least: Double, _ most: Double) {
    let sure = SurveyCovariance.hiddenExcess(
      residual: residual, weight: 1, variance: 0.0025, modelVariance: 0.0001)
    #expect((least...most).contains(sure.probability), "\(sure)")
    // If the model cannot check the range, the share from before the measurement remains.
    let open = SurveyCovariance.hiddenExcess(
      residual: 0, weight: 1, variance: 0.0025, modelVariance: 100)
    #expect(abs(open.probability - SurveyCovariance.blockedShare) < 0.1)
    #expect(open.square > 0.05)
  }

  // MARK: shapes that are left open

  /// Two groups of anchors, connected through a few ranges.
  static func bridge(_ links: [[Int]], seed: UInt64 = 1) -> SimulatedSurvey {
    let places: [SIMD2<Double>] = [
      [0, 0], [0, 6], [5, 0.5], [5, 6], [10, 0], [10, 6.5], [14, 3],
    ]
    var site = SurveyTests.site(places, .clean, seed: seed)
    site.ranges.pairs.removeAll { pair in
      let isAcross = pair.first < 4 && pair.second >= 4
      return isAcross && !links.contains([pair.first, pair.second])
    }
    return site
  }

  @Test("A measurement that decides on a fold is proposed", arguments: [1, 2, 3])
  func deciding(_ seed: UInt64) throws {
    // Anchors 4 to 6 reach only anchors 2 and 3 of the other group, and may be mirrored about the
    // line through anchors 2 and 3.
    let site = Self.bridge([[2, 4], [3, 4], [2, 5], [3, 5], [2, 6], [3, 6]], seed: seed)
    let survey = try Survey(site.ranges, anchors: site.anchors)
    let score = site.scores(of: survey.places)
    let isFolded = score.contains { $0.error > 1 }
    #expect(!isFolded || !survey.ambiguities.isEmpty)
    for next in survey.next {
      guard case .decides(let difference) = next.gain else { continue }
      #expect(difference > 0.3)
      #expect((next.first < 4) != (next.second < 4))
    }
  }

  @Test("All ranges leave nothing open, and the ellipses are small", arguments: [1, 2, 3, 4])
  func complete(_ seed: UInt64) throws {
    let all = (0..<4).flatMap { first in (4..<7).map { [first, $0] } }
    let site = Self.bridge(all, seed: seed)
    let survey = try Survey(site.ranges, anchors: site.anchors)
    #expect(survey.ambiguities.isEmpty)
    #expect(survey.places.allSatisfy { $0.ellipse.axes.major < 0.2 })
    #expect(site.scores(of: survey.places).allSatisfy { $0.error < 0.25 })
  }

  // MARK: sites

  @Test("Places of a survey, their deviations and their frame are written into the site")
  func written() throws {
    let site = SurveyTests.site()
    let survey = try Survey(site.ranges, anchors: site.anchors)
    var file = Site.empty
    file.update(with: survey)
    #expect(file.anchors.map(\.id) == survey.places.map(\.id))
    for (anchor, place) in zip(file.anchors, survey.places) {
      let written = try #require(anchor.place)
      #expect(written.position == SIMD3(place.position.x, place.position.y, place.height))
      #expect(abs(written.covariance.xx - place.ellipse.xx) < 1e-9)
      #expect(abs(written.covariance.xy - place.ellipse.xy) < 1e-9)
      #expect(abs(written.covariance.yy - place.ellipse.yy) < 1e-9)
      #expect(anchor.delay == place.delay)
    }
    #expect(file.gauge.kind == .shape)
    #expect(file.gauge.note != nil)
    let again = try Site(json: Array(file.json.utf8))
    #expect(again == file)
  }

  @Test(
    "The height of an anchor is from its place, from a tape, or the one of all",
    arguments: [("place", 2.0, 0.1), ("tape", 3, 0.05), ("nothing", 2.5, 0.3)])
  func height(_ source: String, _ height: Double, _ deviation: Double) {
    var anchor = Site.Anchor(named: "A")
    if source == "place" {
      anchor.place = Site.Place(position: [1, 2, 2], deviation: [0.5, 0.5, 0.1])
    }
    if source == "tape" { (anchor.height, anchor.heightDeviation) = (3, 0.05) }
    let known = SurveyAnchor(anchor, height: (2.5, 0.3))
    #expect(known.height == height && known.heightDeviation == deviation)
    #expect((known.rough != nil) == (source == "place"))
  }

  @Test(
    "A delay counts from a deviation of less than 10 cm on",
    arguments: [(0.0, 0.001), (0.04, 0.04), (0.15, 0.05)])
  func delay(_ stated: Double, _ used: Double) {
    var anchor = Site.Anchor(named: "A")
    (anchor.delay, anchor.delayDeviation) = (0.3, stated)
    let known = SurveyAnchor(anchor, height: (2.5, 0.3))
    #expect(known.delayDeviation == used)
    #expect(known.delay == (stated < 0.1 ? 0.3 : 0))
    var site = Site.empty
    site.anchors = [anchor]
    #expect(site.hasCalibratedDelays(["A"]) == (stated < 0.1))
    #expect(!site.hasCalibratedDelays(["B"]))
  }
}
