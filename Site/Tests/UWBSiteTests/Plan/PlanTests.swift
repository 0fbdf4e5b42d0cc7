// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import UWBSite

@Suite("Plan")
struct PlanTests {
  func request(_ anchors: Int, _ tags: Int, _ rate: Double) -> PlanRequest {
    PlanRequest(anchors: anchors, tags: tags, rate: rate)
  }

  func refusal(_ scheme: PlanScheme, _ request: PlanRequest) -> String? {
    do {
      _ = try Plan(scheme, request)
      return nil
    } catch { return error.description }
  }

  @Test("tags as controllers: 62.5 places a second with four anchors and slots of 2 ms")
  func byTags() throws {
    let plan = try Plan(.twoWayByTags, request(4, 12, 5))
    #expect(plan.rounds.count == 12 && plan.rounds.allSatisfy { $0.slots == 8 })
    #expect(abs(plan.occupancy - 12 * 5 / 62.5) < 1e-9)
    #expect(plan.rounds[3].start == 3 * 0.016 && plan.rounds[3].controller == "tag 4")
    #expect(
      refusal(.twoWayByTags, request(4, 14, 5))
        == "14 tags at 5 Hz with 4 anchors and slots of 2 ms need 112 % of the air; "
        + "at most 4.46 Hz are possible")
  }

  @Test("anchors as controllers: 83 places a second with four anchors and groups of eight")
  func byAnchors() throws {
    let plan = try Plan(.twoWayByAnchors, request(4, 16, 5))
    #expect(plan.rounds.count == 8 && plan.rounds.allSatisfy { $0.slots == 12 })
    #expect(plan.rounds[4].others == 9...16)
    #expect(abs(plan.occupancy - 16 * 5 / (1000.0 * 8 / (2 * 4 * 12))) < 1e-9)
    #expect(refusal(.twoWayByAnchors, request(4, 17, 5)) != nil)
    // Groups are as equal as possible.
    let three = try Plan(.twoWayByAnchors, request(3, 10, 1))
    #expect(three.rounds.map(\.slots) == [9, 9, 9, 9, 9, 9])
  }

  @Test("differences: blinks need one slot each, and listening tags none")
  func differences() throws {
    let up = try Plan(.differencesUp, request(8, 90, 5))
    #expect(up.rounds.count == 92 && up.rounds[0].controller == "anchor 1")
    #expect(up.occupancy < 1)
    #expect(refusal(.differencesUp, request(8, 100, 5)) != nil)
    let down = try Plan(.differencesDown, request(14, 10_000, 5))
    #expect(down.rounds.map(\.slots) == [8, 8] && down.rounds[1].others == 8...14)
  }

  @Test("the first scheme that works is planned, with the reasons of the earlier ones")
  func best() {
    #expect(Plan.best(request(4, 5, 5)).plan?.scheme == .twoWayByTags)
    let more = Plan.best(request(4, 14, 5))
    #expect(more.plan?.scheme == .twoWayByAnchors && more.refusals.count == 1)
    #expect(Plan.best(request(8, 80, 5)).plan?.scheme == .differencesUp)
    let crowd = Plan.best(request(6, 1000, 5))
    #expect(crowd.plan?.scheme == .differencesDown)
    #expect(crowd.refusals.map(\.0) == [.twoWayByTags, .twoWayByAnchors, .differencesUp])
  }

  @Test("wishes that no arithmetic fulfils are refused with the reason")
  func refused() {
    #expect(
      refusal(.twoWayByTags, request(2, 1, 1)) == "2 anchors do not determine a place; 3 do")
    #expect(refusal(.differencesUp, request(3, 1, 1)) == "3 anchors do not determine a place; 4 do")
    #expect(
      refusal(.twoWayByTags, request(9, 1, 1))
        == "a round with 9 anchors has more than 8 controlees")
    var short = request(4, 1, 1)
    short.slot = 0.0005
    #expect(refusal(.twoWayByTags, short) == "slots of 0.5 ms are shorter than 1 ms")
    let rates = [0, -1, 1e-9, 1e9, .nan]
    for wrong in [request(0, 1, 1), request(4, 0, 1)] + rates.map({ request(4, 1, $0) }) {
      #expect(refusal(.differencesDown, wrong) != nil)
      #expect(Plan.best(wrong).plan == nil)
    }
  }

  @Test(
    "the success beside sessions without a common schedule",
    arguments: [
      (16.0, 200.0, [84, 71, 50, 21, 4]), (24, 200, [76, 58, 33, 8, 1]),
      (16, 1000, [97, 94, 88, 75, 54]),
    ])
  func success(round: Double, block: Double, percent: [Int]) {
    for (sessions, expected) in zip([2, 3, 5, 10, 20], percent) {
      let part = Plan.success(2 * round, block, sessions: sessions - 1)
      #expect(Int((100 * part).rounded()) == expected)
    }
  }

  @Test("a plan states the success beside neighbours, and how long collisions last")
  func neighbours() throws {
    var wish = request(4, 10, 5)
    wish.neighbours = 2
    let plan = try Plan(.twoWayByTags, wish)
    #expect(abs(plan.success - 0.84 * 0.84) < 1e-9)
    #expect(abs(plan.deadTime / 60 - 26.7) < 0.1)
    #expect(plan.uncoordinatedSuccess < 0.2)
    wish.neighbourRound = 0.004
    wish.neighbourBlock = 1
    #expect(abs(try Plan(.twoWayByTags, wish).success - 0.98 * 0.98) < 1e-9)
  }

  @Test(
    "the prediction holds in the simulated air within five points",
    arguments: [(0.016, 0.2), (0.024, 0.2), (0.016, 1)])
  func simulation(round: Double, block: Double) {
    for sessions in [1, 2, 3, 5, 10, 20] {
      let air = AirSimulation(sessions: sessions, round: round, block: block, isHopping: true)
      let parts = air.run(blocks: 400, seed: UInt64(sessions))
      let mean = parts.reduce(0, +) / Double(sessions)
      let predicted = Plan.success(2 * round, block, sessions: sessions - 1)
      #expect(abs(mean - predicted) < 0.05, "\(sessions) sessions: \(mean), not \(predicted)")
    }
  }

  @Test("without hopping, a session loses all rounds or none for minutes")
  func withoutHopping() {
    var spread = 0.0
    for seed in 0..<20 as Range<UInt64> {
      let air = AirSimulation(sessions: 2, round: 0.016, block: 0.2, isHopping: false)
      let part = air.run(blocks: 300, seed: seed)[0]
      spread = max(spread, min(part, 1 - part))
    }
    #expect(spread < 0.5)
    let hopping = AirSimulation(sessions: 2, round: 0.016, block: 0.2, isHopping: true)
    #expect((0..<20).allSatisfy { abs(hopping.run(blocks: 300, seed: $0)[0] - 0.84) < 0.1 })
  }
}

@Suite("Expected deviation")
struct ExpectedDeviationTests {
  /// Anchors at the corners of a square of 10 m, in the height of the tag.
  func site(deviation: Double = 0, delay: Double = 0) -> Site {
    var site = Site(name: "square")
    site.anchors = [(0, 0), (10, 0), (10, 10), (0, 10)].enumerated().map { index, corner in
      var anchor = Site.Anchor(id: "A\(index)")
      anchor.place = Site.Place(
        position: SIMD3(Double(corner.0), Double(corner.1), 1),
        deviation: SIMD3(repeating: deviation))
      anchor.delayDeviation = delay
      return anchor
    }
    return site
  }

  @Test("in the middle of a square it is the one of a range divided by the root of two")
  func middle() {
    let ranges = ExpectedDeviation(site(), .twoWayByTags, height: 1, deviation: 0.1)
    #expect(abs(ranges.at(SIMD2(5, 5)) - 0.1 / 2.0.squareRoot()) < 1e-9)
    let differences = ExpectedDeviation(site(), .differencesUp, height: 1, deviation: 0.1)
    #expect(abs(differences.at(SIMD2(5, 5)) - 0.1 / 2.0.squareRoot()) < 1e-9)
  }

  @Test("outside of the anchors it grows, and faster for differences")
  func outside() {
    let ranges = ExpectedDeviation(site(), .twoWayByTags, height: 1, deviation: 0.1)
    let differences = ExpectedDeviation(site(), .differencesDown, height: 1, deviation: 0.1)
    let (near, far) = (SIMD2(5.0, 5), SIMD2(40.0, 5))
    #expect(ranges.at(far) > 2 * ranges.at(near))
    #expect(differences.at(far) > 3 * ranges.at(far))
  }

  @Test("uncertain places and delays of anchors are part of it")
  func constant() {
    let sure = ExpectedDeviation(site(), .twoWayByTags, height: 1, deviation: 0.1)
    let unsure = ExpectedDeviation(
      site(deviation: 0.1, delay: 0.1), .twoWayByTags, height: 1, deviation: 0.1)
    let point = SIMD2(3.0, 4)
    #expect(abs(unsure.at(point) / sure.at(point) - 3.0.squareRoot()) < 1e-9)
  }

  @Test("anchors in one line do not determine the place on it")
  func line() {
    var site = site()
    site.anchors = Array(site.anchors.prefix(2))
    let expected = ExpectedDeviation(site, .twoWayByTags, height: 1, deviation: 0.1)
    #expect(expected.at(SIMD2(5, 0)) > 1000)
    #expect(expected.count == 2)
  }

  @Test("the drawing has strips of several colours, the anchors and a legend")
  func drawing() {
    let expected = ExpectedDeviation(site(), .twoWayByTags, height: 1, deviation: 0.15)
    let svg = DeviationPlot(site(), expected).svg
    #expect(svg.contains(">A3<") && svg.contains("expected deviation"))
    #expect(svg.contains("#91cf60") && !svg.contains("nan"))
    #expect(svg.split(separator: "fill-opacity=\"0.7\"").count > 40)
  }
}
