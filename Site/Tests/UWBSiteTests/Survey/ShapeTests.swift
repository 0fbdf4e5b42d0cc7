// SPDX-License-Identifier: Apache-2.0

import SiteScenarios
import Testing

@testable import UWBSite

@Suite("Shapes of a survey")
struct ShapeTests {
  static func model(_ site: SimulatedSurvey) -> SurveyModel {
    SurveyModel(anchors: site.anchors, pairs: site.ranges.pairs)
  }

  /// A site whose ranges are exact.
  static func exact(_ places: [SIMD2<Double>] = SurveyTests.hall) -> SimulatedSurvey {
    var errors = SimulatedSurvey.Errors.clean
    errors.deviation = 1e-9
    return SurveyTests.site(places, errors)
  }

  @Test("Classical scaling of exact ranges is the shape itself")
  func scaling() {
    let site = Self.exact()
    let errors = site.errors(of: Self.model(site).classicalScaling())
    #expect(errors.allSatisfy { $0.length < 1e-3 })
  }

  @Test("The shortest path around a missing pair is not shorter than the pair", arguments: 0..<5)
  func paths(_ anchor: Int) {
    let site = Self.exact()
    var model = Self.model(site)
    model.pairs.removeAll { $0.first == anchor && $0.second == 5 }
    let paths = model.shortestPaths()
    let length = (site.positions[anchor] - site.positions[5]).length
    #expect(paths[anchor, 5] >= length - 1e-6)
    #expect(paths[anchor, 5] == paths[5, anchor])
    #expect(paths[anchor, anchor] == 0)
  }

  @Test("Majorisation lowers the stress", arguments: [0.5, 1, 3])
  func majorised(_ shake: Double) {
    let site = Self.exact()
    let model = Self.model(site)
    func stress(_ places: [SIMD2<Double>]) -> Double {
      model.pairs.reduce(0) { sum, pair in
        let length = (places[pair.first] - places[pair.second]).length
        return sum + (length - model.level(pair)) * (length - model.level(pair))
      }
    }
    var random = SeededNormal(seed: 4)
    let start = site.positions.map { $0 + shake * SIMD2(random.next(), random.next()) }
    #expect(stress(model.majorised(start)) < 0.01 * stress(start))
  }

  @Test("Groups without a range between them are islands, the largest first")
  func islands() {
    var model = Self.model(Self.exact())
    #expect(model.islands == [[0, 1, 2, 3, 4, 5]])
    model.pairs.removeAll { $0.has(1) != $0.has(4) || $0.has(3) }
    #expect(model.islands.map(\.count).reduce(0, +) == 6)
    #expect(model.islands.contains([1, 4]) && model.islands.contains([3]))
    model.pairs = []
    #expect(model.islands.count == 6)
  }

  @Test("A part that is mirrored twice is where it was, and its line stays")
  func mirrored() {
    let site = Self.exact()
    let parts = FoldSearch.parts(Self.model(site), site.positions)
    #expect(parts.count > 6)
    for part in parts {
      let once = part.mirrored(site.positions)
      let twice = part.mirrored(once)
      for index in site.positions.indices {
        #expect((twice[index] - site.positions[index]).length < 1e-9)
        if !part.anchors.contains(index) { #expect(once[index] == site.positions[index]) }
        let (before, after) = (site.positions[index] - part.point, once[index] - part.point)
        #expect(abs(before.dot(part.direction) - after.dot(part.direction)) < 1e-9)
      }
    }
  }

  @Test(
    "A fold that all ranges exclude is undone", arguments: 0..<6)
  func undone(_ anchor: Int) {
    let site = Self.exact()
    let model = Self.model(site)
    var start = SurveyState(site.positions)
    let middle = site.positions.reduce(.zero, +) / 6
    start.positions[anchor] = 2 * middle - start.positions[anchor]
    let links = LinkModel(model, measured: Set(model.pairs.map { [$0.first, $0.second] }))
    var search = FoldSearch(model, links: links, start: start)
    search.shake()
    search.run()
    search.decide()
    #expect(site.errors(of: search.best.state.positions).allSatisfy { $0.length < 0.05 })
    #expect(search.ambiguities().isEmpty)
    let probabilities = search.nearShapes().map(\.probability)
    #expect(probabilities.allSatisfy { (0...1).contains($0) } && probabilities.reduce(0, +) <= 1)
  }

  @Test("A shape whose information is not a number has no volume, and is not certain")
  func volume() throws {
    let site = Self.exact()
    let model = Self.model(site)
    let known = SurveyState(site.positions)
    #expect(try #require(SurveyCovariance.logDeterminant(model, known)).isFinite)
    var state = known
    state.positions[2].x = .nan
    #expect(SurveyCovariance.logDeterminant(model, state) == nil)
    let covariance = SurveyCovariance(model, state)
    #expect(covariance.unknowns[model.commonIndex, model.commonIndex] >= 1e5)
    let links = LinkModel(model, measured: Set(model.pairs.map { [$0.first, $0.second] }))
    #expect(FoldSearch(model, links: links, start: state).nearShapes().isEmpty)
  }

  @Test("Two exchanged anchors of a floor plan are named", arguments: [[0, 3], [1, 2], [2, 5]])
  func exchanged(_ pair: [Int]) throws {
    var site = Self.exact()
    for index in site.anchors.indices {
      site.anchors[index].rough = .init(site.positions[index], deviation: 0.5)
    }
    let first = site.anchors[pair[0]].rough
    site.anchors[pair[0]].rough = site.anchors[pair[1]].rough
    site.anchors[pair[1]].rough = first
    let survey = try Survey(site.ranges, anchors: site.anchors, gauge: .places)
    let found = try #require(survey.exchanged)
    #expect([found.first, found.second].sorted() == pair)
  }

  @Test(
    "Dropped ranges leave the variances of the others", arguments: [0, 7, 14])
  func dropped(_ index: Int) {
    let site = Self.exact()
    let model = Self.model(site)
    var other = model
    other.drop(index)
    #expect(other.pairs.count == model.pairs.count - 1)
    #expect(other.variances.count == other.pairs.count)
    #expect(!other.pairs.contains(model.pairs[index]))
  }
}
