// SPDX-License-Identifier: Apache-2.0

import SiteScenarios
import Testing

@testable import UWBSite

@Suite("Survey")
struct SurveyTests {
  /// Six anchors at the corners and the long sides of a hall.
  static let hall: [SIMD2<Double>] = [
    [0, 0], [10, 0.5], [20, 0], [20, 12], [10.5, 12], [0.3, 12.4],
  ]

  static func anchors(_ count: Int) -> [SurveyAnchor] {
    (0..<count).map { SurveyAnchor("A\($0)", height: 2.5 + 0.1 * Double($0 % 3)) }
  }

  static func site(
    _ positions: [SIMD2<Double>] = hall, _ errors: SimulatedSurvey.Errors = .clean, seed: UInt64 = 1
  ) -> SimulatedSurvey {
    var random = SeededNormal(seed: seed)
    return SimulatedSurvey(positions, anchors(positions.count), errors, 1, &random)
  }

  @Test("exact ranges give the exact shape from no start values")
  func exact() throws {
    var errors = SimulatedSurvey.Errors.clean
    errors.deviation = 1e-9
    let site = Self.site(Self.hall, errors)
    let survey = try Survey(site.ranges, anchors: site.anchors)
    #expect(site.errors(of: survey.places.map(\.position)).allSatisfy { $0.length < 0.02 })
    #expect(survey.ambiguities.isEmpty)
    #expect(survey.hasOpenMirror)
  }

  @Test("delays and blocked paths are found")
  func delaysAndBlocked() throws {
    var errors = SimulatedSurvey.Errors()
    errors.blockedShare = 0
    var site = Self.site(Self.hall, errors, seed: 3)
    let detour = try #require(site.ranges.pairs.firstIndex { $0.first == 1 && $0.second == 3 })
    site.ranges.pairs[detour].distance += 1.2
    let survey = try Survey(site.ranges, anchors: site.anchors)
    #expect(site.errors(of: survey.places.map(\.position)).allSatisfy { $0.length < 0.2 })
    #expect(abs(survey.commonDelay - 0.2) < 3 * survey.commonDelayDeviation)
    #expect(survey.commonDelayDeviation < 0.15)
    #expect(survey.blocked.map { [$0.pair.first, $0.pair.second] } == [[1, 3]])
    #expect(survey.disagreement == 1)
  }

  @Test("several blocked paths are not a disagreement of all ranges", arguments: [26, 30, 45])
  func severalBlocked(number: Int) throws {
    var random = SeededNormal(seed: 1)
    let sites = (0...number).map { _ in SimulatedSurvey(count: 8, random: &random) }
    let site = sites[number]
    let survey = try Survey(site.ranges, anchors: site.anchors)
    #expect(site.isBlocked.count { $0 } >= 4)
    #expect(survey.disagreement == 1)
    #expect(site.errors(of: survey.places.map(\.position)).allSatisfy { $0.length < 0.2 })
  }

  @Test(
    "one blocked path of an anchor with three ranges is found, reported or within the ellipse",
    arguments: 1...6, [0, 1, 3])
  func blockedWithFewRanges(_ seed: UInt64, _ neighbour: Int) throws {
    var site = Self.site(Self.hall, .clean, seed: seed)
    site.ranges.pairs.removeAll { $0.has(5) && $0.other(5) == 4 || $0.has(5) && $0.other(5) == 2 }
    let blocked = try #require(
      site.ranges.pairs.firstIndex { $0.has(5) && $0.other(5) == neighbour })
    site.ranges.pairs[blocked].distance += 1.2
    let survey = try Survey(site.ranges, anchors: site.anchors)
    let score = site.scores(of: survey.places)[5]
    #expect(
      score.error < 0.3 || score.squaredDeviations < 9
        || survey.ambiguities.contains { $0.anchors.contains(5) }, "\(score)")
  }

  @Test("a line through two anchors and a side hold the frame")
  func line() throws {
    let site = Self.site()
    let gauge = SurveyGauge.anchors(
      0, at: [5, 5], 2, at: [5, 25], side: .init(4, isLeft: false))
    let survey = try Survey(site.ranges, anchors: site.anchors, gauge: gauge)
    let places = survey.places.map(\.position)
    #expect((places[0] - [5, 5]).length < 1e-9)
    #expect(abs(places[2].x - 5) < 1e-9 && abs(places[2].y - 25) < 0.3)
    #expect(places[4].x > 15)
    #expect(!survey.hasOpenMirror)
    // The known anchor has no deviation, and anchor 2 has a deviation only along the line.
    #expect(survey.places[0].ellipse.axes.major < 1e-6)
    #expect(survey.places[2].ellipse.xx.squareRoot() < 1e-6)
    #expect((0.01...0.2).contains(survey.places[2].ellipse.yy.squareRoot()))
  }

  @Test("rough places hold the frame, and their deviation is in the result")
  func roughPlaces() throws {
    var site = Self.site()
    var random = SeededNormal(seed: 9)
    site.addRoughPlaces(error: 1, &random)
    let survey = try Survey(site.ranges, anchors: site.anchors, gauge: .places)
    let errors = zip(survey.places, site.positions).map { ($0.position - $1, $0.ellipse) }
    #expect(errors.allSatisfy { $0.length < 1 && $1.squaredDeviations($0) < 12 })
    #expect(errors.allSatisfy { (0.1...0.6).contains($1.axes.major) })
    // The shape of the survey is much surer than the place of the shape.
    #expect(site.errors(of: survey.places.map(\.position)).allSatisfy { $0.length < 0.15 })
  }

  @Test("two boards that were exchanged are named")
  func exchanged() throws {
    var site = Self.site()
    var random = SeededNormal(seed: 4)
    site.addRoughPlaces(error: 1, &random)
    let model = SurveyModel(anchors: site.anchors, pairs: site.ranges.pairs)
    #expect(ExchangedLabels(model) == nil)
    let place = site.anchors[1].rough
    site.anchors[1].rough = site.anchors[5].rough
    site.anchors[5].rough = place
    let survey = try Survey(site.ranges, anchors: site.anchors, gauge: .places)
    let exchanged = try #require(survey.exchanged)
    #expect(exchanged.first == 1 && exchanged.second == 5)
    #expect(SurveyReport(survey, site.ranges).text.contains("EXCHANGED? The rough places of A1"))
  }

  @Test("an anchor with two ranges may be mirrored, and one with one range turns")
  func open() throws {
    var site = Self.site()
    site.ranges.pairs.removeAll { $0.has(5) && ![0, 4].contains($0.other(5)) }
    let mirrored = try Survey(site.ranges, anchors: site.anchors)
    let ambiguity = try #require(mirrored.ambiguities.first)
    #expect(ambiguity.anchors == [5])
    #expect(ambiguity.kind == .mirror(0, 4))
    let next = try #require(mirrored.next.first)
    #expect([next.first, next.second].contains(5))
    site.ranges.pairs.removeAll { $0.first == 0 && $0.second == 5 }
    let free = try Survey(site.ranges, anchors: site.anchors)
    #expect(free.ambiguities.contains { $0.anchors == [5] && $0.kind == .hinge(4) })
    #expect(free.places[5].ellipse.axes.major > 5)
  }

  @Test("a wing that two anchors carry is reported as a fold")
  func fold() throws {
    // Anchors 3 to 5 have ranges to one another, and beyond them only to anchors 1 and 2.
    let wing: [SIMD2<Double>] = [
      [0, 0], [6, 0], [6, 5], [12, 1], [13, 6], [10, 3], [0, 5], [3, 7],
    ]
    var site = Self.site(wing)
    let beyond = [3, 4, 5]
    site.ranges.pairs.removeAll { pair in
      beyond.contains(pair.first) != beyond.contains(pair.second)
        && ![1, 2].contains(beyond.contains(pair.first) ? pair.second : pair.first)
    }
    let survey = try Survey(site.ranges, anchors: site.anchors)
    // Missing pairs speak against the fold, which lies upon the other anchors.
    let errors = site.errors(of: survey.places.map(\.position))
    #expect(errors.allSatisfy { $0.length < 0.3 } || !survey.ambiguities.isEmpty)
    let ignored = SurveyModel(anchors: site.anchors, pairs: site.ranges.pairs)
    let everything = Set((0..<8).flatMap { i in (0..<8).map { [i, $0] } })
    var search = FoldSearch(
      ignored, links: LinkModel(ignored, measured: everything), start: ignored.start())
    search.run()
    let found = try #require(search.ambiguities().first)
    #expect(found.anchors == beyond)
    #expect(found.kind == .mirror(1, 2))
  }

  /// Four anchors, and further ones beyond them.
  static let corner: [SIMD2<Double>] = [[0, 0], [6, 0], [6, 5], [0, 5]]

  @Test(
    "a group that shares one anchor with the others turns about it",
    arguments: [[[12, 6], [11, 11], [6.5, 10]], [[7, 10], [2, 11], [1, 7]]] as [[SIMD2<Double>]])
  func joint(_ group: [SIMD2<Double>]) throws {
    var site = Self.site(Self.corner + group)
    site.ranges.pairs.removeAll { $0.first < 4 && $0.first != 2 && $0.second >= 4 }
    let survey = try Survey(site.ranges, anchors: site.anchors)
    let found = try #require(survey.ambiguities.first { $0.kind == .hinge(2) })
    #expect(found.anchors == [4, 5, 6] || found.anchors == [0, 1, 3])
    #expect(survey.next.contains { ($0.first < 4) != ($0.second < 4) })
    let text = SurveyReport(survey, site.ranges).text
    #expect(text.contains(" may turn about A2 together."))
  }

  @Test("two groups with two ranges between them can shift, but not with four")
  func shifted() throws {
    var site = Self.site(Self.corner + [[16, 0], [21, 0], [21, 5], [16, 5]])
    site.ranges.pairs.removeAll {
      $0.first < 4 && $0.second >= 4
        && ![[1, 4], [2, 7], [1, 7], [2, 4]].contains([$0.first, $0.second])
    }
    let four = try Survey(site.ranges, anchors: site.anchors)
    #expect(four.ambiguities.isEmpty)
    site.ranges.pairs.removeAll { [[1, 7], [2, 4]].contains([$0.first, $0.second]) }
    let two = try Survey(site.ranges, anchors: site.anchors)
    let found = try #require(two.ambiguities.first)
    #expect(found.anchors == [4, 5, 6, 7] || found.anchors == [0, 1, 2, 3], "\(two.ambiguities)")
    #expect(found.kind == .shift)
    #expect(two.next.contains { $0.first < 4 && $0.second >= 4 })
    #expect(SurveyReport(two, site.ranges).text.contains("may shift together: too few ranges"))
  }

  @Test("anchors in a line move little across it, and are within their ellipses", arguments: 1...3)
  func inLine(_ seed: UInt64) throws {
    let site = Self.site((0..<6).map { SIMD2(5 * Double($0), 0) }, seed: seed)
    let survey = try Survey(site.ranges, anchors: site.anchors)
    // Across the line, each anchor has two places with the same ranges.
    #expect(survey.ambiguities.allSatisfy { $0.distance < 1.5 && $0.kind != .shift })
    let scores = site.scores(of: survey.places)
    #expect(scores.allSatisfy { $0.error < 1 && $0.squaredDeviations < 14 }, "\(scores)")
  }

  @Test("ranges that disagree raise the deviations")
  func disagreement() throws {
    var errors = SimulatedSurvey.Errors.clean
    errors.deviation = 0.2
    var site = Self.site(Self.hall + [[5, 6], [15, 7]], errors, seed: 5)
    for index in site.ranges.pairs.indices { site.ranges.pairs[index].deviation = 0.03 }
    let survey = try Survey(site.ranges, anchors: site.anchors)
    #expect(survey.disagreement > 2)
    let scores = site.scores(of: survey.places)
    #expect(scores.allSatisfy { $0.squaredDeviations < 14 })
  }

  @Test("a group that can turn about an anchor has ellipses for all angles")
  func hinge() throws {
    let places: [SIMD2<Double>] = [
      [0, 0], [8, 0], [8, 6], [0, 6], [20, 1], [28, 0], [29, 7], [21, 8],
    ]
    var site = Self.site(places)
    site.ranges.pairs.removeAll { $0.first < 4 && $0.second >= 4 && $0.first != 2 }
    let survey = try Survey(site.ranges, anchors: site.anchors)
    let hinge = try #require(survey.ambiguities.first)
    #expect(hinge.kind == .hinge(2) && hinge.anchors == [0, 1, 3])
    for anchor in hinge.anchors {
      let reach = (places[anchor] - places[2]).length
      let axes = survey.places[anchor].ellipse.axes
      // The root of a mean square of all angles, at least across the arm.
      #expect(axes.minor > 0.6 * reach && axes.major < 2 * reach, "\(axes) of \(reach)")
    }
  }

  @Test("a chain of anchors is as uncertain as its bends, and not ten times that", arguments: 1...4)
  func chain(_ seed: UInt64) throws {
    let places = (0..<8).map { SIMD2(10 * Double($0), 2 * Double($0 % 2)) }
    var site = Self.site(places, seed: seed)
    site.ranges.pairs.removeAll { $0.second - $0.first > 2 }
    let survey = try Survey(site.ranges, anchors: site.anchors)
    for (place, score) in zip(survey.places, site.scores(of: survey.places)) {
      #expect(score.squaredDeviations < 9, "\(place) \(score)")
      #expect(place.ellipse.axes.major < 15, "\(place.ellipse.axes)")
    }
    // The ends may be mirrored; the middle only bends.
    #expect(survey.places[3...4].allSatisfy { $0.ellipse.axes.major < 8 })
  }

  @Test("ellipses contain the shares that they state")
  func ellipses() throws {
    var random = SeededNormal(seed: 11)
    var within = (one: 0, two: 0, all: 0)
    for _ in 0..<4 {
      let site = SimulatedSurvey(count: 8, random: &random)
      let survey = try Survey(site.ranges, anchors: site.anchors)
      for score in site.scores(of: survey.places) {
        within.all += 1
        within.one += score.squaredDeviations < 2.28 ? 1 : 0
        within.two += score.squaredDeviations < 6.18 ? 1 : 0
      }
    }
    #expect(within.all == 32)
    #expect((16...30).contains(within.one))
    #expect(within.two >= 26)
  }

  @Test("a survey that cannot be computed names the reason")
  func errors() {
    var site = Self.site()
    #expect(throws: SurveyError.fewAnchors(2)) {
      let two = ["a", "b"].map { SurveyAnchor($0, height: 1) }
      return try Survey(PairRanges(names: ["a", "b"], pairs: []), anchors: two)
    }
    #expect(throws: SurveyError.fewRoughPlaces(0)) {
      try Survey(site.ranges, anchors: site.anchors, gauge: .places)
    }
    let gauge = SurveyGauge.anchors(0, at: .zero, 0, at: [1, 0])
    #expect(throws: SurveyError.gauge("A0")) {
      try Survey(site.ranges, anchors: site.anchors, gauge: gauge)
    }
    site.ranges.pairs.removeAll { ($0.first < 3) != ($0.second < 3) }
    #expect(throws: SurveyError.islands([["A0", "A1", "A2"], ["A3", "A4", "A5"]])) {
      try Survey(site.ranges, anchors: site.anchors)
    }
  }
}
