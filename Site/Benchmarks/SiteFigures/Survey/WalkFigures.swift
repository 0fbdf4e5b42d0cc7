// SPDX-License-Identifier: Apache-2.0

import Foundation
import SiteScenarios
import UWBSite

/// R3: a walk with a rig of three tags past eight anchors, on the data set lias.
enum WalkFigures {
  static let rig = WalkRig([
    .init("t0", [-0.0689, -0.1423, 0.965]), .init("t1", [-0.0750, 0.1402, 0.966]),
    .init("t2", [0.2034, 0.1451, 0.963]),
  ])

  /// The truth by motion capture, from the description of the data set.
  static let truth: [SIMD3<Double>] = [
    [-3.4203, 3.0053, 1.0442], [0.0016, 3.0110, 1.0446], [3.6056, 2.9795, 1.0463],
    [3.6011, -0.0008, 1.0422], [3.5674, -3.0087, 1.0443], [-0.0072, -2.9652, 1.0444],
    [-3.4673, -2.9587, 1.0445], [-3.4858, -0.0098, 1.0457],
  ]

  static func run(_ folder: String) throws {
    let path = folder + "/Planar_Dataset/Dynamic/UWB_dynamic_exp_fast.csv"
    let readings = try read(path)
    let heights = Dictionary(
      uniqueKeysWithValues: truth.enumerated().map { ("a\($0)", $1.z) })
    let nothing = try errors(
      WalkSurvey(readings, rig: rig, delay: 0, delayDeviation: 0.001, heights: heights))
    for poses in [60, 200, 500] {
      let survey = try WalkSurvey(
        readings, rig: rig, delay: 0.188, heights: heights, poses: poses)
      let found = errors(survey)
      let lengths = found.map(\.error)
      let title = "walk, \(survey.poses) places of the rig"
      print(
        Figure(
          id: "R3", quantity: "\(title), RMSE", unit: "cm",
          textbook: ("nothing subtracted", 100 * Errors.rms(nothing.map(\.error))),
          value: 100 * Errors.rms(lengths), aim: 0...6.8
        ).line)
      print(
        Figure(
          id: "R3", quantity: "\(title), worst", unit: "cm",
          textbook: ("nothing subtracted", 100 * (nothing.map(\.error).max() ?? 0)),
          value: 100 * (lengths.max() ?? 0), aim: 0...10
        ).line)
      let deviations = found.map(\.squaredDeviations)
      print(
        "     ellipses contain \(Errors.share(deviations, within: 2.28)) and "
          + "\(Errors.share(deviations, within: 6.18)) %; the mirror image costs "
          + "\(survey.mirrorCost.rounded()) more")
    }
  }

  /// Prints the share of ellipses of made-up walks that contain the truth.
  static func simulate(layouts: Int, seed: UInt64) {
    var random = SeededNormal(seed: seed)
    var (errors, deviations) = ([Double](), [Double]())
    for _ in 0..<layouts {
      let anchors = (0..<8).map { _ in SIMD2(10 * random.uniform(), 8 * random.uniform()) }
      let readings = readings(anchors, &random)
      let heights = Dictionary(uniqueKeysWithValues: (0..<8).map { ("a\($0)", 2.5) })
      guard let survey = try? WalkSurvey(readings, rig: rig, delay: 0.2, heights: heights) else {
        continue
      }
      let places = (0..<8).compactMap { index in survey.places.first { $0.id == "a\(index)" } }
      let scores = SimulatedSurvey.scores(
        of: places.map { ($0.position, $0.ellipse) }, truth: anchors)
      errors += scores.map(\.error)
      deviations += scores.map(\.squaredDeviations)
    }
    print(
      Figure(
        id: "R3", quantity: "\(layouts) made-up walks, RMSE", unit: "cm",
        value: 100 * Errors.rms(errors)
      ).line)
    for (name, limit, aim) in [("68 %", 2.28, 60.0...76), ("95 %", 6.18, 91.0...98)] {
      print(
        Figure(
          id: "R3", quantity: "made-up walks, within the ellipses of \(name)", unit: "%",
          value: Errors.share(deviations, within: limit), aim: aim
        ).line)
    }
  }

  /// Draws a walk of two loops. Boards have delays, each pair has a constant error and one that is
  /// the same in a part of the area, and a tenth of the paths is blocked.
  private static func readings(
    _ anchors: [SIMD2<Double>], _ random: inout SeededNormal
  ) -> [WalkReading] {
    let delays = anchors.map { _ in 0.05 * random.next() }
    let tags = rig.tags.map { _ in 0.05 * random.next() }
    let pairs = (0..<24).map { _ in 0.05 * random.next() }
    let reflections = (0..<24 * 16).map { pairs[$0 / 16] + 0.075 * random.next() }
    var result: [WalkReading] = []
    for step in 0..<300 {
      let angle = Double(step) * 0.042
      let place = SIMD2(5 + 4 * cos(angle), 4 + 3 * sin(1.5 * angle))
      let area = min(3, max(0, Int(place.x / 2.5))) + 4 * min(3, max(0, Int(place.y / 2)))
      let heading = SIMD2(cos(1.3 * angle), sin(1.3 * angle))
      for (index, anchor) in anchors.enumerated() {
        let blocked = random.uniform() < 0.1 ? 0.5 * random.uniform() : 0
        for (number, tag) in rig.tags.enumerated() {
          let offset = SIMD2(tag.position.x, tag.position.y)
          let lever = offset.x * heading + offset.y * SIMD2(-heading.y, heading.x)
          let arm = place + lever - anchor
          let rise = 2.5 - tag.position.z
          let error =
            delays[index] + tags[number] + reflections[16 * (3 * index + number) + area] + blocked
          result.append(
            WalkReading(
              time: Double(step) / 10, tag: tag.id, anchor: "a\(index)",
              distance: ((arm * arm).sum() + rise * rise).squareRoot() + 0.2 + error
                + 0.05 * random.next()))
        }
      }
    }
    return result
  }

  private static func errors(
    _ survey: WalkSurvey
  ) -> [(error: Double, squaredDeviations: Double)] {
    let places = truth.indices.compactMap { index in
      survey.places.first { $0.id == "a\(index)" }
    }
    return SimulatedSurvey.scores(
      of: places.map { ($0.position, $0.ellipse) }, truth: truth.map { SIMD2($0.x, $0.y) })
  }

  /// Reads rows of a time and 24 ranges, anchor by anchor; empty cells are lost ranges.
  private static func read(_ path: String) throws -> [WalkReading] {
    let text = try String(contentsOfFile: path, encoding: .utf8)
    return text.split(whereSeparator: \.isNewline).flatMap { line -> [WalkReading] in
      let cells = line.split(separator: ",", omittingEmptySubsequences: false)
      let time = NumberTable.number(cells[0])
      guard cells.count >= 25, time.isFinite else { return [] }
      return (0..<24).compactMap { index in
        Double(cells[index + 1].trimmingCharacters(in: .whitespaces)).map {
          WalkReading(
            time: time, tag: "t\(index % 3)", anchor: "a\(index / 3)", distance: $0)
        }
      }
    }
  }
}
