// SPDX-License-Identifier: Apache-2.0

package import UWBSite

/// A floor of 18 × 12 m with six rooms, six anchors, and doors in the middle of its walls.
package struct DemoBuilding: Sendable {
  static let names = ["office", "kitchen", "store", "workshop", "lab", "dock"]
  static let size = SIMD2(6.0, 6.0)

  /// The true places of the anchors.
  static let anchors: [SIMD3<Double>] = [
    [0.3, 0.3, 2.5], [9, 0.3, 2.9], [17.7, 0.3, 2.5], [17.7, 11.7, 2.9], [9, 11.7, 2.5],
    [0.3, 11.7, 2.9],
  ]
  /// The length in metres that each end adds to a range.
  static let delay = 0.1

  static func center(_ room: Int) -> SIMD2<Double> {
    (SIMD2(Double(room % 3), Double(room / 3)) + 0.5) * size
  }

  static func room(of place: SIMD2<Double>) -> Int {
    min(2, max(0, Int(place.x / size.x))) + 3 * min(1, max(0, Int(place.y / size.y)))
  }

  /// Returns the rooms next to a room.
  static func neighbours(_ room: Int) -> [Int] {
    (0..<6).filter { abs($0 / 3 - room / 3) + abs($0 % 3 - room % 3) == 1 }
  }

  /// Returns the number of walls between two places.
  static func walls(_ one: SIMD2<Double>, _ other: SIMD2<Double>) -> Int {
    let (a, b) = (room(of: one), room(of: other))
    return abs(a % 3 - b % 3) + abs(a / 3 - b / 3)
  }

  /// Returns a site with zones, tags, and anchors with measured heights but without places.
  static func unsurveyed(tags: Int) -> Site? {
    let anchors = anchors.enumerated().map {
      #"{"id": "A\#($0)", "height_m": \#($1.z), "height_sd_m": 0.02}"#
    }
    let zones = names.enumerated().map { room, name in
      // Zones end at the walls.
      let (low, high) = (center(room) - size / 2 + 0.1, center(room) + size / 2 - 0.1)
      let corners = [low, SIMD2(high.x, low.y), high, SIMD2(low.x, high.y)]
      let list = corners.map { "[\($0.x), \($0.y)]" }.joined(separator: ", ")
      return #"{"id": "\#(name)", "polygon_m": [\#(list)]}"#
    }
    let tags = (0..<tags).map {
      #"{"id": "\#(tag($0))", "label": "\#(label($0))", "height_range_m": [0.8, 1.4]}"#
    }
    let text = """
      {"version": 1, "name": "Demo workshop", "gauge": {"kind": "measured"},
       "anchors": [\(anchors.joined(separator: ", "))], "zones": [\(zones.joined(separator: ", "))],
       "tags": [\(tags.joined(separator: ", "))]}
      """
    return try? Site(json: Array(text.utf8))
  }

  /// The carriers of the tags.
  private static let labels = [
    "Cat", "Ada", "Trolley 1", "Drill", "Ben", "Forklift", "Keys", "Ladder", "Chloe", "Vacuum",
    "Scope", "Trolley 2", "Dan", "Toolbox", "Eve", "Pallet 7", "Printer", "Welder", "Guest",
    "Camera",
  ]

  private static func label(_ index: Int) -> String {
    index < labels.count ? labels[index] : "Tag \(index + 1)"
  }

  static func tag(_ index: Int) -> String { index < 9 ? "T0\(index + 1)" : "T\(index + 1)" }
}

/// The survey with which the demo begins.
package struct DemoSurvey: Sendable {
  package let survey: Survey
  package let ranges: PairRanges
  /// The site with the places that were found.
  package let site: Site
  /// The distance in metres of each found place from the true place.
  package let errors: [Double]

  /// Measures the ranges between the anchors, and finds their places.
  package init(seed: UInt64, tags: Int) throws {
    guard var site = DemoBuilding.unsurveyed(tags: tags) else { throw SurveyError.fewAnchors(0) }
    let places = DemoBuilding.anchors.map { SIMD2($0.x, $0.y) }
    let anchors = site.anchors.map { SurveyAnchor($0, height: (2.5, 0.3)) }
    var random = SeededNormal(seed: seed)
    var errors = SimulatedSurvey.Errors()
    (errors.commonDelay, errors.ownDelayDeviation) = (2 * DemoBuilding.delay, 0)
    let simulated = SimulatedSurvey(places, anchors, errors, 1, &random)
    let survey = try Survey(
      simulated.ranges, anchors: anchors,
      gauge: .anchors(
        0, at: places[0], 2, at: places[2], side: SurveyGauge.Line.Side(4, isLeft: true)))
    site.update(with: survey)
    self.survey = survey
    ranges = simulated.ranges
    self.site = site
    self.errors = zip(survey.places, places).map { place, truth in
      let gap = place.position - truth
      return (gap * gap).sum().squareRoot()
    }
  }
}
